"""Edges: hyperlinks and resources of a crawl, one row each, with redirects joined to the pages where they end."""

from collections.abc import Mapping

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.compute as pc

from assets.schemas import HYPERLINK, MAP_RESOURCES, RESOURCE
from assets.site_map.crawl_facts import CrawlFacts
from resources.ports import QueryEngine


def hyperlinks(links: pa.Table, aliases: Mapping[str, str]) -> pa.Table:
    """Give one row a hyperlink, in document order.

    Columns: ``from_key, from_url, to_key, to_page, to_url, kind, anchor, rel, position``; ``to_page`` is the key of the
    page that ``to_key`` leads to, ``position`` is unique.
    """
    rows, found = _flattened(links, "hyperlinks", HYPERLINK)
    to_key = found.field("url_key")
    return pa.table(
        {
            "from_key": links["url_key"].combine_chunks().take(rows),
            "from_url": links["url"].combine_chunks().take(rows),
            "to_key": to_key,
            "to_page": _through(to_key, aliases),
            "to_url": found.field("url"),
            "kind": found.field("kind"),
            "anchor": found.field("anchor"),
            "rel": found.field("rel"),
            "position": pa.array(range(len(found)), pa.int64()),
        }
    )


def resources(links: pa.Table) -> pa.Table:
    """Give one row a page and resource: ``from_key, from_url, url, kind, count``."""
    rows, found = _flattened(links, "resources", RESOURCE)
    return pa.table(
        {
            "from_key": links["url_key"].combine_chunks().take(rows),
            "from_url": links["url"].combine_chunks().take(rows),
            "url": found.field("url"),
            "kind": found.field("kind"),
            "count": found.field("count"),
        }
    )


def resource_rows(facts: CrawlFacts, resources: pa.Table, engine: QueryEngine) -> pa.Table:
    """Make the rows of ``map_resources``, the most used first."""
    uses = ibis.memtable(resources)
    found = uses.group_by("url").agg(kind=uses.kind.min(), pages=uses.from_key.nunique(), uses=uses["count"].sum())
    rows = engine.run(found.order_by([found.pages.desc(), found.url])).to_pylist()
    common = {"site": facts.site, "crawl_id": facts.crawl_id, "status": None, "outcome": ""}
    return pa.Table.from_pylist([{**common, **row} for row in rows], schema=MAP_RESOURCES)


def page_pairs(edges: ir.Table) -> ir.Table:
    """Give each pair of pages that a hyperlink joins once: ``from_key, to_page``. A page's links to itself are none."""
    return edges.filter(edges.from_key != edges.to_page).select("from_key", "to_page").distinct()


def link_counts(edges: ir.Table) -> ir.Table:
    """Count the pages that link to a page, and the pages that it links: ``url_key, in_links, out_links``."""
    pairs = page_pairs(edges)
    into = pairs.group_by(url_key=pairs.to_page).agg(in_links=pairs.count(), out_links=ibis.literal(0, "int64"))
    out_of = pairs.group_by(url_key=pairs.from_key).agg(in_links=ibis.literal(0, "int64"), out_links=pairs.count())
    both = into.union(out_of)
    return both.group_by("url_key").agg(in_links=both.in_links.sum(), out_links=both.out_links.sum())


def _flattened(links: pa.Table, name: str, kind: pa.DataType) -> tuple[pa.Array, pa.StructArray]:
    """Give the entries of a list column, and for each the row that held it."""
    lists = links[name].combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], pa.list_(kind))
    return pc.list_parent_indices(lists), pc.list_flatten(lists).cast(kind)


def _through(keys: pa.Array, aliases: Mapping[str, str]) -> pa.Array:
    """Put the page in the place of each alias."""
    if not aliases:
        return keys
    places = pc.index_in(keys, pa.array(list(aliases), pa.string()))
    return pc.coalesce(pa.array(list(aliases.values()), pa.string()).take(places), keys)

"""Candidates: addresses found and not yet judged, one row a url_key."""

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from assets.schemas.columns import column

CANDIDATES = pa.schema(
    [
        column("url_key", pa.string(), "sameness"),
        column("url", pa.string(), "the spelling found first"),
        column("other_urls", pa.list_(pa.string()), "further spellings"),
        column("found_by", pa.string(), "seed, hub, link or sitemap"),
        column("found_on", pa.string(), "url_key of the first page that links it, or the sitemap"),
        column("in_links", pa.int64(), "pages that link it"),
        column("sitemap_priority", pa.float64(), "of its sitemap entry", optional=True),
    ]
)


def flat_links(links: pa.Table) -> pa.Table:
    """Unfold parsed pages into one row a hyperlink, in the order of the crawl.

    Args:
        links: rows of the ``links`` table with ``url_key``, ``requested_at`` and ``hyperlinks``.
    """
    ordered = links.sort_by([("requested_at", "ascending"), ("url_key", "ascending")]).combine_chunks()
    lists = (
        ordered.column("hyperlinks").combine_chunks()
        if ordered.num_rows
        else pa.array([], links.schema.field("hyperlinks").type)
    )
    flat = pc.list_flatten(lists)
    holders = pc.take(ordered.column("url_key"), pc.list_parent_indices(lists))
    return pa.table(
        {
            "found_on": holders,
            "url": pc.struct_field(flat, "url"),
            "url_key": pc.struct_field(flat, "url_key"),
            "place": pa.array(range(len(flat)), pa.int64()),
        }
    )


def new_targets(flat: pa.Table, known: pa.Table) -> ibis.Table:
    """Give the linked addresses that are not known yet, grouped by url_key, first found first.

    Args:
        flat: as ``flat_links`` gives it.
        known: one column ``url_key``.
    """
    # A memtable of no rows has no types on every engine: say them.
    links = ibis.memtable(flat)
    fresh = links.anti_join(ibis.memtable(known), "url_key")
    grouped = fresh.group_by("url_key").agg(
        url=fresh.url.argmin(fresh.place),
        urls=fresh.url.collect(distinct=True),
        found_on=fresh.found_on.argmin(fresh.place),
        in_links=fresh.found_on.nunique(),
        place=fresh.place.min(),
    )
    return grouped.order_by("place").select("url_key", "url", "urls", "found_on", "in_links")


def link_candidates(targets: pa.Table) -> pa.Table:
    """Turn the rows of ``new_targets`` into candidates."""
    rows = [
        {
            "url_key": row["url_key"],
            "url": row["url"],
            "other_urls": sorted(url for url in row["urls"] if url != row["url"]),
            "found_by": "link",
            "found_on": row["found_on"],
            "in_links": row["in_links"],
            "sitemap_priority": None,
        }
        for row in targets.to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=CANDIDATES)

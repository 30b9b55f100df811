"""Findings: what is wrong or remarkable on a site, one row each."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Final

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from assets.schemas import FINDINGS
from assets.site_map.crawl_facts import CrawlFacts
from assets.site_map.edges import page_pairs
from assets.site_map.outcomes import LIVE, is_dead
from assets.site_map.redirects import Chain, Endings
from resources.ports import QueryEngine

TOP: Final = 10


class Finding(StrEnum):
    """The kinds of findings, in the order in which people read them."""

    DEAD_LINK = "dead_link"  # a page that is gone, and a page that links it
    REDIRECT_CHAIN = "redirect_chain"  # a link that is redirected, and where it ends
    ORPHAN = "orphan"  # in a sitemap.xml, but linked by no other page
    DEEPEST_PAGE = "deepest_page"  # one of the live pages that are farthest from a seed
    MOST_USED_RESOURCE = "most_used_resource"  # one of the files that most pages use


def site_findings(
    facts: CrawlFacts,
    ends: Endings,
    chains: Sequence[Chain],
    *,
    nodes: pa.Table,
    hyperlinks: pa.Table,
    resources: pa.Table,
    engine: QueryEngine,
) -> pa.Table:
    """Make the rows of ``findings``: by kind, then the most important first."""
    found = {
        Finding.DEAD_LINK: dead_links(nodes, hyperlinks, engine),
        Finding.REDIRECT_CHAIN: redirect_chains(chains, hyperlinks, engine),
        Finding.ORPHAN: orphans(facts, ends, nodes, hyperlinks, engine),
        Finding.DEEPEST_PAGE: deepest_pages(nodes),
        Finding.MOST_USED_RESOURCE: most_used_resources(resources, engine),
    }
    rows = [
        {"site": facts.site, "crawl_id": facts.crawl_id, "finding": kind.value, **row}
        for kind in Finding
        for row in found[kind]
    ]
    return pa.Table.from_pylist(rows, schema=FINDINGS)


def dead_links(nodes: pa.Table, hyperlinks: pa.Table, engine: QueryEngine) -> Iterable[dict[str, Any]]:
    """Give each dead page with every page that links it, and the text of the first such link there."""
    dead = [
        row["url_key"]
        for row in nodes.select(["url_key", "outcome", "status"]).to_pylist()
        if is_dead(row["outcome"], row["status"])
    ]
    edges = ibis.memtable(hyperlinks)
    dead_keys = ibis.memtable(_keys(dead))
    to_dead = edges.semi_join(dead_keys, edges.to_page == dead_keys.url_key)
    first = ibis.row_number().over(ibis.window(group_by=["to_page", "from_key"], order_by="position"))
    ranked = to_dead.mutate(rank=first)
    rows = ranked.filter(ranked["rank"] == 0).select(url="to_url", on_url="from_url", detail="anchor")
    return _rows(engine.run(rows.order_by(["url", "on_url", "detail"])))


def redirect_chains(chains: Sequence[Chain], hyperlinks: pa.Table, engine: QueryEngine) -> Iterable[dict[str, Any]]:
    """Give each chain with one page that links its start."""
    edges = ibis.memtable(hyperlinks)
    starts = ibis.memtable(_keys([chain.origin_key for chain in chains]))
    linked = edges.semi_join(starts, edges.to_key == starts.url_key)
    holders = engine.run(linked.group_by("to_key").agg(on_url=linked.from_url.min()))
    on_url = dict(zip(holders["to_key"].to_pylist(), holders["on_url"].to_pylist(), strict=True))
    for chain in chains:
        detail = " -> ".join(chain.urls) + (" (loop)" if chain.is_loop else "")
        yield {"url": chain.urls[0], "on_url": on_url.get(chain.origin_key, ""), "detail": detail}


def orphans(
    facts: CrawlFacts, ends: Endings, nodes: pa.Table, hyperlinks: pa.Table, engine: QueryEngine
) -> Iterable[dict[str, Any]]:
    """Give the pages that a sitemap.xml names and no other page links; a seed needs no link.

    The detail is the outcome of the page, or ``not fetched``.
    """
    entries = facts.sitemap_entries.select(["url", "url_key", "sitemap_url"])
    pages = [ends.page_of(key) for key in entries["url_key"].to_pylist()]
    listed = ibis.memtable(entries.append_column("page", pa.array(pages, pa.string())))
    seeds = facts.frontier.filter(pc.field("found_by") == "seed")["url_key"].to_pylist()
    seed_keys = ibis.memtable(_keys([ends.page_of(key) for key in seeds]))
    linked = page_pairs(ibis.memtable(hyperlinks)).select(url_key="to_page").distinct()
    alone = listed.anti_join(linked, listed.page == linked.url_key)
    alone = alone.anti_join(seed_keys, alone.page == seed_keys.url_key)
    once = alone.group_by("page").agg(url=alone.url.min(), on_url=alone.sitemap_url.min())
    outcomes = ibis.memtable(nodes.select(["url_key", "outcome"]))
    known = once.left_join(outcomes, once.page == outcomes.url_key)
    rows = known.select("url", "on_url", detail=ibis.coalesce(known.outcome, "not fetched"))
    return _rows(engine.run(rows.order_by(["url", "on_url"])))


def deepest_pages(nodes: pa.Table) -> Iterable[dict[str, Any]]:
    """Give the live pages that are farthest from a seed, with the page before them and their depth."""
    rows = nodes.select(["url", "url_key", "depth", "parent_key", "outcome"]).to_pylist()
    urls = {row["url_key"]: row["url"] for row in rows}
    deep = [row for row in rows if row["outcome"] in LIVE and row["depth"] > 0]
    for row in sorted(deep, key=lambda row: (-row["depth"], row["url"]))[:TOP]:
        yield {"url": row["url"], "on_url": urls.get(row["parent_key"], ""), "detail": str(row["depth"])}


def most_used_resources(resources: pa.Table, engine: QueryEngine) -> Iterable[dict[str, Any]]:
    """Give the resources that most pages use, with the number of pages."""
    uses = ibis.memtable(resources)
    pages = uses.group_by("url").agg(pages=uses.from_key.nunique())
    top = engine.run(pages.order_by([pages.pages.desc(), pages.url]).limit(TOP))
    for row in top.to_pylist():
        yield {"url": row["url"], "on_url": "", "detail": str(row["pages"])}


def _keys(keys: Sequence[str]) -> pa.Table:
    return pa.table({"url_key": pa.array(keys, pa.string())})


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows

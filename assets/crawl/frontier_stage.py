"""The frontier stage of a layer: what the layer before links, less what is known, refused or beyond the budget."""

from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.due_pages import due_now, refresh_budget
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.frontier.candidates import (
    CANDIDATES,
    due_candidates,
    with_sitemap_entries,
)
from assets.frontier.expand import Expansion, expand
from assets.frontier.linked import LinkedAddresses, flat_links, grouped_links
from assets.frontier.traps import TrapBudgets
from assets.schemas import FRONTIER, LINKS, REFUSALS
from assets.url.key import url_key
from assets.url.scope import RejectReason
from resources.ports import QueryEngine

ROWS_A_COMMIT: Final = 100_000  # the table store takes several times their size


def frontier(crawl: SiteCrawl, layer: names.Layer) -> StageResult:
    """Make the frontier of a layer; when this crawl has made it already, only count it."""
    if not crawl.is_done(layer.frontier):
        _make(crawl, layer)
    result = _result(crawl, layer.name)
    pa.default_memory_pool().release_unused()
    return result


def _make(crawl: SiteCrawl, layer: names.Layer) -> None:
    depth = layer.number
    traps = _budgets(crawl)
    if layer.before is not None:
        candidates = _found_candidates(crawl, layer.before)
    else:
        candidates = _seed_candidates(crawl) if layer.kind == "depth" else due_candidates(due_now(crawl))
    rows_in = candidates.num_rows
    expansion = expand(
        candidates,
        depth=depth,
        budget=refresh_budget(crawl, layer)
        if layer.kind == "refresh"
        else max(0, crawl.settings.max_pages - traps.accepted),
        scope_refusal=crawl.scope.refusal,
        traps=traps,
        repeating=_repeating(crawl),
    )
    del candidates
    _write(crawl, layer.name, expansion)
    crawl.mark(layer.frontier, rows_in=rows_in, rows_out=expansion.frontier.num_rows)
    # Depth 1 has the sitemaps' pages too, which do not hang on depth 0.
    if layer.kind == "depth" and depth > 0 and not expansion.frontier.num_rows:
        crawl.mark_empty(depth)


def start_engine(engine: QueryEngine) -> None:
    """Have the query engine load what it needs, so that it is there when the first links are."""
    engine.run(grouped_links(flat_links(LINKS.empty_table())))


def _budgets(crawl: SiteCrawl) -> TrapBudgets:
    """Give the budgets per URL pattern, filled with what this crawl has accepted so far."""
    if crawl.traps is None:
        crawl.traps = TrapBudgets()
        urls = pc.unique(crawl.own_or_all_rows(names.T_FRONTIER, ["url"])["url"].combine_chunks())
        for url in urls:
            crawl.traps.accept(url.as_py())
    return crawl.traps


def _repeating(crawl: SiteCrawl) -> frozenset[str]:
    """Give the marks of addresses that the last look at duplicates found to repeat others."""
    rows = crawl.ports.tables.read(names.T_DUPLICATE_PATTERNS, sites=[crawl.site], columns=["mark"])
    return frozenset(rows["mark"].to_pylist())


def _write(crawl: SiteCrawl, layer: str, expansion: Expansion) -> None:
    common = {"site": crawl.site, "crawl_id": crawl.crawl_id, "layer": layer}

    def full(rows: pa.Table, schema: pa.Schema) -> pa.Table:
        for name, value in common.items():
            rows = rows.append_column(name, pa.repeat(value, rows.num_rows))
        return rows.select(schema.names).cast(schema)

    # Refusals first: a crash after that leaves them known, and the next try accepts what is left of the others.
    for table, rows, schema in (
        (names.T_REFUSALS, expansion.refusals, REFUSALS),
        (names.T_FRONTIER, expansion.frontier, FRONTIER),
    ):
        # The store gives what it took last first: equal priorities are asked in the order in which they were found.
        for start in reversed(range(0, rows.num_rows, ROWS_A_COMMIT)):
            part = rows.slice(start, ROWS_A_COMMIT).combine_chunks()  # of several chunks Delta mixes the order
            crawl.ports.tables.append(table, full(part, schema))
            crawl.known_keys().update(part["url_key"].to_pylist())
    pa.default_memory_pool().release_unused()


def _seed_candidates(crawl: SiteCrawl) -> pa.Table:
    seeds = crawl.ports.tables.read(
        names.T_SEEDS, sites=[crawl.site], columns=["crawl_id", "seed_url", "usable", "checked_at"]
    ).to_pylist()
    # The check of this crawl, or, when depth 0 is materialized alone, the last one.
    newest = max((row["crawl_id"] for row in seeds), default="")
    checked = sorted((row for row in seeds if row["crawl_id"] == newest), key=lambda row: row["checked_at"])
    usable = [(row["seed_url"], "seed") for row in checked if row["usable"]]
    chosen = [*usable, *((url, "hub") for url in crawl.settings.hubs)] if usable else []
    rows: dict[str, dict[str, Any]] = {}
    for url, found_by in chosen:
        key = url_key(url, crawl.key_rules)
        rows.setdefault(key, _candidate(url, key, found_by, "", None))
    known = crawl.known_keys() - set(
        crawl.rows(names.T_FETCHES, ["url_key"], layer=names.SEED_LAYER)["url_key"].to_pylist()
    )
    known -= set(crawl.rows(names.T_FETCHES, ["origin_key"], layer=names.SEED_LAYER)["origin_key"].to_pylist())
    return pa.Table.from_pylist([row for key, row in rows.items() if key not in known], schema=CANDIDATES)


def _found_candidates(crawl: SiteCrawl, before: names.Layer) -> pa.Table:
    found = _linked_candidates(crawl, before)
    if before not in (names.depth(0), names.refresh(0)):
        return found
    entries = crawl.rows(names.T_SITEMAP_ENTRIES, ["url", "url_key", "sitemap_url", "sitemap_priority"])
    known = pa.array(crawl.known_keys(), pa.string())
    return with_sitemap_entries(found, entries.filter(pc.invert(pc.is_in(entries["url_key"], known))))


def _linked_candidates(crawl: SiteCrawl, before: names.Layer) -> pa.Table:
    pages = crawl.rows(names.T_LINKS, ["url_key"], layer=before.name)["url_key"]
    times = pc.value_counts(pages.combine_chunks())
    read_again = times.field("values").filter(pc.greater(times.field("counts"), 1))
    linked = LinkedAddresses(crawl.ports.engine.run, known=crawl.known_keys(), read_again=read_again)
    for some in crawl.link_pages(before.name, ["url_key", "requested_at", "hyperlinks"]):
        linked.add(some)
        del some
        pa.default_memory_pool().release_unused()  # what a read took and gave back would stay with the pool
    return linked.candidates()


def _candidate(url: str, key: str, found_by: str, found_on: str, sitemap_priority: float | None) -> dict[str, Any]:
    return {
        "url_key": key,
        "url": url,
        "other_urls": [],
        "found_by": found_by,
        "found_on": found_on,
        "in_links": 0,
        "sitemap_priority": sitemap_priority,
        "worth": None,
    }


def _result(crawl: SiteCrawl, layer: str) -> StageResult:
    frontier_rows = crawl.rows(names.T_FRONTIER, ["url", "priority"], layer=layer)
    reasons = crawl.rows(names.T_REFUSALS, ["reason"], layer=layer).column("reason")
    dropped = {row["values"]: row["counts"] for row in pc.value_counts(reasons).to_pylist()}
    best = pc.sort_indices(frontier_rows, sort_keys=[("priority", "descending")])[:10]
    first = frontier_rows["url"].take(best).to_pylist()
    return StageResult(
        rows_in=frontier_rows.num_rows + len(reasons),
        rows_out=frontier_rows.num_rows,
        metadata={
            "pages_to_fetch": frontier_rows.num_rows,
            "refused": len(reasons),
            "refused_by_reason": dg.MetadataValue.json(dropped),
            "cut_by_page_budget": dropped.get(RejectReason.PAGE_BUDGET.value, 0),
            "first_in_line": dg.MetadataValue.md("\n".join(f"- {url}" for url in first) or "nothing to fetch"),
        },
    )

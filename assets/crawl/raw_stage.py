"""The raw batches stage of a layer: fetch the frontier, store what comes as WARC batches."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.archive_checks import Start, digests_check, errors_check, revisits_check
from assets.crawl.due_pages import due_sitemaps
from assets.crawl.fetch_summary import SUMMARY_COLUMNS, counts, fetch_summary
from assets.crawl.layer_fetch import LayerFetch
from assets.crawl.layer_files import WARC_SUFFIX
from assets.crawl.links_ahead import LinksAhead
from assets.crawl.seed_stage import robots_book
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.crawl.sitemap_stage import read_sitemaps
from assets.derived import CheckResult
from assets.fetch.dead import END_COLUMNS, FIRST_IN_LINE, dead_pages, left_by_last_crawl
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.outcome import ERRORS
from assets.fetch.supply import FrontierSupply
from assets.seeds.sitemaps.following import SitemapWalk

ONE_OUTCOME: Final = "every_url_has_one_outcome"

_ITEM_COLUMNS: Final = ("url", "url_key", "host_key", "priority", "other_urls")
_RESULT_COLUMNS: Final = (
    "layer",
    "purpose",
    "origin_key",
    "is_final",
    "outcome",
    "record_type",
    "warc_file",
    "warc_offset",
    "body_warc_file",
    "body_warc_offset",
)


async def raw_batches(crawl: SiteCrawl, layer: names.Layer, *, reads_links: bool) -> StageResult:
    """Fetch what this crawl has not fetched yet of a layer's frontier.

    Args:
        reads_links: whether this run wants the links of the layer too: pages are then parsed as they come.
    """
    key = layer.raw_batches
    recovered = 0
    if not await crawl.to_thread(crawl.is_done, key):
        await crawl.to_thread(crawl.load_history)
        fetch = LayerFetch(
            crawl,
            layer.name,
            known=await crawl.to_thread(crawl.known_keys),
            robots=await crawl.to_thread(robots_book, crawl),
            ahead=LinksAhead(crawl, layer.name, crawl.readers) if reads_links and crawl.readers else None,
            keeps_ends=False,
        )
        recovered = await fetch.resume()
        rows, supply = await crawl.to_thread(_supply, crawl, fetch, layer)
        await fetch.run_supply(supply)
        if layer == names.refresh(0):
            await _read_due_sitemaps(crawl, layer)
        await crawl.to_thread(crawl.mark, key, rows_in=rows, rows_out=rows)
    return await crawl.to_thread(_result, crawl, layer, recovered)


async def _read_due_sitemaps(crawl: SiteCrawl, layer: names.Layer) -> None:
    urls = await crawl.to_thread(due_sitemaps, crawl)
    if urls:
        fetch = LayerFetch(crawl, layer.name, known=set(), robots=await crawl.to_thread(robots_book, crawl))
        await fetch.resume()
        await read_sitemaps(crawl, fetch, SitemapWalk(dict.fromkeys(urls), {}))


def outcome_check(frontier: pa.Table, ends: pa.Table) -> CheckResult:
    """Check that every frontier row has exactly one final outcome.

    Args:
        frontier: rows of the layer, with ``url_key``.
        ends: its final rows, with ``origin_key``.
    """
    counts = ends.group_by("origin_key").aggregate([([], "count_all")])
    twice = counts.filter(pc.field("count_all") > 1)["origin_key"].to_pylist()
    without = frontier["url_key"].filter(pc.invert(pc.is_in(frontier["url_key"], counts["origin_key"]))).to_pylist()
    description = "every frontier row has one final outcome"
    if without or twice:
        description = f"{len(without)} without an outcome, {len(twice)} with several; first: {(without + twice)[:3]}"
    return CheckResult(
        ONE_OUTCOME,
        passed=not without and not twice,
        description=description,
        severity=dg.AssetCheckSeverity.ERROR,
    )


def _layers(layer: names.Layer) -> tuple[str, ...]:
    # The seeds' own captures lie in the seed layer and count where their frontier row is.
    return (names.SEED_LAYER, layer.name) if layer == names.depth(0) else (layer.name,)


def _ends(fetches: pa.Table, frontier: pa.Table) -> pa.Table:
    """Give the final rows of frontier rows."""
    final = fetches.filter(pc.field("is_final") & (pc.field("purpose") == Purpose.PAGE.value))
    return final.filter(pc.is_in(final["origin_key"], frontier["url_key"]))


def _supply(crawl: SiteCrawl, fetch: LayerFetch, layer: names.Layer) -> tuple[int, FrontierSupply]:
    """Queue the rows of a frontier that have no outcome yet: dead pages rest, what had to wait before comes first.

    Returns:
        rows of the frontier, and the supply.
    """
    frontier = crawl.rows(names.T_FRONTIER, list(_ITEM_COLUMNS), layer=layer.name)
    ended = _ends(crawl.rows(names.T_FETCHES, ["purpose", "origin_key", "is_final"], layer=_layers(layer)), frontier)[
        "origin_key"
    ]
    count = frontier.num_rows
    # A filter makes a copy, and a frontier may have millions of rows: none is made of a whole one.
    if len(ended):
        frontier = frontier.filter(pc.invert(pc.is_in(frontier["url_key"], ended)))
    item_of = partial(_item, crawl, layer.name)
    if layer.kind == "refresh":
        # The schedule has decided who rests, and what comes first.
        return count, FrontierSupply(frontier, item_of)
    where = pc.field("is_final") & (pc.field("purpose") == Purpose.PAGE.value) & (pc.field("crawl_id") < crawl.crawl_id)
    where &= ~pc.field("layer").isin([step.name for step in names.REFRESH_LAYERS])
    before = crawl.ports.tables.read(names.T_FETCHES, sites=[crawl.site], columns=list(END_COLUMNS), where=where)
    dead = dead_pages(before, now=crawl.ports.clock.now())
    if dead:
        resting = pc.is_in(frontier["url_key"], pa.array(dead, pa.string()))
        for row in frontier.filter(resting).to_pylist():
            page = dead[row["url_key"]]
            fetch.put_off(item_of(row), page.reason, retry_at=page.retry_at)
        frontier = frontier.filter(pc.invert(resting))
    waited = pc.is_in(frontier["url_key"], pa.array(left_by_last_crawl(before), pa.string()))
    priority = pc.add(frontier["priority"], pc.if_else(waited, FIRST_IN_LINE, 0.0))
    supply = FrontierSupply(
        frontier.set_column(frontier.schema.get_field_index("priority"), "priority", priority), item_of
    )
    return count, supply


def _item(crawl: SiteCrawl, layer: str, row: Mapping[str, Any]) -> FetchItem:
    return FetchItem(
        site=crawl.site,
        layer=layer,
        purpose=Purpose.PAGE,
        url=row["url"],
        url_key=row["url_key"],
        host_key=row["host_key"],
        origin_key=row["url_key"],
        priority=row["priority"],
        other_urls=tuple(row["other_urls"]),
        validators=crawl.validators(row["url_key"], row["url"]),
    )


def _result(crawl: SiteCrawl, layer: names.Layer, recovered: int) -> StageResult:
    frontier = crawl.rows(names.T_FRONTIER, ["url_key"], layer=layer.name)
    columns = list(dict.fromkeys((*_RESULT_COLUMNS, *SUMMARY_COLUMNS)))
    rows = crawl.rows(names.T_FETCHES, columns, layer=_layers(layer))
    ends = _ends(rows, frontier)
    outcomes = counts(ends["outcome"])
    own = rows.filter(pc.field("layer") == layer.name)
    folder = names.raw_prefix(crawl.site, crawl.crawl_id, layer.name)
    metadata: dict[str, Any] = {
        "pages": ends.num_rows,
        "outcomes": dg.MetadataValue.json(dict(outcomes)),
        "errors": sum(count for outcome, count in outcomes.items() if outcome in ERRORS),
        **fetch_summary(own, outcomes),
        "warc_files": len(pc.unique(own["warc_file"].drop_null())),
        "warc_folder": dg.MetadataValue.path(crawl.ports.objects.location(folder)),
        "recovered_captures": recovered,
    }
    return StageResult(
        rows_in=frontier.num_rows,
        rows_out=ends.num_rows,
        metadata=metadata,
        checks=(
            outcome_check(frontier, ends),
            *_archive_checks(crawl, rows, _layers(layer)),
            errors_check(outcomes, max_share=crawl.settings.max_error_share),
        ),
    )


def _archive_checks(crawl: SiteCrawl, rows: pa.Table, layers: Sequence[str]) -> tuple[CheckResult, CheckResult]:
    """Check what lies in the archive of these layers; what the seeds brought counts with depth 0."""
    objects = crawl.ports.objects
    stored = [
        info
        for layer in layers
        for info in objects.list(names.raw_prefix(crawl.site, crawl.crawl_id, layer))
        if info.key.endswith(WARC_SUFFIX)
    ]
    captures = rows.filter(pc.field("layer").isin(list(layers)) & pc.field("warc_file").is_valid())
    revisits = captures.filter(pc.field("record_type") == "revisit")
    targets = _starts(revisits, "body_warc_file", "body_warc_offset")
    responses: set[Start] = set()
    if targets:
        files = sorted({key for key, _ in targets})
        where = (pc.field("record_type") == "response") & pc.field("warc_file").isin(files)
        columns = ["warc_file", "warc_offset"]
        found = crawl.ports.tables.read(names.T_FETCHES, sites=[crawl.site], columns=columns, where=where)
        responses = set(_starts(found, *columns))
    return (
        digests_check(objects, stored, _starts(captures, "warc_file", "warc_offset")),
        revisits_check(targets, responses),
    )


def _starts(rows: pa.Table, file_column: str, offset_column: str) -> list[Start]:
    return list(zip(rows[file_column].to_pylist(), rows[offset_column].to_pylist(), strict=True))

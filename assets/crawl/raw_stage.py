"""The raw batches stage of a depth: fetch the frontier, store what comes as WARC batches."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.archive_checks import Start, digests_check, errors_check, revisits_check
from assets.crawl.batches import WARC_SUFFIX
from assets.crawl.layer_fetch import LayerFetch
from assets.crawl.seed_stage import robots_book
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.derived import CheckResult
from assets.fetch.dead import END_COLUMNS, FIRST_IN_LINE, DeadPage, dead_pages, left_by_last_crawl
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.outcome import ERRORS

ONE_OUTCOME: Final = "every_url_has_one_outcome"

_RESULT_COLUMNS: Final = (
    "layer",
    "purpose",
    "origin_key",
    "is_final",
    "outcome",
    "status",
    "fetch_ms",
    "record_type",
    "body_bytes",
    "warc_file",
    "warc_offset",
    "body_warc_file",
    "body_warc_offset",
)


async def raw_batches(crawl: SiteCrawl, depth: int) -> StageResult:
    """Fetch what this crawl has not fetched yet of a depth's frontier."""
    key, layer = names.raw_batches(depth), names.layer(depth)
    recovered = 0
    if not await crawl.to_thread(crawl.is_done, key):
        await crawl.to_thread(crawl.load_history)
        ends = await crawl.to_thread(_earlier_ends, crawl)
        items = await crawl.to_thread(_items, crawl, layer, ends)
        fetched = 0
        if items:
            known = await crawl.to_thread(crawl.known_keys)
            book = await crawl.to_thread(robots_book, crawl)
            fetch = LayerFetch(crawl, layer, known=known, robots=book)
            recovered = await fetch.resume(names.SEED_LAYER, layer)
            _put_off_dead(fetch, items, await crawl.to_thread(dead_pages, ends, now=crawl.ports.clock.now()))
            await fetch.run(items)
            fetched = sum(item.origin_key in fetch.ends for item in items)
        await crawl.to_thread(crawl.mark, key, rows_in=len(items), rows_out=fetched)
    return await crawl.to_thread(_result, crawl, depth, recovered)


def _earlier_ends(crawl: SiteCrawl) -> pa.Table:
    """Read how this site's pages ended in the crawls before this one."""
    where = pc.field("is_final") & (pc.field("purpose") == Purpose.PAGE.value) & (pc.field("crawl_id") < crawl.crawl_id)
    return crawl.ports.tables.read(names.T_FETCHES, sites=[crawl.site], columns=list(END_COLUMNS), where=where)


def _items(crawl: SiteCrawl, layer: str, ends: pa.Table) -> list[FetchItem]:
    left_before = left_by_last_crawl(ends)
    return [
        FetchItem(
            site=crawl.site,
            layer=layer,
            purpose=Purpose.PAGE,
            url=row["url"],
            url_key=row["url_key"],
            host_key=row["host_key"],
            origin_key=row["url_key"],
            priority=row["priority"] + (FIRST_IN_LINE if row["url_key"] in left_before else 0.0),
            other_urls=tuple(row["other_urls"]),
            validators=crawl.validators(row["url_key"], row["url"]),
        )
        for row in crawl.rows(names.T_FRONTIER, layer=layer).to_pylist()
    ]


def _put_off_dead(fetch: LayerFetch, items: Sequence[FetchItem], dead: Mapping[str, DeadPage]) -> None:
    for item in items:
        page = dead.get(item.origin_key)
        if page is not None and item.origin_key not in fetch.ends:
            fetch.put_off(item, page.reason, retry_at=page.retry_at)


def outcome_check(frontier_keys: Sequence[str], ends: Mapping[str, int]) -> CheckResult:
    """Check that every frontier row has exactly one final outcome.

    Args:
        frontier_keys: url_keys of the layer's frontier.
        ends: final rows by origin key.
    """
    without = [key for key in frontier_keys if ends.get(key, 0) == 0]
    twice = [key for key in frontier_keys if ends.get(key, 0) > 1]
    description = "every frontier row has one final outcome"
    if without or twice:
        description = f"{len(without)} without an outcome, {len(twice)} with several; first: {(without + twice)[:3]}"
    return CheckResult(ONE_OUTCOME, passed=not without and not twice, description=description)


def _result(crawl: SiteCrawl, depth: int, recovered: int) -> StageResult:
    layer = names.layer(depth)
    keys = crawl.rows(names.T_FRONTIER, ["url_key"], layer=layer).column("url_key").to_pylist()
    rows = crawl.rows(names.T_FETCHES, list(_RESULT_COLUMNS))
    wanted = set(keys)
    # The seeds' own captures lie in the seed layer and count where their frontier row is.
    ends = [
        row
        for row in rows.filter(pc.field("is_final") & (pc.field("purpose") == Purpose.PAGE.value)).to_pylist()
        if row["origin_key"] in wanted
    ]
    outcomes = Counter(row["outcome"] for row in ends)
    requests = rows.filter((pc.field("layer") == layer) & pc.field("status").is_valid()).to_pylist()
    times = sorted(row["fetch_ms"] for row in requests)
    files = sorted({row["warc_file"] for row in requests if row["warc_file"]})
    folder = names.raw_prefix(crawl.site, crawl.crawl_id, layer)
    metadata: dict[str, Any] = {
        "pages": len(ends),
        "outcomes": dg.MetadataValue.json(dict(outcomes)),
        "errors": sum(count for outcome, count in outcomes.items() if outcome in ERRORS),
        "requests": len(requests),
        "body_bytes": sum(row["body_bytes"] for row in requests if row["record_type"] == "response"),
        "revisits": sum(row["record_type"] == "revisit" for row in requests),
        "warc_files": len(files),
        "warc_folder": dg.MetadataValue.path(crawl.ports.objects.location(folder)),
        "fetch_ms_median": times[len(times) // 2] if times else 0,
        "recovered_captures": recovered,
    }
    return StageResult(
        rows_in=len(keys),
        rows_out=len(ends),
        metadata=metadata,
        checks=(
            outcome_check(keys, Counter(row["origin_key"] for row in ends)),
            *_archive_checks(crawl, rows, (names.SEED_LAYER, layer) if depth == 0 else (layer,)),
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

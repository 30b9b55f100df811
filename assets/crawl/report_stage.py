"""The crawl report: how the crawl of a site went, in numbers that add up. What is derived waits for it."""

import json
from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.crawl_log import report_before
from assets.crawl.fetch_summary import SUMMARY_COLUMNS, counts, fetch_summary
from assets.crawl.seed_stage import NO_USABLE_SEED
from assets.crawl.site_checks import Reach, pages_check, robots_check, time_check
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.derived import CheckResult
from assets.fetch.item import Purpose
from assets.fetch.outcome import READABLE

REACHABLE: Final = "reachable"
NOTHING_FETCHED: Final = "nothing_fetched"
REPORT_FILE: Final = "crawl_report.json"


def crawl_report(crawl: SiteCrawl, *, outcome: str, reason: str) -> StageResult:
    """Sum a crawl up, write the report for people and mark the crawl finished.

    Args:
        outcome: ``ok``, or why nothing was fetched.
        reason: the sentence that goes with it.
    """
    fetches = crawl.rows(names.T_FETCHES, ["origin_key", "is_final", *SUMMARY_COLUMNS])
    numbers = crawl_numbers(crawl, fetches)
    readable = sum(count for name, count in numbers["pages_by_outcome"].items() if name in READABLE)
    if outcome == "ok" and readable == 0:
        outcome, reason = NOTHING_FETCHED, "no page could be fetched: see pages_by_outcome"
    summary = fetch_summary(fetches, numbers["pages_by_outcome"])
    plain = {name: value for name, value in summary.items() if isinstance(value, int | float)}
    report = {"site": crawl.site, "crawl_id": crawl.crawl_id, "outcome": outcome, "reason": reason, **numbers, **plain}
    key = names.report_prefix(crawl.site, crawl.crawl_id) + REPORT_FILE
    crawl.ports.objects.put(key, (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode("utf-8"))
    crawl.mark(
        names.CRAWL_REPORT,
        outcome=outcome,
        reason=reason,
        rows_in=numbers["frontier"],
        rows_out=readable,
    )
    metadata: dict[str, Any] = {
        "outcome": outcome,
        "reason": reason or "all is well",
        "pages_readable": readable,
        "pages_by_outcome": dg.MetadataValue.json(numbers["pages_by_outcome"]),
        "pages_by_depth": dg.MetadataValue.json(numbers["pages_by_depth"]),
        "refused_by_reason": dg.MetadataValue.json(numbers["refused_by_reason"]),
        **summary,
        "report": dg.MetadataValue.path(crawl.ports.objects.location(key)),
    }
    reachable = CheckResult(
        REACHABLE,
        passed=outcome == "ok",
        description=reason or f"{readable} pages could be read",
        # That no seed is usable is what another check says, in full: people need not be told twice.
        severity=dg.AssetCheckSeverity.WARN if outcome == NO_USABLE_SEED else dg.AssetCheckSeverity.ERROR,
    )
    before = report_before(crawl.ports.tables, crawl.site, crawl.crawl_id)
    checks = (
        reachable,
        pages_check(
            Reach(crawl.crawl_id, readable, crawl.settings.max_depth),
            Reach(before["crawl_id"], before["rows_out"], before["max_depth"]) if before else None,
            crawl.settings,
        ),
        robots_check(numbers["pages_by_outcome"], crawl.settings),
        time_check(summary, crawl.settings),
    )
    return StageResult(
        outcome=outcome,
        reason=reason,
        rows_in=numbers["frontier"],
        rows_out=readable,
        metadata=metadata,
        checks=checks,
    )


def refresh_report(crawl: SiteCrawl, *, outcome: str, reason: str) -> StageResult:
    """Sum a refresh up and mark it finished.

    Args:
        outcome: ``ok``, or why nothing was asked.
        reason: the sentence that goes with it.
    """
    columns = ["layer", "origin_key", "is_final", *SUMMARY_COLUMNS]
    fetches = crawl.rows(names.T_FETCHES, columns)
    ends = fetches.filter(pc.field("is_final") & (pc.field("purpose") == Purpose.PAGE.value))
    due, new = (ends.filter(pc.field("layer") == layer.name) for layer in names.REFRESH_LAYERS)
    outcomes = counts(due["outcome"])
    answered = due.filter(pc.field("outcome").isin([outcome.value for outcome in READABLE]))
    changed = answered.filter(pc.field("record_type") == "response").num_rows
    found = new.filter(pc.field("outcome").isin([outcome.value for outcome in READABLE])).num_rows
    asked = due.num_rows + new.num_rows
    crawl.mark(names.REFRESH_REPORT, outcome=outcome, reason=reason, rows_in=asked, rows_out=changed + found)
    summary = fetch_summary(fetches, outcomes)
    metadata: dict[str, Any] = {
        "outcome": outcome,
        "reason": reason or "all is well",
        "pages_asked": due.num_rows,
        "payloads_changed": changed,
        "payloads_as_before": answered.num_rows - changed,
        "new_pages": found,
        "outcomes": dg.MetadataValue.json(outcomes),
        **summary,
    }
    checks = (robots_check(outcomes, crawl.settings), time_check(summary, crawl.settings))
    return StageResult(outcome, reason, rows_in=asked, rows_out=changed + found, metadata=metadata, checks=checks)


def crawl_numbers(crawl: SiteCrawl, fetches: pa.Table) -> dict[str, Any]:
    """Count a crawl from its tables: one final outcome per frontier row, and refusals."""
    frontier = crawl.rows(names.T_FRONTIER, ["url_key", "layer"])
    final = fetches.filter(pc.field("is_final") & (pc.field("purpose") == Purpose.PAGE.value))
    ends = final.select(["origin_key", "outcome"]).join(frontier, "origin_key", "url_key", join_type="inner")
    by_depth = {
        layer: counts(ends.filter(pc.field("layer") == layer)["outcome"])
        for layer in sorted(pc.unique(ends["layer"]).to_pylist())
    }
    return {
        "frontier": frontier.num_rows,
        "pages_by_outcome": counts(ends["outcome"]),
        "pages_by_depth": by_depth,
        "refused_by_reason": counts(crawl.rows(names.T_REFUSALS, ["reason"])["reason"]),
    }

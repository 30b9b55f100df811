"""The crawl report: how the crawl of a site went, in numbers that add up. What is derived waits for it."""

import json
from collections import Counter
from typing import Any, Final

import dagster as dg
import pyarrow.compute as pc

from assets import names
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.derived import CheckResult
from assets.fetch.item import Purpose
from assets.fetch.outcome import READABLE

REACHABLE: Final = "reachable"
REPORT_FILE: Final = "crawl_report.json"


def crawl_report(crawl: SiteCrawl, *, outcome: str, reason: str) -> StageResult:
    """Sum a crawl up, write the report for people and mark the crawl finished.

    Args:
        outcome: ``ok``, or why nothing was fetched.
        reason: the sentence that goes with it.
    """
    numbers = crawl_numbers(crawl)
    readable = sum(count for name, count in numbers["pages_by_outcome"].items() if name in READABLE)
    if outcome == "ok" and readable == 0:
        outcome, reason = "nothing_fetched", "no page could be fetched: see pages_by_outcome"
    report = {"site": crawl.site, "crawl_id": crawl.crawl_id, "outcome": outcome, "reason": reason, **numbers}
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
        "body_bytes": numbers["body_bytes"],
        "report": dg.MetadataValue.path(crawl.ports.objects.location(key)),
    }
    check = CheckResult(
        REACHABLE,
        passed=outcome == "ok",
        description=reason or f"{readable} pages could be read",
        severity=dg.AssetCheckSeverity.ERROR,
    )
    return StageResult(
        outcome=outcome,
        reason=reason,
        rows_in=numbers["frontier"],
        rows_out=readable,
        metadata=metadata,
        checks=(check,),
    )


def crawl_numbers(crawl: SiteCrawl) -> dict[str, Any]:
    """Count a crawl from its tables: one final outcome per frontier row, refusals, requests, bytes."""
    frontier = crawl.rows(names.T_FRONTIER, ["url_key", "layer"]).to_pylist()
    layer_of = {row["url_key"]: row["layer"] for row in frontier}
    fetches = crawl.rows(
        names.T_FETCHES, ["purpose", "origin_key", "is_final", "outcome", "status", "body_bytes", "record_type"]
    )
    ends = [
        row
        for row in fetches.filter(pc.field("is_final")).to_pylist()
        if row["purpose"] == Purpose.PAGE.value and row["origin_key"] in layer_of
    ]
    by_depth: dict[str, Counter[str]] = {}
    for row in ends:
        by_depth.setdefault(layer_of[row["origin_key"]], Counter())[row["outcome"]] += 1
    requests = [row for row in fetches.to_pylist() if row["status"] is not None]
    refusals = crawl.rows(names.T_REFUSALS, ["reason"]).column("reason").to_pylist()
    return {
        "frontier": len(frontier),
        "pages_by_outcome": dict(Counter(row["outcome"] for row in ends).most_common()),
        "pages_by_depth": {layer: dict(counts) for layer, counts in sorted(by_depth.items())},
        "refused_by_reason": dict(Counter(refusals).most_common()),
        "requests": len(requests),
        "body_bytes": sum(row["body_bytes"] for row in requests if row["record_type"] == "response"),
        "revisits": sum(row["record_type"] == "revisit" for row in requests),
    }

"""The report of a schedule: what the UI shows of it."""

from datetime import datetime
from math import isfinite
from typing import Any

import dagster as dg
import pyarrow.compute as pc

from assets.bars import bars
from assets.recrawl.charts import rate_classes
from assets.recrawl.columns import day_of
from assets.recrawl.outlook import DueOutlook
from assets.recrawl.schedule import SiteSchedule


def metadata_of(result: SiteSchedule, now: datetime) -> dict[str, Any]:
    """Give the metadata of one site: pages, what is due, theta, freshness, budget, trust in signals, a chart."""
    site = result.site
    first = site["first_due_at"]
    outlook = DueOutlook(day_of(now), day_of(first) if first else float("inf"), tuple(site["due_by_hour"]))
    due_now = site["due_when_planned"]
    numbers = {
        "pages": site["pages"],
        "live_pages": site["live_pages"],
        "crawls_folded": result.crawls,
        "due_now": due_now,
        "due_next_24h": outlook.due_at(outlook.made_day + 1) - due_now,
        "theta_days": site["theta_days"],
        "freshness_expected": site["expected_freshness"],
        "age_expected_days": site["expected_age_days"],
        # Of an even visit, the end of its interval: the mean over time is higher.
        "freshness_found_by_visits": site["fresh_at_visit"],
        "requests_per_day": site["requests_per_day"],
        "requests_wanted_per_day": site["demand_per_day"] + site["first_per_day"] + site["hubs_per_day"],
        "requests_24h": site["requests_24h"],
        "requests_7d": site["requests_7d"],
        "budget_used_share": site["requests_7d"] / (7 * site["requests_per_day"]) if site["requests_per_day"] else None,
        "signal_precision": site["signal_precision"],
        "signal_recall": site["signal_recall"],
    }
    live = result.pages.filter(pc.field("status") == "live")
    classes = rate_classes(live["rate_per_day"].to_numpy())
    return {
        **{name: _rounded(value) for name, value in numbers.items() if value is not None},
        "folded": dg.MetadataValue.json({name: count for name, count in result.counts.items() if count}),
        "change_rates": dg.MetadataValue.md(f"Pages that change\n```\n{bars(classes)}\n```" if classes else "no pages"),
    }


def _rounded(value: float) -> float | str:
    if isinstance(value, int):
        return value
    return round(value, 4) if isfinite(value) else "unlimited"

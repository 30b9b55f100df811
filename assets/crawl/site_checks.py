"""Site checks: how a whole crawl or refresh of a site went, held against the site's thresholds. Pure.

What a layer's archive holds, and which errors its pages ended with, is for ``archive_checks``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg

from assets.derived import CheckResult
from assets.fetch.outcome import FetchOutcome
from resources.ports import SiteSettings

PAGES_KEPT: Final = "pages_kept"
ROBOTS_WITHIN_SHARE: Final = "robots_within_share"
ANSWERS_IN_TIME: Final = "answers_in_time"

LEAST_LOST: Final = 5  # pages; fewer come and go at any site
LEAST_ANSWERS: Final = 10  # of fewer the slowest tenth is one that had bad luck


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of a site a crawl read."""

    crawl_id: str
    pages: int
    max_depth: int  # that it was asked for


def pages_check(now: Reach, before: Reach | None, settings: SiteSettings) -> CheckResult:
    """Check that a crawl could read about as many pages as the one before it.

    Args:
        now: the crawl.
        before: the last one that went well; None when there is none.
        settings: of the site; no crawl reads more than its ``max_pages``.
    """
    why = ""
    if now.pages == 0:
        why = "nothing could be read, which is for another check to say"
    elif before is None:
        why = "the first crawl"
    elif now.max_depth != before.max_depth:
        why = f"crawl {before.crawl_id} went {before.max_depth} layers deep, this one {now.max_depth}"
    if before is None or why:
        description = f"nothing to compare: {why}"
        return CheckResult(PAGES_KEPT, True, description, {"pages": now.pages}, dg.AssetCheckSeverity.ERROR)
    expected = min(before.pages, settings.max_pages)
    lost = max(0, expected - now.pages)
    share = lost / expected if expected else 0.0
    return CheckResult(
        PAGES_KEPT,
        lost < LEAST_LOST or share <= settings.max_lost_share,
        f"{now.pages} pages could be read, {before.pages} in crawl {before.crawl_id}: {share:.0%} fewer; "
        f"max_lost_share is {settings.max_lost_share:.0%}",
        {"pages": now.pages, "pages_before": before.pages, "lost_share": round(share, 4)},
        dg.AssetCheckSeverity.ERROR,
    )


def robots_check(outcomes: Mapping[str, int], settings: SiteSettings) -> CheckResult:
    """Check that robots.txt does not deny most of what there is to ask.

    Args:
        outcomes: final outcome -> pages.
        settings: of the site.
    """
    total, denied = sum(outcomes.values()), outcomes.get(FetchOutcome.ROBOTS_DENIED, 0)
    share = denied / total if total else 0.0
    return CheckResult(
        ROBOTS_WITHIN_SHARE,
        share <= settings.max_robots_share,
        f"robots.txt denies {denied} of {total} pages ({share:.0%}); "
        f"max_robots_share is {settings.max_robots_share:.0%}",
        {"denied": denied, "denied_share": round(share, 4)},
    )


def time_check(summary: Mapping[str, Any], settings: SiteSettings) -> CheckResult:
    """Check that nine of ten answers come in time.

    Args:
        summary: of the crawl's requests, as ``fetch_summary`` gives it.
        settings: of the site.
    """
    answers = sum(summary["status_codes"].value.values())
    if answers < LEAST_ANSWERS:
        return CheckResult(ANSWERS_IN_TIME, True, f"{answers} answers are too few to judge", {"answers": answers})
    p90_ms = summary["fetch_ms_p90"]
    return CheckResult(
        ANSWERS_IN_TIME,
        p90_ms <= settings.max_fetch_p90_ms,
        f"nine of ten answers came within {p90_ms} ms; max_fetch_p90_ms is {settings.max_fetch_p90_ms:g}",
        {"answers": answers, "fetch_ms_p90": p90_ms},
    )

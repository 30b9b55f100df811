"""Checks of the site map: dead addresses, and what got worse since the crawl before. Limits are the site's own."""

from collections.abc import Mapping
from typing import Any, Final

from assets.derived import CheckResult
from assets.site_map.changes import Change
from resources.ports.catalog import MapLimits

DEAD_SHARE: Final = "dead_share_within_limit"
NEW_DEAD_LINKS: Final = "no_new_dead_links"
ORPHANS: Final = "orphans_within_limit"
SLOWDOWN: Final = "answers_not_slower"
MAP_CHECKS: Final = {DEAD_SHARE: "The share of addresses that are dead is within the site's max_dead_share."}
CHANGE_CHECKS: Final = {
    NEW_DEAD_LINKS: "No more links became dead since the crawl before than max_new_dead_links.",
    ORPHANS: "There are not more orphans than in the crawl before by more than max_new_orphans.",
    SLOWDOWN: "The median answer takes not more than max_slowdown times as long as in the crawl before.",
}
_QUICK_MS: Final = 50.0  # below this a median is noise
Row = Mapping[str, Any]


def map_checks(history: Row, limits: MapLimits) -> tuple[CheckResult, ...]:
    """Judge a crawl by itself."""
    share = history["dead_pages"] / history["pages"] if history["pages"] else 0.0
    text = f"{history['dead_pages']:,} of {history['pages']:,} addresses are dead; {limits.max_dead_share:.1%} may be."
    return (_check(DEAD_SHARE, round(share, 4), limits.max_dead_share, text),)


def change_checks(
    counts: Mapping[str, int], before: Row | None, after: Row | None, limits: MapLimits
) -> tuple[CheckResult, ...]:
    """Judge what changed.

    Args:
        counts: changes by kind.
        before: row of ``map_history`` of the crawl before; None: there is none to compare with.
        after: that of the last crawl.
    """
    if before is None or after is None:
        return tuple(CheckResult(name, True, "There is no mapped crawl before.") for name in CHANGE_CHECKS)
    if not after["live_pages"]:
        # That nothing could be read is what the crawl report says; every link is "newly dead" then.
        return tuple(CheckResult(name, True, "No page could be read: nothing to compare.") for name in CHANGE_CHECKS)
    dead = counts[Change.NEWLY_DEAD_LINK]
    slower = max(after["median_fetch_ms"], _QUICK_MS) / max(before["median_fetch_ms"], _QUICK_MS)
    return (
        _check(NEW_DEAD_LINKS, dead, limits.max_new_dead_links, f"{dead:,} links are newly dead."),
        _check(
            ORPHANS,
            after["orphans"] - before["orphans"],
            limits.max_new_orphans,
            f"{after['orphans']:,} pages are linked nowhere; {before['orphans']:,} were.",
        ),
        _check(
            SLOWDOWN,
            round(slower, 2),
            limits.max_slowdown,
            f"The median answer takes {after['median_fetch_ms']:.0f} ms; it took {before['median_fetch_ms']:.0f} ms.",
        ),
    )


def _check(name: str, value: float, limit: float, text: str) -> CheckResult:
    return CheckResult(name, value <= limit, text, {"value": value, "limit": limit})

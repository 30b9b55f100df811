"""Checks of the index feed: its log adds up to what is wanted, nothing vanishes unseen, and every sink follows."""

from collections.abc import Mapping
from typing import Final

import dagster as dg

from assets.derived import CheckResult
from assets.feed.index_feed import FeedResult

REPLAY: Final = "replay_gives_the_live_set"
VANISHED: Final = "vanished_within_share"
SINKS: Final = "sinks_are_up_to_date"
DESCRIPTIONS: Final = {
    REPLAY: "Replaying all batches gives exactly the documents that the site should have in an index.",
    VANISHED: "No more documents vanish at once than the site's max_vanished_share; else nothing is fed.",
    SINKS: "Every index sink has taken every batch.",
}


def replay_check(result: FeedResult) -> CheckResult:
    """Compare three tellings of the same set: what the batches add up to, ``feed_state``, and what is wanted."""
    wanted, replayed, remembered = result.wanted, result.replayed, result.remembered
    wrong = {
        "not_in_log": len(wanted.items() - replayed.items()),
        "only_in_log": len(replayed.items() - wanted.items()),
        "not_in_table": len(wanted.items() - remembered.items()),
        "only_in_table": len(remembered.items() - wanted.items()),
        "missing_batches": len(result.missing),
    }
    if not any(wrong.values()):
        return CheckResult(REPLAY, True, f"All {len(wanted)} documents, and no other.", wrong)
    return CheckResult(
        REPLAY, False, "Log, table and pages disagree: an object of the feed was changed or lost.", wrong
    )


def vanished_check(result: FeedResult, share: float) -> CheckResult:
    """Say whether the feed was held back."""
    if not result.held_back:
        return CheckResult(VANISHED, True, "Fed.")
    said = (
        f"{result.held_back} of {len(result.wanted)} documents would vanish, more than {share:.0%}: nothing was fed. "
        "If that is right, materialize with let_vanish: true, or run isobath feed SITE --let-vanish."
    )
    return CheckResult(VANISHED, False, said, {"held_back": result.held_back}, severity=dg.AssetCheckSeverity.ERROR)


def sinks_check(errors: Mapping[str, str]) -> CheckResult:
    """Say which sinks lag and why."""
    if not errors:
        return CheckResult(SINKS, True, "All sinks took the last batch.")
    said = "; ".join(f"{name}: {error}" for name, error in sorted(errors.items()))
    return CheckResult(SINKS, False, f"They catch up at the next materialization. {said}", dict(errors))

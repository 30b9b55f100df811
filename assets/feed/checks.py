"""Checks of the index feed: that its log adds up to what is wanted, and that every sink follows it."""

from collections.abc import Iterable, Mapping
from typing import Final

from assets.derived import CheckResult
from assets.feed.difference import Fed, after
from resources.ports import FeedBatch

REPLAY: Final = "replay_gives_the_live_set"
SINKS: Final = "sinks_are_up_to_date"
DESCRIPTIONS: Final = {
    REPLAY: "Replaying all batches gives exactly the documents that the site should have in an index.",
    SINKS: "Every index sink has taken every batch.",
}


def replay(batches: Iterable[FeedBatch]) -> dict[str, str]:
    """Apply batches in order to nothing; give the digest of each document that remains, by its id."""
    fed: Fed = {}
    for batch in batches:
        fed = after(fed, batch)
    return {document_id: document.document_digest for document_id, document in fed.items()}


def replay_check(replayed: Mapping[str, str], remembered: Mapping[str, str], wanted: Mapping[str, str]) -> CheckResult:
    """Compare three tellings of the same set: what the batches add up to, ``feed_state``, and what is wanted.

    Each is document id -> document digest.
    """
    wrong = {
        "not_in_log": len(wanted.items() - replayed.items()),
        "only_in_log": len(replayed.items() - wanted.items()),
        "not_in_table": len(wanted.items() - remembered.items()),
        "only_in_table": len(remembered.items() - wanted.items()),
    }
    if not any(wrong.values()):
        return CheckResult(REPLAY, True, f"All {len(wanted)} documents, and no other.", wrong)
    return CheckResult(
        REPLAY, False, "Log, table and pages disagree: an object of the feed was changed or lost.", wrong
    )


def sinks_check(errors: Mapping[str, str]) -> CheckResult:
    """Say which sinks lag and why."""
    if not errors:
        return CheckResult(SINKS, True, "All sinks took the last batch.")
    said = "; ".join(f"{name}: {error}" for name, error in sorted(errors.items()))
    return CheckResult(SINKS, False, f"They catch up at the next materialization. {said}", dict(errors))

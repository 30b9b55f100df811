"""When a log is compacted: once half of what it holds says nothing any more."""

import pytest

from assets.feed.compaction import is_due
from assets.feed.log import Bounds, Head


@pytest.mark.parametrize(
    ("documents", "changes", "has_snapshot", "due"),
    [
        (5_000, 5_000, False, False),  # each document once: a snapshot would be the same again
        (5_000, 10_000, False, False),
        (5_000, 10_001, False, True),
        (5_000, 5_000, True, False),
        (5_000, 5_001, True, True),
        (10, 900, False, False),  # too little to care
        (10, 1_001, False, True),
        (0, 2_000, False, True),
    ],
)
def test_a_log_is_compacted_when_half_of_it_is_old(documents: int, changes: int, has_snapshot: bool, due: bool) -> None:
    head = Head("a", 9, False, documents, "", changes)
    assert is_due(head, Bounds(snapshot=5 if has_snapshot else 0, last=9)) is due


def test_a_log_that_does_not_say_what_it_holds_is_left_alone() -> None:
    assert not is_due(None, Bounds(snapshot=0, last=9))

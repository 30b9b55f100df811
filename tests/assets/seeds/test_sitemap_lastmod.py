"""Trust in a site's lastmod."""

from datetime import UTC, datetime, timedelta

import pytest

from assets.seeds.lastmod import DatedPage, LastmodCounts, LastmodTrust, believable, judge_lastmod, moves

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("counts", "trust"),
    [
        (LastmodCounts(), LastmodTrust.UNKNOWN),
        (LastmodCounts(stated=100), LastmodTrust.UNKNOWN),
        (LastmodCounts(stated=100, invalid=10, future=10), LastmodTrust.UNKNOWN),
        (LastmodCounts(stated=100, invalid=11), LastmodTrust.UNRELIABLE),
        (LastmodCounts(stated=100, future=11), LastmodTrust.UNRELIABLE),
        (LastmodCounts(stated=1, invalid=1), LastmodTrust.UNRELIABLE),
        (LastmodCounts(100, 0, 0, compared=100, moved=8, checked=4, unchanged=4), LastmodTrust.UNKNOWN),
        (LastmodCounts(100, 0, 0, compared=100, moved=8, checked=8, unchanged=4), LastmodTrust.RELIABLE),
        (LastmodCounts(100, 0, 0, compared=100, moved=8, checked=8, unchanged=5), LastmodTrust.UNRELIABLE),
        (LastmodCounts(100, 0, 0, compared=100, moved=100, checked=100, unchanged=21), LastmodTrust.UNRELIABLE),
        (LastmodCounts(100, 0, 0, compared=100, moved=100, checked=100, unchanged=20), LastmodTrust.RELIABLE),
        (LastmodCounts(100, 20, 0, compared=100, moved=8, checked=8), LastmodTrust.UNRELIABLE),
    ],
)
def test_a_site_is_judged_by_what_was_seen(counts: LastmodCounts, trust: LastmodTrust) -> None:
    assert judge_lastmod(counts) is trust


def test_moves_compare_pages_that_both_crawls_dated_and_fetched() -> None:
    later = NOW + timedelta(days=1)
    before = {key: DatedPage(NOW, digest) for key, digest in [("a", "1"), ("b", "1"), ("c", "1"), ("d", None)]}
    after = {
        "a": DatedPage(later, "1"),
        "b": DatedPage(later, "2"),
        "c": DatedPage(NOW, "2"),
        "d": DatedPage(later, "1"),
        "new": DatedPage(later, "1"),
    }
    assert moves(before, after) == LastmodCounts(compared=4, moved=3, checked=2, unchanged=1)
    assert moves({}, after) == LastmodCounts()


def test_a_date_in_the_future_is_not_believed() -> None:
    assert believable(NOW, now=NOW) == NOW
    assert believable(NOW + timedelta(hours=14), now=NOW) is not None
    assert believable(NOW + timedelta(days=2), now=NOW) is None
    assert believable(None, now=NOW) is None


@pytest.mark.parametrize(
    "wrong", [{"invalid": 1}, {"stated": 1, "invalid": 1, "future": 1}, {"moved": 1}, {"stated": -1}]
)
def test_counts_that_cannot_be_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="part"):
        LastmodCounts(**wrong)

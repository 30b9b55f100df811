"""When a check warns: at which numbers, and how severely."""

import pytest

from assets.site_map.changes import Change
from assets.site_map.checks import CHANGE_CHECKS, change_checks, map_checks
from resources.ports.catalog import MapLimits

BEFORE = {"live_pages": 100, "orphans": 5, "median_fetch_ms": 100.0}
NONE: dict[str, int] = {kind.value: 0 for kind in Change}


@pytest.mark.parametrize(
    ("counts", "after", "failing"),
    [
        ({}, {}, []),
        ({Change.NEWLY_DEAD_LINK: 1}, {}, ["no_new_dead_links"]),
        ({}, {"orphans": 15}, []),
        ({}, {"orphans": 16, "median_fetch_ms": 201.0}, ["orphans_within_limit", "answers_not_slower"]),
    ],
)
def test_a_check_fails_beyond_its_limit(counts: dict[str, int], after: dict[str, float], failing: list[str]) -> None:
    checks = change_checks({**NONE, **counts}, BEFORE, {**BEFORE, **after}, MapLimits())
    assert [check.name for check in checks] == list(CHANGE_CHECKS)
    assert [check.name for check in checks if not check.passed] == failing


def test_a_first_crawl_passes() -> None:
    assert all(check.passed for check in change_checks(NONE, None, BEFORE, MapLimits()))


def test_limits_are_those_of_the_site() -> None:
    history = {"pages": 100, "dead_pages": 6}
    assert [map_checks(history, MapLimits(max_dead_share=share))[0].passed for share in (0.05, 0.06)] == [False, True]

"""Due times, claims, outlooks and the words for them."""

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np
import pytest

from assets.recrawl.claim import claim
from assets.recrawl.columns import PageStatus, SiteColumns, day_of, time_of
from assets.recrawl.due import due_days, may_send_validators, worth_of
from assets.recrawl.explain import explain
from assets.recrawl.index import due_interval_days
from assets.recrawl.outlook import HOURS, outlooks
from tests.assets.recrawl.making import START, live_pages, prices, unread_pages

BY_WORTH = float(due_interval_days(np.array([2.0]), np.array([0.1]), np.ones(1))[0])  # theta 2 d, a change in 10 d
SITE = SiteColumns.unseen(1)


@pytest.mark.parametrize(
    ("columns", "due"),
    [
        ({}, BY_WORTH),
        ({"max_interval_days": 1.0}, 1.0),
        ({"fixed_interval_days": 0.5}, 0.5),
        ({"weight": 1e9}, float(due_interval_days(np.array([0.02]), np.array([0.1]), np.ones(1))[0])),
        ({"fails": 1}, 15 / 1_440),
        ({"fails": 9}, 1.0),
        ({"gone_visits": 1}, 1.0),
        ({"gone_visits": 1, "status": PageStatus.GONE}, 7.0),
        ({"gone_visits": 3, "status": PageStatus.GONE}, 30.0),
        ({"gone_visits": 9, "status": PageStatus.GONE}, 90.0),
        ({"gone_visits": 9, "status": PageStatus.GONE, "signals": 1}, 1 / 24),
        ({"gone_visits": 9, "status": PageStatus.GONE, "fails": 1}, 90.0),
        ({"status": PageStatus.BARRED}, 7.0),
        ({"status": PageStatus.RETIRED}, inf),
        ({"status": PageStatus.NEW}, 0.0),
    ],
    ids=str,
)
def test_a_page_is_due(columns: Mapping[str, Any], due: float) -> None:
    assert due_days(live_pages(**columns), SITE, prices())[0] - START == pytest.approx(due, abs=1e-9)


def test_signals_pull_a_page_forward_by_what_they_are_worth() -> None:
    sites = SiteColumns.unseen(2)
    sites.signals[:] = 100
    sites.hits[:], sites.misses[:] = [90, 1], [5, 99]
    sites.recalled[:], sites.unrecalled[:] = [45, 1], [5, 99]
    silent = due_days(live_pages(2, sites=2), sites, prices(sites=2))
    signalled = due_days(live_pages(2, sites=2, signals=1), sites, prices(sites=2))
    # Who is trusted to tell is asked late without a signal, and almost at once with one.
    assert silent[0] - START > 2 * BY_WORTH
    assert signalled[0] - START < 1.0
    # A liar changes little.
    assert silent[1] - START == pytest.approx(BY_WORTH, rel=0.02)
    assert signalled[1] - START == pytest.approx(BY_WORTH, rel=0.05)


def test_stopped_recrawls_are_never_due() -> None:
    pages = live_pages(3, fixed_interval_days=np.array([np.nan, 2.0, np.nan]))
    pages.status[2] = PageStatus.NEW
    assert due_days(pages, SITE, prices(theta_days=inf)).tolist() == [inf, START + 2.0, START]


def test_validators_are_left_out_after_90_days_and_where_they_lied() -> None:
    pages = live_pages(2, sites=2)
    sites = SiteColumns.unseen(2)
    sites.lies[1] = 1
    assert may_send_validators(pages, sites, START + 89).tolist() == [True, False]
    assert may_send_validators(pages, sites, START + 90).tolist() == [False, False]


def claimed(
    at_most: int, *, day: float = 5.0, fill: bool = False, least_days: float = 0.0, **columns: Any
) -> list[int]:
    """Claim among six pages that were read at ``START``; days since then."""
    due = np.array([1.0, 2.0, 3.0, 4.0, 9.0, inf]) + START
    value = np.array([0.5, 4.0, 1.0, 3.0, 2.0, 7.0])
    pages = live_pages(6, **columns)
    at = START + day
    rows: list[int] = claim(pages, due, value, day=at, at_most=at_most, fill=fill, least_days=least_days).tolist()
    return rows


@pytest.mark.parametrize(
    ("columns", "least_days", "comes"),
    [
        ({}, 5.0, True),
        ({}, 5.1, False),
        ({"status": PageStatus.GONE}, 0.0, False),
        ({"status": PageStatus.BARRED}, 0.0, False),
        ({"status": PageStatus.RETIRED}, 0.0, False),
        ({"status": PageStatus.NEW}, 0.0, False),
        ({"fails": 1}, 0.0, False),
        ({"gone_visits": 1}, 0.0, False),
        ({"fixed_interval_days": 9.0}, 0.0, False),
    ],
    ids=["live", "just asked", "gone", "barred", "retired", "new", "failing", "absent", "hub"],
)
def test_a_page_comes_early_when_it_waits_for_nothing_but_its_worth(
    columns: Mapping[str, Any], least_days: float, comes: bool
) -> None:
    due = np.full(1, START + 9)
    claimed_rows = claim(
        live_pages(**columns), due, np.ones(1), day=START + 5, at_most=3, fill=True, least_days=least_days
    )
    assert len(claimed_rows) == comes


@pytest.mark.parametrize(
    ("at_most", "columns", "rows"),
    [
        (2, {}, [1, 3]),
        (9, {}, [0, 1, 2, 3]),
        (0, {}, []),
        (9, {"fill": True}, [0, 1, 2, 3, 4]),
        (3, {"fill": True, "day": 1.5}, [0, 1, 3]),
        (2, {"status": np.array([0, 1, 0, 1, 1, 1])}, [0, 1]),
        (9, {"status": np.array([0, 1, 0, 1, 1, 1])}, [0, 1, 2, 3]),
        (2, {"status": np.zeros(6)}, [0, 1]),
        (2, {"fixed_interval_days": np.array([np.nan] * 2 + [1.0] + [np.nan] * 3)}, [1, 2]),
        (2, {"max_interval_days": np.array([4.0, 365, 365, 365, 365, 365])}, [0, 1]),
    ],
    ids=[
        *(
            "highest index",
            "all that are due",
            "none",
            "filled up by index",
            "filled up, few due",
            "a share of new pages",
        ),
        *("new pages too", "only new ones, oldest first", "a hub", "at its longest interval"),
    ],
)
def test_a_claim_takes(at_most: int, columns: Mapping[str, Any], rows: list[int]) -> None:
    assert claimed(at_most, **columns) == rows


def test_a_claim_by_value_is_a_claim_by_index() -> None:
    pages = live_pages(3, weight=np.array([1.0, 3.0, 2.0]))
    value = worth_of(pages, SITE, prices(mean_weight=2.0)).value_days(pages, START + 9)
    assert claim(pages, np.zeros(3), value, day=START + 9, at_most=2).tolist() == [1, 2]


def test_an_outlook_counts_what_is_due_by_the_hour() -> None:
    due = np.array([START - 3, START, START + 1.5 / 24, START + 1.6 / 24, START + 30, inf, START + 2])
    one, other, none = outlooks(due, np.array([0, 0, 0, 0, 0, 0, 1], np.int32), 3, START)
    assert one.due_by_hour == (2, 2, *[0] * (HOURS - 2))
    assert one.first_due_day == START - 3
    assert [one.due_at(START + hours / 24) for hours in (0, 0.51, 1.01, 1.51, 2.01, 900)] == [1, 1, 2, 3, 4, 4]
    assert [other.due_at(START + days) for days in (0, 1, 2, 3)] == [0, 0, 1, 1]
    assert (none.first_due_day, none.due_at(START + 9)) == (inf, 0)


@pytest.mark.parametrize(
    ("columns", "after_days", "sentence"),
    [
        (
            {"visits": 9, "changes": 3},
            5.0,
            "changed 3 of 9 visits, section changes every 10 d, expected age 1.1 d of 2.0 d allowed, due Friday",
        ),
        (
            {"visits": 2, "signals": 2},
            1 / 24,
            (
                "changed 0 of 2 visits, section changes every 10 d, 2 change signals since, "
                "expected age 6.4 d of 2.0 d allowed, due now"
            ),
        ),
        ({"fails": 3}, 0.0, "failed 3 times running, due in 1.0 h"),
        ({"status": PageStatus.NEW}, 2.0, "never read, due since 2.0 d"),
        ({"status": PageStatus.RETIRED}, 2.0, "a dated sitemap that stands still, not due"),
        ({"status": PageStatus.BARRED}, 2.0, "may not be asked, due Friday"),
        (
            {"status": PageStatus.GONE, "gone_visits": 3, "gone_since_day": START - 40},
            0.0,
            "gone since 2024-08-25, due 2024-11-03",
        ),
        ({"fixed_interval_days": 0.5}, 0.5, "not visited again yet, a hub, visited every 12.0 h, due now"),
    ],
)
def test_a_schedule_is_explained(columns: Mapping[str, Any], after_days: float, sentence: str) -> None:
    made = explain(live_pages(**columns), SITE, prices(), time_of(START + after_days))
    assert made.sentence == sentence


def test_a_page_that_is_explained_is_due_when_its_age_is_what_is_allowed() -> None:
    pages = live_pages(weight=4.0)
    due = due_days(pages, SITE, prices())[0]
    made = explain(pages, SITE, prices(), time_of(due))
    assert made.expected_age_days == pytest.approx(made.allowed_age_days, rel=1e-6)
    assert made.due_at is not None
    assert day_of(made.due_at) == pytest.approx(due, abs=1e-8)
    assert explain(unread_pages(), SITE, prices(theta_days=inf), time_of(START)).status is PageStatus.NEW

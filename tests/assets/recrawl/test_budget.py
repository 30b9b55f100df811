"""Budgets: what is spent, by whom, and what it buys."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.recrawl.budget import Allotment, allot, theta_of_budget
from assets.recrawl.columns import PageStatus, SiteColumns
from assets.recrawl.demand import Demand, demand_of
from assets.recrawl.index import expected_age_days
from assets.recrawl.offer import offer_of_budgets, offer_of_target
from assets.recrawl.settings import BudgetSettings, SiteTerms, TermColumns
from tests.assets.recrawl.making import live_pages, prices


def demand(pages: int = 3_000, sites: int = 3, seed: int = 0) -> Demand:
    """Make demand of pages with lognormal rates and Pareto weights."""
    rng = np.random.default_rng(seed)
    rate = np.exp(rng.normal(-4, 1.5, pages)).astype(float)
    return Demand(
        rate=rate,
        silent_rate=rate,
        weight=np.clip(rng.pareto(1.5, pages) + 0.1, 0.01, 100),
        min_days=np.full(pages, 1 / 24),
        max_days=np.full(pages, 365.0),
        site=(np.arange(pages) % sites).astype(np.int32),
        copies=np.ones(pages),
        sites=sites,
    )


def allotted(terms: Sequence[SiteTerms], budget: BudgetSettings, hubs: Sequence[float] = (0.0, 0.0, 0.0)) -> Allotment:
    return allot(demand(), np.array(hubs), TermColumns.of(terms), budget)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(15, 3_000),
    st.lists(
        st.builds(
            SiteTerms,
            cap_per_day=st.floats(9, 500),
            requests_per_day=st.none() | st.floats(9, 500),
            freshness_target_days=st.none() | st.floats(0.01, 50),
            first_per_day=st.floats(0, 20),
        ),
        min_size=3,
        max_size=3,
    ),
    st.lists(st.floats(0, 30), min_size=3, max_size=3),
)
def test_no_budget_and_no_cap_is_exceeded(per_day: float, terms: list[SiteTerms], hubs: list[float]) -> None:
    made = allotted(terms, BudgetSettings(per_day), hubs)
    spent = made.per_day + made.first_per_day + made.hubs_per_day
    assert spent.sum() <= per_day * (1 + 1e-6) + made.over_per_day
    limits = TermColumns.of(terms).limit_per_day
    highest = made.theta_days >= 1e6 * (1 - 1e-9)  # even the longest intervals are more than the site allows
    assert ((spent <= limits * (1 + 1e-6)) | highest).all()
    assert made.first_per_day.sum() <= 0.3 * per_day * (1 + 1e-9)
    assert made.hubs_per_day.sum() <= 0.2 * per_day * (1 + 1e-9)


def test_sites_that_share_have_one_price_and_spend_all() -> None:
    made = allotted([SiteTerms()] * 3, BudgetSettings(100.0))
    assert np.ptp(made.theta_days) == 0
    assert made.per_day.sum() == pytest.approx(100.0, rel=1e-6)


def test_what_a_cap_leaves_goes_to_the_others() -> None:
    free = allotted([SiteTerms()] * 3, BudgetSettings(100.0))
    capped = allotted([SiteTerms(cap_per_day=10.0), SiteTerms(), SiteTerms()], BudgetSettings(100.0))
    assert capped.per_day[0] == pytest.approx(10.0, rel=1e-6)
    assert capped.per_day.sum() == pytest.approx(100.0, rel=1e-6)
    assert capped.theta_days[1] == capped.theta_days[2] < free.theta_days[1] < capped.theta_days[0]


def test_own_terms_are_served_first() -> None:
    terms = [SiteTerms(requests_per_day=30.0), SiteTerms(freshness_target_days=5.0), SiteTerms()]
    made = allotted(terms, BudgetSettings(150.0))
    assert made.per_day[0] == pytest.approx(30.0, rel=1e-6)
    assert made.theta_days[1] == 5.0
    assert made.per_day.sum() == pytest.approx(150.0, rel=1e-6)
    poor = allotted(terms, BudgetSettings(40.0))
    assert poor.per_day.sum() == pytest.approx(40.0, rel=1e-6)
    assert poor.missed_target.tolist() == [False, True, False]


def test_too_many_hubs_are_visited_less_often() -> None:
    made = allotted([SiteTerms()] * 3, BudgetSettings(100.0), hubs=[30.0, 30.0, 0.0])
    assert made.hub_stretch[:2] == pytest.approx([3.0, 3.0])
    assert (made.per_day + made.hubs_per_day).sum() == pytest.approx(100.0, rel=1e-6)


def test_stopped_recrawls_leave_first_fetches() -> None:
    made = allotted([SiteTerms(first_per_day=5.0)] * 3, BudgetSettings(100.0, recrawl=False))
    assert made.first_per_day.sum() == 15.0
    assert np.isinf(made.theta_days).all()
    assert made.per_day.sum() == 0


def test_no_request_would_be_worth_more_elsewhere() -> None:
    pages = demand()
    theta = np.full(3, theta_of_budget(pages, 200.0))
    intervals = pages.intervals(theta)
    inner = (intervals > 0.05) & (intervals < 364)
    worth = pages.weight * expected_age_days(intervals, pages.rate)
    assert inner.sum() > 2_000
    np.testing.assert_allclose(worth[inner], theta[0], rtol=1e-6)


def test_a_sample_speaks_for_all() -> None:
    rng = np.random.default_rng(7)
    pages = live_pages(60_000, sites=9)
    pages.evidence_days[:] = rng.random(60_000) * 300
    pages.evidence_changes[:] = rng.poisson(2.0, 60_000)
    pages.status[::10] = PageStatus.GONE
    pages.fixed_interval_days[::7] = 1.0
    made = [demand_of(pages, SiteColumns.unseen(9), prices(sites=9), count) for count in (10**6, 5_000)]
    theta = np.full(9, 3.0)
    assert len(made[0].rate) == np.count_nonzero(
        (pages.status == PageStatus.LIVE) & np.isnan(pages.fixed_interval_days)
    )
    assert 5_000 <= len(made[1].rate) <= 5_009
    assert made[1].copies.sum() == pytest.approx(len(made[0].rate))
    np.testing.assert_allclose(made[1].per_day(theta), made[0].per_day(theta), rtol=0.1)


def test_more_budget_buys_more_freshness_and_a_target_costs_what_it_says() -> None:
    offers = offer_of_budgets(demand(), [0.0, 20.0, 100.0, 1_000.0])
    assert offers[0].freshness == 0
    assert [offer.requests_per_day for offer in offers] == pytest.approx([0, 20, 100, 1_000], rel=1e-6)
    for poor, rich in pairwise(offers[1:]):
        assert rich.freshness > poor.freshness
        assert rich.age_days < poor.age_days
        assert rich.theta_days < poor.theta_days
    again = offer_of_target(demand(), offers[2].theta_days)
    assert again.requests_per_day == pytest.approx(100.0, rel=1e-6)

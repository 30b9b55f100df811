"""The plan: what the pages of a store add up to, and that nothing but their state decides it."""

import numpy as np
import pytest

from assets.recrawl.columns import PageColumns, PageStatus, SiteColumns
from assets.recrawl.due import due_days
from assets.recrawl.plan import Plan, plan
from assets.recrawl.settings import BudgetSettings, SiteTerms, TermColumns
from tests.assets.recrawl.making import START, live_pages

SITES = 4
SECTION_SITE = np.arange(SITES, dtype=np.int32)


def store(rows: int = 4_000) -> PageColumns:
    """Make pages that were visited for a year, of sites that change at very different rates."""
    rng = np.random.default_rng(4)
    pages = live_pages(rows, sites=SITES)
    pages.evidence_days[:] = rng.random(rows) * 360
    pages.evidence_changes[:] = rng.poisson(pages.evidence_days * np.array([0.001, 0.01, 0.03, 0.2])[pages.site])
    pages.weight[:] = rng.pareto(2, rows) * 7 + 1
    return pages


def planned(pages: PageColumns, per_day: float = 100.0, **terms: float) -> Plan:
    columns = TermColumns.of([SiteTerms(**terms)] * SITES)
    return plan(pages, SiteColumns.unseen(SITES), SECTION_SITE, columns, BudgetSettings(per_day))


def test_due_times_spend_the_budget() -> None:
    pages = store()
    due = due_days(pages, SiteColumns.unseen(SITES), planned(pages).prices)
    assert (1 / (due - START)).sum() == pytest.approx(100.0, rel=1e-6)
    assert due.max() <= START + 365
    rates = planned(pages).rates
    assert (np.diff(rates.section) > 0).all()
    assert rates.section[0] < rates.store < rates.section[3]


def test_a_plan_depends_on_neither_the_order_of_pages_nor_the_scale_of_weights() -> None:
    pages = store()
    whole = planned(pages)
    turned = pages.take(np.arange(len(pages))[::-1].copy())
    turned.weight[:] *= 8
    again = planned(turned)
    assert again.allotment.theta_days == pytest.approx(whole.allotment.theta_days, rel=1e-6)
    sites = SiteColumns.unseen(SITES)
    np.testing.assert_allclose(
        due_days(turned, sites, again.prices)[::-1], due_days(pages, sites, whole.prices), rtol=0, atol=1e-3
    )


def test_pages_that_wait_to_be_read_get_their_share() -> None:
    pages = store()
    pages.status[:10] = PageStatus.NEW
    few = planned(pages).allotment
    assert few.first_per_day.sum() == 10.0
    assert few.per_day.sum() == pytest.approx(90.0, rel=1e-6)
    pages.status[:2_000] = PageStatus.NEW
    many = planned(pages).allotment
    assert many.first_per_day.sum() == pytest.approx(30.0)
    assert many.per_day.sum() == pytest.approx(70.0, rel=1e-6)


def test_a_store_without_pages_has_a_plan() -> None:
    empty = planned(store(0))
    assert empty.allotment.per_day.sum() == 0
    assert np.isfinite(empty.rates.section).all()


def test_a_budget_that_cannot_hold_the_longest_interval_says_so() -> None:
    poor = planned(store(), per_day=5.0).allotment
    assert poor.over_per_day == pytest.approx(4_000 / 365 - 5.0, rel=0.05)

"""The plan: priors and thetas of sites, from the state of their pages and a budget. Due times follow in ``due``."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assets.recrawl.budget import Allotment, allot
from assets.recrawl.columns import Floats, PageStatus, PlanColumns, SiteColumns
from assets.recrawl.demand import Demand, demand_of
from assets.recrawl.due import Prices
from assets.recrawl.pool import PooledRates, pool_rates
from assets.recrawl.settings import BudgetSettings, TermColumns


@dataclass(frozen=True, slots=True)
class Plan:
    """What holds until the next plan."""

    rates: PooledRates
    prices: Prices
    allotment: Allotment


@dataclass(frozen=True, slots=True)
class Needs:
    """What pages want, before anybody says what they get."""

    rates: PooledRates
    unpriced: Prices  # without thetas
    demand: Demand
    hubs_per_day: Floats  # by site
    first_per_day: Floats  # by site: a plan holds for a day, and all that were never read are due


def needs_of(
    pages: PlanColumns,
    sites: SiteColumns,
    section_site: NDArray[np.int32],
    min_interval_days: Floats,
    store_rate: float | None = None,
) -> Needs:
    """Give what the pages of some sites want.

    Args:
        pages: all of the sites' pages.
        sites: the sites.
        section_site: site of each section.
        min_interval_days: of each site.
        store_rate: mean change rate of a page over the whole store; None: these sites are all of it.
    """
    live = np.equal(pages.status, PageStatus.LIVE)
    whole = bool(live.all())
    rates = pool_rates(
        pages.evidence_changes if whole else pages.evidence_changes[live],
        pages.evidence_days if whole else pages.evidence_days[live],
        pages.section if whole else pages.section[live],
        section_site,
        len(sites),
        store_rate,
    )
    unpriced = Prices(
        theta_days=np.full(len(sites), np.inf),
        min_interval_days=min_interval_days,
        hub_stretch=np.ones(len(sites)),
        section_rate=rates.section,
        mean_weight=float(pages.weight.mean(where=live, dtype=np.float64)) if live.any() else 1.0,
    )
    hub = live & ~np.isnan(pages.fixed_interval_days)
    return Needs(
        rates,
        unpriced,
        demand_of(pages, sites, unpriced),
        np.bincount(pages.site[hub], 1 / pages.fixed_interval_days[hub], len(sites)).astype(float),
        np.bincount(pages.site[pages.status == PageStatus.NEW], minlength=len(sites)).astype(float),
    )


def plan(
    pages: PlanColumns,
    sites: SiteColumns,
    section_site: NDArray[np.int32],
    terms: TermColumns,
    budget: BudgetSettings,
    store_rate: float | None = None,
) -> Plan:
    """Give the plan for all pages of some sites.

    Deterministic, and a function of its arguments alone: a plan does not look at the plan before.

    Args:
        pages: all of the sites' pages.
        sites: the sites.
        section_site: site of each section.
        terms: of the sites.
        budget: global.
        store_rate: mean change rate of a page over the whole store; None: these sites are all of it.
    """
    needs = needs_of(pages, sites, section_site, terms.min_interval_days, store_rate)
    terms = replace(terms, first_per_day=terms.first_per_day + needs.first_per_day)
    allotment = allot(needs.demand, needs.hubs_per_day, terms, budget)
    prices = replace(needs.unpriced, theta_days=allotment.theta_days, hub_stretch=allotment.hub_stretch)
    return Plan(needs.rates, prices, allotment)

"""Budgets: the theta of each site that spends what there is, and no more than the site allows.

All sites that share the budget have one theta, so a request goes where it is worth most; a site whose cap or own
budget binds has a higher one of its own, and what it leaves goes to the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from assets.recrawl.columns import Flags, Floats
from assets.recrawl.settings import MINUTE_DAYS, BudgetSettings, TermColumns

LEAST_THETA_DAYS: Final = MINUTE_DAYS
MOST_THETA_DAYS: Final = 1e6  # every page at its longest interval, whatever its weight
_STEPS: Final = 100  # never needed: a dozen does
_TOLERANCE: Final = 1e-8  # of the logarithm of requests a day, and of theta


@dataclass(frozen=True, slots=True)
class Allotment:
    """What each site got; one entry a site."""

    theta_days: Floats  # infinite: no recrawls
    per_day: Floats  # requests that its pages want at this theta, hubs and first fetches not among them
    first_per_day: Floats
    hubs_per_day: Floats
    hub_stretch: Floats  # their intervals are so many times as long as asked, >= 1
    over_per_day: float  # requests that are wanted beyond the budget even at the highest theta
    missed_target: Flags  # its freshness target does not fit into its cap and the budget


class Wanting(Protocol):
    """What pages of some sites want: a ``Demand``, or what is kept of one."""

    @property
    def sites(self) -> int:
        """How many sites."""
        ...

    def per_day(self, theta_days: Floats) -> Floats:
        """Give the requests a day of each site; theta is by site."""
        ...


def allot(demand: Wanting, hubs_per_day: Floats, terms: TermColumns, budget: BudgetSettings) -> Allotment:
    """Share a budget over sites.

    First fetches come first, then hubs, each up to its share; then sites with terms of their own, then the others by
    worth. When the sites with own terms want more than there is, all sites share by worth under the same limits.

    Args:
        demand: of pages to be visited again, a sample or all.
        hubs_per_day: requests that hubs want, by site.
        terms: of the sites.
        budget: global.
    """
    whole = budget.requests_per_day
    first = terms.first_per_day * _fit(terms.first_per_day, budget.first_share, whole, terms.limit_per_day)
    fit = _fit(hubs_per_day, budget.hub_share, whole, terms.limit_per_day)
    hubs = hubs_per_day * fit
    left = whole - float(first.sum() + hubs.sum())
    limit = terms.limit_per_day - first - hubs
    if not budget.recrawl or left <= 0:
        theta, per_day, over = np.full(demand.sites, np.inf), np.zeros(demand.sites), 0.0
    else:
        theta = _shared(demand, limit, left, terms)
        per_day = demand.per_day(theta)
        over = max(float(per_day.sum()) - left, 0.0)
    return Allotment(
        theta_days=theta,
        per_day=per_day,
        first_per_day=first,
        hubs_per_day=hubs,
        hub_stretch=1 / fit,
        over_per_day=over if over > 1e-6 * whole else 0.0,
        missed_target=(terms.target_days > 0) & (theta > terms.target_days * (1 + 1e-9)),
    )


def theta_of_budget(demand: Wanting, per_day: float) -> float:
    """Give the theta at which all pages together want so many requests a day."""
    found = _least_theta(
        lambda theta: demand.per_day(np.full(demand.sites, theta[0])).sum(keepdims=True), np.array([per_day])
    )
    return float(found[0])


def _fit(wanted: Floats, share: float, whole: float, limit: Floats) -> Floats:
    """Give the part of what sites want that fits into a share of the budget and of their limits."""
    total = float(wanted.sum())
    everywhere = share * whole / total if total > share * whole else 1.0
    wanted = np.maximum(wanted, 1e-12)
    return np.clip(np.minimum(share * limit / wanted, everywhere), 1e-9, 1.0)


def _shared(demand: Wanting, limit: Floats, left: float, terms: TermColumns) -> Floats:
    least = np.maximum(_least_theta(demand.per_day, limit), terms.target_days)
    own = terms.has_own
    wanted_by_own = float(demand.per_day(least)[own].sum())
    sharing = ~own if wanted_by_own <= left else np.ones(demand.sites, bool)
    if sharing.all():
        wanted_by_own = 0.0
    if not sharing.any():
        return least

    def thetas(one: Floats) -> Floats:
        return np.where(sharing, np.maximum(one[0], least), least)

    one = _least_theta(
        lambda theta: demand.per_day(thetas(theta))[sharing].sum(keepdims=True), np.array([left - wanted_by_own])
    )
    return thetas(one)


def _least_theta(per_day: Callable[[Floats], Floats], limit: Floats) -> Floats:
    """Give the least thetas at which requests keep within limits, each for itself; the highest one where none does.

    By false position in logarithms, where demand is nearly a straight line; a step that hardly helps is a halving.
    """
    low, high = np.full(len(limit), np.log(LEAST_THETA_DAYS)), np.full(len(limit), np.log(MOST_THETA_DAYS))
    target = np.log(np.maximum(limit, 1e-12)) - _TOLERANCE / 2

    def over(log_theta: Floats) -> Floats:
        return np.log(np.maximum(per_day(np.exp(log_theta)), 1e-30)) - target

    over_low, over_high = over(low), over(high)
    settled_low, settled_high = over_low <= 0, over_high >= 0
    done = settled_low | settled_high
    for step in range(_STEPS):
        if done.all():
            break
        width = np.where(done, 1.0, over_low - over_high)
        share = 0.5 if step % 3 == 2 else np.clip(over_low / width, 0.02, 0.98)
        middle = low + (high - low) * share
        here = over(middle)
        fits = here <= 0
        low, over_low = np.where(fits | done, low, middle), np.where(fits | done, over_low, here)
        high, over_high = np.where(fits & ~done, middle, high), np.where(fits & ~done, here, over_high)
        done |= (over_high > -_TOLERANCE / 2) | (high - low < _TOLERANCE)
    return np.where(settled_low, LEAST_THETA_DAYS, np.exp(high))

"""Offers: what a budget buys, and what a freshness target costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from assets.recrawl.budget import theta_of_budget
from assets.recrawl.demand import Demand
from assets.recrawl.index import mean_age_days, mean_freshness


@dataclass(frozen=True, slots=True)
class Offer:
    """What so many requests a day buy. Means are over pages by weight, as the model expects them in the long run."""

    requests_per_day: float
    theta_days: float  # expected age at which a page of weight 1 is asked again
    freshness: float  # share of copies that are as their page, 0..1
    age_days: float  # of a copy, mean: days since the first change that it misses; 0 when it misses none
    median_interval_days: float


def offer_of_budgets(demand: Demand, budgets_per_day: Sequence[float]) -> list[Offer]:
    """Say what each of some budgets buys, each for all these pages together."""
    return [_offer(demand, theta_of_budget(demand, budget) if budget > 0 else inf) for budget in budgets_per_day]


def offer_of_target(demand: Demand, theta_days: float) -> Offer:
    """Say what it costs that no page of weight 1 is expected to get older than this before it is asked again."""
    return _offer(demand, theta_days)


def _offer(demand: Demand, theta_days: float) -> Offer:
    if not len(demand.rate) or theta_days == inf:
        return Offer(0.0, inf, 1.0 if not len(demand.rate) else 0.0, inf if len(demand.rate) else 0.0, inf)
    intervals = demand.intervals(np.full(demand.sites, theta_days))
    shares = demand.copies * demand.weight
    shares = shares / shares.sum()
    order = np.argsort(intervals)
    middle = np.searchsorted(np.cumsum(demand.copies[order]), demand.copies.sum() / 2)
    return Offer(
        requests_per_day=float((demand.copies / intervals).sum()),
        theta_days=theta_days,
        freshness=float((shares * mean_freshness(intervals, demand.rate)).sum()),
        age_days=float((shares * mean_age_days(intervals, demand.rate)).sum()),
        median_interval_days=float(intervals[order[min(int(middle), len(order) - 1)]]),
    )

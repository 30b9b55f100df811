"""Demand: how many requests a day pages want at a given theta, from a sample of each site."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assets.recrawl.columns import Floats, PageStatus, PlanColumns, Rows, SiteColumns
from assets.recrawl.due import Prices, worth_of
from assets.recrawl.index import due_interval_days

SAMPLE_PAGES: Final = 100_000
LEAST_OF_A_SITE: Final = 30  # pages of a site that a sample has at least


@dataclass(frozen=True, slots=True)
class Demand:
    """Pages whose interval follows from their worth, each standing for ``copies`` like it."""

    rate: Floats  # changes a day
    silent_rate: Floats  # of those: that no signal tells of
    weight: Floats  # relative to the mean
    min_days: Floats
    max_days: Floats
    site: NDArray[np.int32]
    copies: Floats
    sites: int

    def intervals(self, theta_days: Floats) -> Floats:
        """Give the interval of each page in days; theta is by site."""
        wanted = due_interval_days(theta_days[self.site], self.silent_rate, self.weight)
        return np.clip(wanted, self.min_days, self.max_days)

    def per_day(self, theta_days: Floats) -> Floats:
        """Give the requests a day of each site; theta is by site."""
        return np.bincount(self.site, self.copies / self.intervals(theta_days), self.sites).astype(float)


def demand_of(pages: PlanColumns, sites: SiteColumns, prices: Prices, at_most: int = SAMPLE_PAGES) -> Demand:
    """Give the demand of the pages that live and are no hubs, from about ``at_most`` of them."""
    wanted = (pages.status == PageStatus.LIVE) & np.isnan(pages.fixed_interval_days)
    rows, copies = _sample(pages.site, None if wanted.all() else np.flatnonzero(wanted), len(sites), at_most)
    some = pages.take(rows)
    worth = worth_of(some, sites, prices)
    least = prices.min_interval_days[some.site]
    most = np.maximum(some.max_interval_days.astype(float), least)
    return Demand(worth.rate, worth.silent_rate, worth.weight, least, most, some.site, copies, len(sites))


def _sample(site: NDArray[np.int32], rows: Rows | None, sites: int, at_most: int) -> tuple[Rows, Floats]:
    """Give every n-th page of each site, more of them of a small site, and how many pages each stands for.

    At even steps in their order: so a sample has of each section what it should, and is the same every time.
    """
    of = site if rows is None else site[rows]
    if len(of) <= at_most:
        return np.arange(len(of)) if rows is None else rows, np.ones(len(of))
    counts = np.bincount(of, minlength=sites)
    taken = np.minimum(np.maximum(np.ceil(counts * (at_most / len(of))), LEAST_OF_A_SITE), counts).astype(np.int64)
    step = np.repeat(counts / np.maximum(taken, 1), taken)
    number = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
    places = np.repeat(np.cumsum(counts) - counts, taken) + ((number + 0.5) * step).astype(np.int64)
    # Tables come site by site; sorting them again would take longer than all the rest.
    if bool((of[1:] < of[:-1]).any()):
        places = np.argsort(of, kind="stable")[places]
    return places if rows is None else rows[places], step

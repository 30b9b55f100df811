"""Due times: when a page is to be asked next, from its state and what the plan says of its site and section."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from assets.recrawl.columns import Flags, Floats, PageColumns, PageStatus, PlanColumns, SiteColumns
from assets.recrawl.estimate import posterior_rate
from assets.recrawl.index import due_interval_days, expected_age_days
from assets.recrawl.trust import SignalTrust

MIN_WEIGHT: Final = 0.01  # of the mean weight
MAX_WEIGHT: Final = 100.0
WHOLE_AFTER_DAYS: Final = 90.0  # a page that is always 304 is fetched whole after so long
RETRY_DAYS: Final = 15 / 1440  # after the first failure; doubled by each one more, up to a day
PERSISTENT_FAILS: Final = 14  # about a week of daily failures
NOT_FOUND_AGAIN_DAYS: Final = 1.0
BARRED_DAYS: Final = 7.0
_RESTS_DAYS: Final = np.array([7.0, 30.0, 90.0])  # of a page that is gone, or fails for good
_CHUNK: Final = 1 << 17  # rows at a time: scratch arrays stay in the cache
_GRACE_OF_SIGNAL_DAYS: Final = 1 / 24  # a page that was just asked is not asked again because a sitemap names it


@dataclass(frozen=True, slots=True)
class Prices:
    """What a plan holds for each site and section: all that a due time needs besides the page."""

    theta_days: Floats  # by site
    min_interval_days: Floats  # by site
    hub_stretch: Floats  # by site
    section_rate: Floats  # by section: changes a day of a page before anything is known of it
    mean_weight: float  # of all pages that live


@dataclass(frozen=True, slots=True)
class Worth:
    """What is known and wanted of each page; one entry a page."""

    rate: Floats  # changes a day
    silent_rate: Floats  # of those: changes a day that no signal tells of
    weight: Floats  # relative to the mean
    pending_days: Floats  # days that signals since the last visit are worth

    def value_days(self, pages: PlanColumns, day: float) -> Floats:
        """Give the index now: weight times expected age; 0 for a page never read."""
        elapsed = np.maximum(day - pages.read_day, 0) + self.pending_days
        return np.where(np.isnan(elapsed), 0.0, self.weight * expected_age_days(elapsed, self.silent_rate))


def worth_of(pages: PlanColumns, sites: SiteColumns, prices: Prices) -> Worth:
    """Give what is known of each page under a plan."""
    trust = SignalTrust.of(sites)
    rate = posterior_rate(
        pages.evidence_changes.astype(float), pages.evidence_days.astype(float), prices.section_rate[pages.section]
    )
    silent = rate * (1 - trust.recall[pages.site])
    pending = trust.pending(pages.signals.astype(float), pages.site)
    weight = np.clip(pages.weight / prices.mean_weight, MIN_WEIGHT, MAX_WEIGHT)
    return Worth(rate, silent, weight, pending / silent)


def due_days(pages: PlanColumns, sites: SiteColumns, prices: Prices) -> Floats:
    """Give when each page is due, in days since 1970; infinite: never.

    A page that cannot be read is due by what is wrong with it, all others by their worth.
    """
    due = np.empty(len(pages))
    for start in range(0, len(pages), _CHUNK):
        some = pages.take(slice(start, start + _CHUNK))
        due[start : start + _CHUNK] = _unless_unreadable(some, _due_by_worth(some, sites, prices))
    return due


def interval_days(pages: PlanColumns, worth: Worth, prices: Prices) -> Floats:
    """Give the days between visits to each page when no signal comes; infinite where recrawls are stopped."""
    theta, least = prices.theta_days[pages.site], prices.min_interval_days[pages.site]
    stopped = np.isinf(theta)
    interval = due_interval_days(np.where(stopped, 1.0, theta), worth.silent_rate, worth.weight)
    hub = ~np.isnan(pages.fixed_interval_days)
    interval = np.where(hub, pages.fixed_interval_days * prices.hub_stretch[pages.site], interval)
    interval = np.clip(interval, least, np.maximum(pages.max_interval_days, least))
    return np.where(stopped & ~hub, np.inf, interval)


def _due_by_worth(pages: PlanColumns, sites: SiteColumns, prices: Prices) -> Floats:
    worth = worth_of(pages, sites, prices)
    least = prices.min_interval_days[pages.site]
    interval = np.maximum(interval_days(pages, worth, prices) - worth.pending_days, least)
    return np.where(pages.status == PageStatus.NEW, pages.known_day, pages.read_day + interval)


def _unless_unreadable(pages: PlanColumns, due: Floats) -> Floats:
    # What is gone rests, also when its recheck fails.
    failing = (pages.fails > 0) & (pages.status != PageStatus.GONE)
    if failing.any():
        due[failing] = pages.asked_day[failing] + retry_days(pages.fails[failing].astype(np.int64))
    absent = (pages.gone_visits > 0) & (pages.status != PageStatus.GONE) & ~failing
    due[absent] = pages.asked_day[absent] + NOT_FOUND_AGAIN_DAYS
    gone = pages.status == PageStatus.GONE
    rests = _RESTS_DAYS[np.clip(pages.gone_visits[gone].astype(np.int64) - 2, 0, 2)]
    due[gone] = pages.asked_day[gone] + np.where(pages.signals[gone] > 0, _GRACE_OF_SIGNAL_DAYS, rests)
    barred = pages.status == PageStatus.BARRED
    due[barred] = pages.asked_day[barred] + BARRED_DAYS
    due[pages.status == PageStatus.RETIRED] = np.inf
    return due


def retry_days(fails: np.typing.NDArray[np.int64]) -> Floats:
    """Give how long a page rests after failing so many times running: minutes first, months in the end.

    >>> [round(rest * 24, 2) for rest in retry_days(np.array([1, 2, 7, 8, 13, 14, 17, 40])).tolist()]
    [0.25, 0.5, 16.0, 24.0, 24.0, 168.0, 720.0, 2160.0]
    """
    soon = np.minimum(RETRY_DAYS * np.exp2(np.minimum(fails, 30) - 1), 1.0)
    return np.where(fails < PERSISTENT_FAILS, soon, _RESTS_DAYS[np.clip((fails - PERSISTENT_FAILS) // 3, 0, 2)])


def may_send_validators(pages: PageColumns, sites: SiteColumns, day: float) -> Flags:
    """Say for each page whether it may be asked conditionally: not after 90 days of 304, nor a site that lied."""
    young = np.less(day - pages.whole_day, WHOLE_AFTER_DAYS)
    return np.logical_and(young, np.equal(sites.lies[pages.site], 0))

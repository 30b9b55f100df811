"""How good copies are: exact means over pages and time, from the days of visits and the true days of changes. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from assets.recrawl.columns import Floats

_PHASES: Final = 16  # of the uniform visitor; its luck with one of them is worth a percent


@dataclass(frozen=True, slots=True)
class Quality:
    """Of all copies, over all days."""

    freshness: float  # share of time in which a copy was as its page
    age_days: float  # since the first change that it misses

    @property
    def staleness(self) -> float:
        """Share of time in which it was not."""
        return 1 - self.freshness


def quality(changes: Sequence[Floats], visits: Sequence[Floats], days: float) -> Quality:
    """Measure copies that were all fresh on day 0.

    Args:
        changes: days of each page's changes, in order.
        visits: days of each page's visits, in order.
        days: length of the time that is looked at.

    >>> quality([np.array([2.0, 3.0])], [np.array([4.0])], 10.0)
    Quality(freshness=0.8, age_days=0.2)
    """
    stale_days = aged = 0.0
    for changed, visited in zip(changes, visits, strict=True):
        if not len(changed):
            continue
        begins = np.concatenate([[0.0], visited])
        ends = np.append(visited, days)
        # The first change after each visit, and never where there is none.
        missed = np.append(changed, np.inf)[np.searchsorted(changed, begins, side="right")]
        stale = np.maximum(0.0, ends - missed)
        stale_days += float(stale.sum())
        aged += float((stale**2).sum()) / 2
    whole = len(changes) * days
    return Quality(1 - stale_days / whole, aged / whole)


def uniform_quality(changes: Sequence[Floats], requests: int, days: float) -> Quality:
    """Measure copies that are visited at even intervals, all pages alike, with so many requests in all.

    The mean over phases, of visits that are spread evenly over the interval and come at their exact moment: no run of
    ours is as punctual.
    """
    pages = len(changes)
    if not requests:
        return quality(changes, [np.empty(0)] * pages, days)
    interval_days = pages * days / requests
    order = np.random.default_rng(0).permutation(pages)
    found = []
    for phase in range(_PHASES):
        offsets = (((order + 0.5) / pages + phase / _PHASES) % 1) * interval_days
        found.append(quality(changes, [np.arange(offset, days, interval_days) for offset in offsets], days))
    return Quality(
        float(np.mean([one.freshness for one in found])),
        float(np.mean([one.age_days for one in found])),
    )


def most_in_a_day(times: Sequence[float]) -> int:
    """Give the largest number of times within any 24 hours.

    >>> most_in_a_day([0.0, 0.5, 0.9, 1.2, 3.0])
    3
    """
    ordered = np.sort(np.asarray(times, float))
    return int((np.arange(1, len(ordered) + 1) - np.searchsorted(ordered, ordered - 1, side="right")).max(initial=0))


def longest_wait_days(visits: Sequence[Floats], days: float) -> float:
    """Give the longest time between two visits of a page, from the first day to the last."""
    return max(float(np.diff(np.concatenate([[0.0], visited, [days]])).max()) for visited in visits)

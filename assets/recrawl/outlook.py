"""The outlook of a site: how many of its pages are due by when. All that a sensor reads of pages."""

from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assets.recrawl.columns import Floats

HOURS: Final = 48
HOUR_DAYS: Final = 1 / 24
_CHUNK: Final = 1 << 20  # rows at a time


@dataclass(frozen=True, slots=True)
class DueOutlook:
    """Due pages of one site."""

    made_day: float
    first_due_day: float  # of all pages, also beyond the hours; infinite: none
    due_by_hour: tuple[int, ...]  # pages that become due in each hour after ``made_day``; overdue ones in the first

    def due_at(self, day: float) -> int:
        """Give the pages that are due at a time: all of the hours that are over, and of the present hour its share.

        >>> DueOutlook(10.0, 10.0, (6, 8)).due_at(10.0 + 1.5 / 24)
        10
        """
        hours = (day - self.made_day) / HOUR_DAYS
        if hours <= 0:
            return 1 if self.first_due_day <= day else 0
        over = min(int(hours), len(self.due_by_hour))
        begun = self.due_by_hour[over] * (hours - over) if over < len(self.due_by_hour) else 0
        return max(sum(self.due_by_hour[:over]) + int(begun), 1 if self.first_due_day <= day else 0)


def outlooks(due_day: Floats, site: NDArray[np.int32], sites: int, day: float) -> list[DueOutlook]:
    """Give the outlook of each site from when its pages are due."""
    bins = np.zeros((sites, HOURS + 1), np.int64)  # the last one is for all that comes later
    first = np.full(sites, inf)
    for start in range(0, len(due_day), _CHUNK):
        due, of = due_day[start : start + _CHUNK], site[start : start + _CHUNK].astype(np.int64)
        hour = np.clip(np.floor((due - day) / HOUR_DAYS), 0, HOURS).astype(np.int64)
        bins += np.bincount(of * (HOURS + 1) + hour, minlength=bins.size).reshape(bins.shape)
        np.minimum.at(first, of, due)
    return [
        DueOutlook(day, earliest, tuple(hours[:HOURS]))
        for earliest, hours in zip(first.tolist(), bins.tolist(), strict=True)
    ]

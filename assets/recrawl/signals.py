"""Change signals: which pages a newly read sitemap or feed says have changed. What that is worth: ``trust``.

Pings name their pages outright: ``pings``. ``changefreq`` and ``priority`` are ignored: they are wishes.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from assets.recrawl.columns import Flags, Floats

FUTURE_TOLERANCE_DAYS: Final = 1.0  # time zones left out, and clocks that are a little wrong
ALL_AT_ONCE_SHARE: Final = 0.9
FEW_ENTRIES: Final = 5  # of so few, all may well have moved


class SignalVerdict(StrEnum):
    """What a reading of a sitemap or feed told."""

    HEARD = "heard"
    ALL_AT_ONCE = "all_at_once"  # nearly all dates moved: a rebuild, not a word about pages


@dataclass(frozen=True, slots=True)
class DatedEntries:
    """Entries of one sitemap or feed whose pages were read before; one entry a page."""

    lastmod_day: Floats  # as it says now; NaN: no date
    span_days: Floats  # 1 for a date without a time, which may be any time of that day; else 0
    lastmod_before_day: Floats  # as the reading before said; NaN: none
    read_day: Floats  # when we last read the page; NaN: never


@dataclass(frozen=True, slots=True)
class Heard:
    """The pages that are signalled, and what was counted."""

    signalled: Flags
    verdict: SignalVerdict
    future: int  # dates that cannot be, and are ignored


def hear(entries: DatedEntries, day: float) -> Heard:
    """Say which pages a reading signals: those whose date moved since the reading before and past our last visit.

    A page is signalled once by each move, however often the file is read again. Pages never read are due anyway.

    Args:
        entries: of one file.
        day: when it was read.
    """
    future = entries.lastmod_day > day + FUTURE_TOLERANCE_DAYS
    dated = ~np.isnan(entries.lastmod_day) & ~future
    compared = dated & ~np.isnan(entries.lastmod_before_day)
    later = compared & (entries.lastmod_day > entries.lastmod_before_day)
    at_once = int(compared.sum()) >= FEW_ENTRIES and later.sum() > ALL_AT_ONCE_SHARE * compared.sum()
    if at_once:
        return Heard(np.zeros(len(dated), bool), SignalVerdict.ALL_AT_ONCE, int(future.sum()))
    # Without a reading before, a date of the day of our visit may well be the version that we have.
    span = np.where(compared, entries.span_days, 0.0)
    signalled = (later | (dated & ~compared)) & (entries.lastmod_day + span > entries.read_day)
    return Heard(signalled, SignalVerdict.HEARD, int(future.sum()))

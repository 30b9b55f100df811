"""Columns that this room computes on: a row a page, a site, an event. Numbers only, no texts.

Times are days since 1970-01-01 UTC (``day_of``), spans are days, rates are per day. NaN is "not known" or "never".
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from functools import cache
from typing import Any, Final, Self, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SmallFloats = NDArray[np.float32]
Hashes = NDArray[np.uint64]
Counts = NDArray[np.uint32]
Codes = NDArray[np.uint8]
Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
NO_HASH: Final = np.uint64(0)


class PageStatus(IntEnum):
    """What a page is to the schedule. A number, for it is held in columns; tables hold its name in lower case."""

    NEW = 0  # never read
    LIVE = 1
    GONE = 2  # 410 once, or 404 for a day and longer
    BARRED = 3  # robots.txt, scope or the address guard forbid it
    RETIRED = 4  # a dated sitemap that stands still


class Answer(IntEnum):
    """What an event was: an answer to a request of ours, or a word about the page from elsewhere."""

    CONTENT = 0  # 2xx with its body
    NOT_MODIFIED = 1
    REDIRECT = 2  # its payload hash is that of the target
    NOT_FOUND = 3  # 404
    GONE = 4  # 410
    FAILED = 5  # no answer, 5xx, robots.txt unreachable, a body cut short
    THROTTLED = 6  # 429 or 503
    BARRED = 7
    SIGNAL = 8  # a sitemap, feed or ping said that it changed
    RETIRED = 9


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of one length, each of its declared type."""

    def __post_init__(self) -> None:
        shape = (len(self),)
        for name, dtype in self.dtypes().items():
            values = getattr(self, name)
            if values.dtype != dtype or values.shape != shape:
                raise ValueError(f"{type(self).__name__}.{name}: {values.dtype} {values.shape}, not {dtype}")

    @classmethod
    @cache
    def dtypes(cls) -> Mapping[str, np.dtype[Any]]:
        """Give the type of each column, by name."""
        # NDArray[kind] is ndarray[shape, dtype[kind]].
        return {column.name: np.dtype(get_args(get_args(column.type)[1])[0]) for column in fields(cls)}

    @classmethod
    def filled(cls, rows: int, given: Mapping[str, NDArray[Any]], values: Mapping[str, float]) -> Self:
        """Make rows of given columns and of single values for others; the rest is 0."""
        columns: list[Any] = [
            given[name] if name in given else np.full(rows, values.get(name, 0), dtype)
            for name, dtype in cls.dtypes().items()
        ]
        return cls(*columns)

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.dtypes()))))

    def take(self, rows: Rows | Flags | slice) -> Self:
        """Give some rows; a copy, unless ``rows`` is a slice."""
        return type(self)(*(getattr(self, name)[rows] for name in self.dtypes()))

    def copy(self) -> Self:
        """Give the same rows in arrays of their own."""
        return type(self)(*(getattr(self, name).copy() for name in self.dtypes()))

    def put(self, rows: Rows, values: Self) -> None:
        """Write rows in place."""
        for name in self.dtypes():
            getattr(self, name)[rows] = getattr(values, name)


@dataclass(frozen=True, slots=True)
class PlanColumns(Columns):
    """State of pages, as far as plans and due times look at it: 57 bytes a page.

    All after the first five columns and ``known_day`` is folded from events alone.
    """

    site: NDArray[np.int32]  # row in the site columns
    section: NDArray[np.int32]  # row in the section rates of the plan
    weight: SmallFloats  # importance, > 0, any scale
    fixed_interval_days: SmallFloats  # of a hub; NaN: by worth
    max_interval_days: SmallFloats  # 365; 1 for a sitemap or feed
    status: Codes  # PageStatus
    known_day: Floats  # when it was first named
    asked_day: Floats  # last request, whatever came of it
    read_day: Floats  # last visit that said what the page holds: content, redirect or 304
    evidence_changes: SmallFloats  # of its Gamma posterior, above the prior
    evidence_days: SmallFloats
    signals: NDArray[np.uint16]  # since it was last read
    fails: Codes  # in a row
    gone_visits: Codes  # 404 or 410 in a row


@dataclass(frozen=True, slots=True)
class PageColumns(PlanColumns):
    """All state of pages: what the next visit is compared with, too."""

    whole_day: Floats  # last visit that read it, and was no 304
    visits: Counts  # that were evidence
    changes: Counts  # of those: found a change
    gone_since_day: Floats  # first 404 or 410 of an unbroken row of them
    text_hash: Hashes  # of the main text; 0: none
    payload_hash: Hashes  # of the bytes, or of a redirect's target; 0: never read
    validator_hash: Hashes  # of ETag, else Last-Modified; 0: none

    @classmethod
    def unread(cls, *, site: NDArray[np.int32], section: NDArray[np.int32], known_day: Floats) -> Self:
        """Make pages that nobody has asked for yet: of weight 1, no hubs."""
        never = ("fixed_interval_days", "asked_day", "read_day", "whole_day", "gone_since_day")
        values = {"weight": 1.0, "max_interval_days": 365.0} | dict.fromkeys(never, np.nan)
        return cls.filled(len(site), {"site": site, "section": section, "known_day": known_day}, values)


@dataclass(frozen=True, slots=True)
class SiteColumns(Columns):
    """State of sites, folded from the events of their pages."""

    reference_day: Floats  # the UTC day that ``reference_rate`` holds for; NaN before any event
    reference_rate: Floats  # changes a day of a page, as it was known when that day began
    evidence_changes: Floats  # sum over its pages
    evidence_days: Floats
    hits: Counts  # visits after a signal that found a change
    misses: Counts  # that found none
    recalled: Counts  # changes found that a signal had told of
    unrecalled: Counts  # that none had
    signals: Counts  # ever
    lies: Counts  # texts that changed under an unchanged validator
    pace: Floats  # share of its cap that may be used at ``pace_day``; 1: all
    pace_day: Floats  # when it last asked us to slow down

    @classmethod
    def unseen(cls, rows: int) -> Self:
        """Make sites of which nothing is known."""
        return cls.filled(rows, {}, {"reference_day": np.nan, "pace_day": np.nan, "pace": 1.0})


@dataclass(frozen=True, slots=True)
class EventColumns(Columns):
    """What happened to pages. Of one page and of one site: in time order."""

    page: Rows  # row in the page columns
    day: Floats
    answer: Codes  # Answer
    crawl: Rows  # a number for the crawl that asked; -1 for a signal
    text_hash: Hashes
    payload_hash: Hashes
    validator_hash: Hashes
    changed_days_ago: Floats  # by a date that is trusted; NaN: no such date


def day_of(time: datetime) -> float:
    """Give a time as days since 1970.

    >>> day_of(datetime(1970, 1, 2, 12, tzinfo=UTC))
    1.5
    """
    return (time - EPOCH) / timedelta(days=1)


def time_of(day: float) -> datetime:
    """Give days since 1970 as a time, to the microsecond.

    >>> time_of(1.5).isoformat()
    '1970-01-02T12:00:00+00:00'
    """
    return EPOCH + timedelta(days=day)

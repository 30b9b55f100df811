"""Trust in lastmod: whether the dates in a site's sitemaps say when its pages changed. Pure, from counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

FUTURE_TOLERANCE: Final = timedelta(days=1)  # time zones that a date leaves out, and clocks that are a little wrong
MAX_INVALID_SHARE: Final = 0.1
MAX_FUTURE_SHARE: Final = 0.1
ALL_AT_ONCE_SHARE: Final = 0.9
MAX_UNCHANGED_SHARE: Final = 0.5
MAX_UNCHANGED_SHARE_AT_ONCE: Final = 0.2
MIN_EVIDENCE: Final = 5  # pages; a share of fewer says nothing


class LastmodTrust(StrEnum):
    """What a site's lastmod is worth."""

    UNKNOWN = "unknown"
    RELIABLE = "reliable"
    UNRELIABLE = "unreliable"


@dataclass(frozen=True, slots=True)
class LastmodCounts:
    """What was seen of a site's dates. The history (``compared`` and on) is that of two crawls before this one."""

    stated: int = 0  # entries that have a lastmod, whatever it says
    invalid: int = 0  # of those: no date
    future: int = 0  # of those: later than tomorrow
    compared: int = 0  # pages with a date in both crawls
    moved: int = 0  # of those: a later date in the second
    checked: int = 0  # of the moved: fetched in both
    unchanged: int = 0  # of the checked: the same payload in both

    def __post_init__(self) -> None:
        if not 0 <= self.invalid + self.future <= self.stated:
            raise ValueError(f"invalid and future are parts of stated: {self}")
        if not 0 <= self.unchanged <= self.checked <= self.moved <= self.compared:
            raise ValueError(f"each of compared, moved, checked, unchanged is a part of the one before: {self}")


@dataclass(frozen=True, slots=True)
class DatedPage:
    """What one crawl knows of a page: its lastmod, and the digest of what was fetched (None when nothing was)."""

    lastmod: datetime
    payload_digest: str | None


def judge_lastmod(counts: LastmodCounts) -> LastmodTrust:
    """Say whether a site's lastmod can be trusted.

    Asked in this order:

    1. no date stated: unknown;
    2. more than a tenth invalid, or more than a tenth in the future: unreliable, for the publisher does not look;
    3. at least five pages whose date moved were fetched before and after: unreliable when more than half of them came
       back byte for byte the same, or when nearly all dates moved at once (over nine tenths, of at least five) and a
       fifth of those pages did not change; else reliable;
    4. fewer: unknown. Nobody is trusted on his word alone.

    >>> judge_lastmod(LastmodCounts(stated=100, invalid=20))
    <LastmodTrust.UNRELIABLE: 'unreliable'>
    """
    if not counts.stated:
        return LastmodTrust.UNKNOWN
    if counts.invalid > MAX_INVALID_SHARE * counts.stated or counts.future > MAX_FUTURE_SHARE * counts.stated:
        return LastmodTrust.UNRELIABLE
    if counts.checked < MIN_EVIDENCE:
        return LastmodTrust.UNKNOWN
    at_once = counts.compared >= MIN_EVIDENCE and counts.moved > ALL_AT_ONCE_SHARE * counts.compared
    allowed = MAX_UNCHANGED_SHARE_AT_ONCE if at_once else MAX_UNCHANGED_SHARE
    return LastmodTrust.UNRELIABLE if counts.unchanged > allowed * counts.checked else LastmodTrust.RELIABLE


def believable(lastmod: datetime | None, *, now: datetime) -> datetime | None:
    """Give a date back unless it lies in the future, by more than a day."""
    return lastmod if lastmod is not None and lastmod <= now + FUTURE_TOLERANCE else None


def moves(before: Mapping[str, DatedPage], after: Mapping[str, DatedPage]) -> LastmodCounts:
    """Count how dates moved between two crawls, and whether the pages did; by url_key."""
    both = [(before[key], page) for key, page in after.items() if key in before]
    moved = [(old, new) for old, new in both if new.lastmod > old.lastmod]
    checked = [(old, new) for old, new in moved if old.payload_digest and new.payload_digest]
    return LastmodCounts(
        compared=len(both),
        moved=len(moved),
        checked=len(checked),
        unchanged=sum(old.payload_digest == new.payload_digest for old, new in checked),
    )

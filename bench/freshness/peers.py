"""Other policies: uniform, Nutch's and StormCrawler's adaptive schedules, and an oracle that knows all rates.

The adaptive schedules are ported with their defaults, and made work-conserving: who has nothing due fetches what is
due next, so that all have the same bandwidth.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from assets.recrawl.columns import Flags, Floats, Rows
from assets.recrawl.index import expected_age_days


class _Ranked:
    """Fetches the known pages with the highest rank."""

    def start(self, info: Mapping[str, Any]) -> None:
        """Begin."""
        self._pages: int = info["n"]
        self._weight: Floats = info["w"]
        self._last = np.zeros(self._pages)
        self._jitter = 1e-6 * info["rng"].random(self._pages)  # who is equal does not come in the order of rows
        self._rates: Floats = np.maximum(info["world"].rate, 1e-6)
        self._begin()

    def pick(self, t: float, k: int, known: Flags) -> Rows:
        """Choose the highest ranks."""
        rank = np.where(known, self._rank(t) + self._jitter, -np.inf)
        return np.argpartition(-rank, k)[:k] if k < len(rank) else np.flatnonzero(known)

    def seen(
        self, t: float, ids: Rows, changed: Flags, tau: Floats, first: Flags, gone: Flags, lastmod: Floats
    ) -> None:
        """Note the visits."""
        self._last[ids] = t
        self._learn(t, ids, changed, first)

    def _begin(self) -> None:
        """Prepare what the policy keeps."""

    def _learn(self, t: float, ids: Rows, changed: Flags, first: Flags) -> None:
        """Adapt to what was found."""

    def _rank(self, t: float) -> Floats:
        """Give the rank of each page: the highest are asked first. By default, whose visit lies back longest."""
        return t - self._last


class Uniform(_Ranked):
    """Round robin: the page whose visit lies back longest."""


class KnownRates(_Ranked):
    """The harmonic index with the true rates: what a perfect estimate would reach."""

    def _rank(self, t: float) -> Floats:
        return self._weight * expected_age_days(t - self._last, self._rates)


class _NextFetch(_Ranked):
    """Keeps a time of the next fetch of each page."""

    def _begin(self) -> None:
        self._next = np.zeros(self._pages)

    def _rank(self, t: float) -> Floats:
        return -self._next


class Nutch(_NextFetch):
    """Apache Nutch's AdaptiveFetchSchedule, with the values of nutch-default.xml.

    Kept as it is: sync_delta, which lengthens an interval to the time since the last change seen and then fetches
    earlier by a share of it; pages whose interval grows over ``db.fetch.interval.max`` lose their signature, so that
    the visit after it learns nothing.

    Source: org.apache.nutch.crawl.AdaptiveFetchSchedule, AbstractFetchSchedule, CrawlDbReducer.
    """

    _FIRST: Final = 30.0  # days
    _MIN: Final = 60 / 86_400
    _MAX: Final = 365.0
    _DB_MAX: Final = 90.0
    _INC: Final = 0.4
    _DEC: Final = 0.2
    _SYNC: Final = 0.3

    def _begin(self) -> None:
        super()._begin()
        self._interval = np.full(self._pages, self._FIRST)
        self._modified = np.zeros(self._pages)  # 0: not set, so its clock begins at 1
        self._signed = np.zeros(self._pages, bool)

    def pick(self, t: float, k: int, known: Flags) -> Rows:
        """Choose what is due next, after pulling in what is due absurdly late."""
        far = self._next - t > self._DB_MAX
        self._interval[far & (self._interval > self._DB_MAX)] = self._DB_MAX * 0.9
        self._next[far] = t
        return super().pick(t, k, known)

    def _learn(self, t: float, ids: Rows, changed: Flags, first: Flags) -> None:
        now = t + 1.0
        compared = self._signed[ids] & ~first
        found, unmodified = changed & compared, ~changed & compared
        before = self._modified[ids]
        factor = np.select([found, unmodified], [1 - self._DEC, 1 + self._INC], 1.0)
        since = np.where(found | (before <= 0), now, before)
        delta = now - since
        interval = np.maximum(self._interval[ids] * factor, delta)
        # The port of a long division: an offset beyond the longest interval becomes 0.
        offset = np.where(delta * self._SYNC > self._MAX, 0.0, delta * self._SYNC)
        interval = np.clip(interval, self._MIN, self._MAX)
        self._next[ids] = t - offset + interval
        forced = interval > self._DB_MAX
        self._interval[ids] = np.where(forced, self._DB_MAX * 0.9, interval)
        self._modified[ids] = np.where(forced, 0.0, np.where(unmodified, before, since))
        self._signed[ids] = ~forced


class StormCrawler(_NextFetch):
    """Apache StormCrawler's AdaptiveScheduler, with its documented defaults, in whole minutes.

    Source: org.apache.stormcrawler.persistence.AdaptiveScheduler.
    """

    _FIRST: Final = 1_440  # minutes
    _MIN: Final = 60
    _MAX: Final = 20_160

    def _begin(self) -> None:
        super()._begin()
        self._interval = np.full(self._pages, self._FIRST, np.int64)

    def _learn(self, t: float, ids: Rows, changed: Flags, first: Flags) -> None:
        interval = self._interval[ids]
        longer = np.minimum((interval * 1.5).astype(np.int64), self._MAX)
        shorter = (interval * 0.5 + self._MIN * 0.5).astype(np.int64)
        self._interval[ids] = np.where(first, interval, np.where(changed, shorter, longer))
        self._next[ids] = t + self._interval[ids] / 1_440

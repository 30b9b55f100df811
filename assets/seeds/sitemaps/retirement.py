"""The retirement of dated sitemaps: one that stands for a past day or month is not asked for ever."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

from assets.seeds.check import USABLE

SITEMAP_STALE: Final = "sitemap_stale"
MIN_STILL: Final = timedelta(days=180)  # unchanged for this long
MIN_AGE: Final = timedelta(days=30)  # after the period in its name: late entries come in the days after it
_DATED: Final = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<sign>[-_/.]?)(?P<month>0[1-9]|1[0-2])(?:(?P=sign)(?P<day>0[1-9]|[12]\d|3[01]))?(?!\d)"
)


@dataclass(frozen=True, slots=True)
class SitemapSighting:
    """One reading of a sitemap: when, and the digest of its payload; the same bytes name the same pages."""

    read_at: datetime
    payload_digest: str


@dataclass(frozen=True, slots=True)
class PastReadings:
    """What is known of a site's sitemaps from earlier crawls and refreshes."""

    sightings: Mapping[str, Sequence[SitemapSighting]]  # by address, oldest first; those that failed are left out
    resting_since: Mapping[str, datetime]  # those that were retired when they were asked last -> when that was

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Self:
        """Sort rows of ``sitemap_files`` into it."""
        sightings: dict[str, list[SitemapSighting]] = {}
        last: dict[str, Mapping[str, Any]] = {}
        for row in sorted(rows, key=lambda row: row["read_at"]):
            last[row["sitemap_url"]] = row
            if sighting := _sighting(row):
                sightings.setdefault(row["sitemap_url"], []).append(sighting)
        return cls(sightings, {url: row["read_at"] for url, row in last.items() if row["retired"]})

    def retirement(self, url: str, row: Mapping[str, Any]) -> str:
        """Say why a sitemap need not be asked any more now that it was asked once more; as ``retirement``.

        One that could not be read is as it was before.
        """
        sighting = _sighting(row)
        if sighting is None:
            return SITEMAP_STALE if url in self.resting_since else ""
        return retirement(url, [*self.sightings.get(url, ()), sighting], now=row["read_at"])


def retirement(url: str, sightings: Sequence[SitemapSighting], *, now: datetime) -> str:
    """Say why a sitemap need not be asked any more: ``sitemap_stale``, or empty when it must be.

    All of this must hold: its name carries a day or a month, that ended 30 days ago or earlier, the newest readings
    brought one and the same payload, and the first of these lies at least 180 days back. An index or a sitemap without
    a date is never retired: the next new page will be named there.

    Args:
        url: of the sitemap; the last date in it counts.
        sightings: readings of it, oldest first; those that failed are left out.
        now: the present.
    """
    ended_at = _period_end(url)
    if ended_at is None or now - ended_at < MIN_AGE or not sightings:
        return ""
    still_since = sightings[-1].read_at
    for newer, older in zip(reversed(sightings), reversed(sightings[:-1]), strict=False):
        if newer.payload_digest != older.payload_digest:
            break
        still_since = older.read_at
    return SITEMAP_STALE if now - still_since >= MIN_STILL and still_since < sightings[-1].read_at else ""


def _sighting(row: Mapping[str, Any]) -> SitemapSighting | None:
    is_read = row["outcome"] in USABLE and row["payload_digest"]
    return SitemapSighting(row["read_at"], row["payload_digest"]) if is_read else None


def _period_end(url: str) -> datetime | None:
    """Give the end of the day or month that a name carries.

    >>> _period_end("http://e.test/sitemap-2019-01-05.xml")
    datetime.datetime(2019, 1, 6, 0, 0, tzinfo=datetime.timezone.utc)
    >>> _period_end("http://e.test/sitemap-2019-12.xml")
    datetime.datetime(2020, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    >>> _period_end("http://e.test/sitemap-7.xml")
    """
    for match in reversed(list(_DATED.finditer(url))):
        year, month = int(match["year"]), int(match["month"])
        try:
            if match["day"]:
                return datetime(year, month, int(match["day"]), tzinfo=UTC) + timedelta(days=1)
        except ValueError:
            continue  # no such day
        return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return None

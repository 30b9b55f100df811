"""The retirement of dated sitemaps: one that stands for a past day or month is not asked for ever."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

SITEMAP_STALE: Final = "sitemap_stale"
MIN_STILL: Final = timedelta(days=180)  # unchanged for this long
MIN_AGE: Final = timedelta(days=30)  # after the period in its name: late entries come in the days after it
_DATED: Final = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<sign>[-_/.]?)(?P<month>0[1-9]|1[0-2])(?:(?P=sign)(?P<day>0[1-9]|[12]\d|3[01]))?(?!\d)"
)


@dataclass(frozen=True, slots=True)
class SitemapSighting:
    """One reading of a sitemap: when, the digest of its payload, and the entries that were new to us."""

    read_at: datetime
    payload_digest: str
    new_entries: int


def retirement(url: str, sightings: Sequence[SitemapSighting], *, now: datetime) -> str:
    """Say why a sitemap need not be asked any more: ``sitemap_stale``, or empty when it must be.

    All of this must hold: its name carries a day or a month, that ended 30 days ago or earlier, the newest readings
    brought one and the same payload and nothing new, and the first of these lies at least 180 days back. An index
    or a sitemap without a date is never retired: the next new page will be named there.

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
        if newer.payload_digest != older.payload_digest or newer.new_entries:
            break
        still_since = older.read_at
    return SITEMAP_STALE if now - still_since >= MIN_STILL and still_since < sightings[-1].read_at else ""


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

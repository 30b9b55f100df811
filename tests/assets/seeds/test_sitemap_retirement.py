"""When a dated sitemap is not asked any more."""

from datetime import UTC, datetime, timedelta

import pytest

from assets.seeds.sitemaps.retirement import SITEMAP_STALE, SitemapSighting, retirement

NOW = datetime(2026, 1, 2, tzinfo=UTC)
DAILY = "http://e.test/sitemap-2019-01-05.xml"


def still(days: int, *, new_entries: int = 0, digest: str = "same") -> list[SitemapSighting]:
    """Make readings every 30 days until now; the first one finds everything new."""
    times = [NOW - timedelta(days=ago) for ago in range(days, -1, -30)]
    first = SitemapSighting(times[0], digest, 100)
    return [first, *(SitemapSighting(time, digest, new_entries) for time in times[1:])]


@pytest.mark.parametrize(
    "url",
    [
        DAILY,
        "http://e.test/sitemap-2019-01.xml",
        "http://e.test/2019/01/05/sitemap.xml.gz",
        "http://e.test/news_20190105.xml",
        "http://e.test/sitemap.xml?date=2019-01-05",
    ],
)
def test_a_dated_sitemap_that_rests_for_half_a_year_is_retired(url: str) -> None:
    assert retirement(url, still(180), now=NOW) == SITEMAP_STALE


@pytest.mark.parametrize(
    "url",
    [
        "http://e.test/sitemap.xml",
        "http://e.test/sitemap-7.xml",
        "http://e.test/sitemap-20190105123.xml",
        "http://e.test/sitemap-2019-13.xml",
        "http://e.test/sitemap-2025-12-20.xml",
        "http://e.test/sitemap-2026-01.xml",
    ],
)
def test_one_without_a_past_date_is_asked_for_ever(url: str) -> None:
    assert retirement(url, still(720), now=NOW) == ""


@pytest.mark.parametrize(
    "sightings",
    [
        [],
        still(150),
        still(180)[:1],
        still(180, new_entries=1),
        [*still(180), SitemapSighting(NOW, "other", 0)],
        [*still(180), SitemapSighting(NOW, "same", 3)],
        [*still(360, digest="before")[:6], *still(150)],
    ],
    ids=[
        "never read",
        "too short",
        "read once",
        "always something new",
        "changed today",
        "new today",
        "changed lately",
    ],
)
def test_one_that_still_moves_is_asked_on(sightings: list[SitemapSighting]) -> None:
    assert retirement(DAILY, sightings, now=NOW) == ""

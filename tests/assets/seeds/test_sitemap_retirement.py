"""When a dated sitemap is not asked any more."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from assets.seeds.sitemaps.retirement import SITEMAP_STALE, PastReadings, SitemapSighting, retirement

NOW = datetime(2026, 1, 2, tzinfo=UTC)
DAILY = "http://e.test/sitemap-2019-01-05.xml"


def still(days: int, *, digest: str = "same") -> list[SitemapSighting]:
    """Make readings every 30 days until now."""
    times = [NOW - timedelta(days=ago) for ago in range(days, -1, -30)]
    return [SitemapSighting(time, digest) for time in times]


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


def row(days_ago: int, *, digest: str | None = "same", outcome: str = "fetched", retired: str = "") -> dict[str, Any]:
    read_at = NOW - timedelta(days=days_ago)
    facts = {"read_at": read_at, "payload_digest": digest, "outcome": outcome, "retired": retired}
    return {"sitemap_url": DAILY, **facts}


@pytest.mark.parametrize(
    ("past", "newest", "verdict"),
    [
        ([row(200), row(90)], row(0), SITEMAP_STALE),
        ([row(90), row(200)], row(0, outcome="timeout", digest=None), ""),
        ([row(400), row(200, retired=SITEMAP_STALE)], row(0, outcome="timeout", digest=None), SITEMAP_STALE),
        ([row(200, outcome="server_error"), row(90)], row(0), ""),
        ([row(400, retired=SITEMAP_STALE)], row(0, digest="other"), ""),
        ([], row(0), ""),
    ],
    ids=["still", "failed", "failed when retired", "failed before", "alive again", "new"],
)
def test_what_was_read_before_decides_too(past: list[dict[str, Any]], newest: dict[str, Any], verdict: str) -> None:
    assert PastReadings.of(past).retirement(DAILY, newest) == verdict


def test_a_sitemap_rests_since_it_was_asked_last_if_it_was_retired_then() -> None:
    retired = row(30, retired=SITEMAP_STALE)
    assert PastReadings.of([retired, row(60)]).resting_since == {DAILY: NOW - timedelta(days=30)}
    assert PastReadings.of([retired, row(9)]).resting_since == {}


@pytest.mark.parametrize(
    "sightings",
    [
        [],
        still(150),
        still(180)[:1],
        [*still(180), SitemapSighting(NOW, "other")],
        [*still(360, digest="before")[:6], *still(150)],
    ],
    ids=[
        "never read",
        "too short",
        "read once",
        "changed today",
        "changed lately",
    ],
)
def test_one_that_still_moves_is_asked_on(sightings: list[SitemapSighting]) -> None:
    assert retirement(DAILY, sightings, now=NOW) == ""

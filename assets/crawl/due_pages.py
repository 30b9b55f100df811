"""Due pages: what a refresh asks, within what its site may use of the budget."""

import math
from datetime import timedelta
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.site_crawl import SiteCrawl
from assets.fetch.item import Purpose
from assets.recrawl.columns import PageStatus
from assets.recrawl.serving import due_pages, spare_per_day
from assets.schemas.recrawl import KIND_PAGE, KIND_SITEMAP

PAGES_A_REFRESH: Final = 5_000  # RECRAWL: a run takes minutes, so that what becomes due meanwhile need not wait
NEW_SHARE: Final = 0.3  # of a refresh, for pages that nobody has asked yet

# What came in before that without being used is not made up for at once: the requests would stay bunched for ever.
SPARE_SPAN: Final = timedelta(hours=6)

_REFRESH_LAYERS: Final = [layer.name for layer in names.REFRESH_LAYERS]


def due_now(crawl: SiteCrawl) -> pa.Table:
    """Give the pages of a site to ask now, the most valuable first."""
    due = _due(crawl)
    return due.filter(pc.field("kind") == KIND_PAGE)


def due_sitemaps(crawl: SiteCrawl) -> list[str]:
    """Give the addresses of the sitemaps and feeds of a site to ask now."""
    urls: list[str] = _due(crawl).filter(pc.field("kind") == KIND_SITEMAP)["url"].to_pylist()
    return urls


def refresh_budget(crawl: SiteCrawl, layer: names.Layer) -> int:
    """Say how many pages of a layer a refresh may ask."""
    left = min(crawl.settings.max_pages, PAGES_A_REFRESH, _left_today(crawl))
    return left if layer == names.refresh(0) else math.ceil(NEW_SHARE * left)


def _due(crawl: SiteCrawl) -> pa.Table:
    if crawl.due is None:
        tables = crawl.ports.tables
        now = crawl.ports.clock.now()
        site_rows = tables.read(names.T_SITE_SCHEDULE, sites=[crawl.site])
        at_most = refresh_budget(crawl, names.refresh(0))
        fill_to = min(at_most, _spare(crawl, site_rows))
        wanted = pc.field("due_at") <= now
        if fill_to:
            wanted |= pc.field("status") == PageStatus.LIVE.name.lower()
        rows = tables.read(names.T_PAGE_SCHEDULE, sites=[crawl.site], where=wanted)
        if site_rows.num_rows:
            # The schedule knows nothing yet of what was asked since it was made.
            since = pc.field("crawl_id") > site_rows["folded_through"][0].as_py()
            asked = tables.read(names.T_FETCHES, sites=[crawl.site], columns=["origin_key"], where=since)
            # Nor of what was put off until a moment that has not come.
            put_off = tables.read(
                names.T_FETCHES, sites=[crawl.site], columns=["origin_key"], where=pc.field("retry_at") > now
            )
            for left_alone in (asked, put_off):
                rows = rows.filter(pc.invert(pc.is_in(rows["url_key"], left_alone["origin_key"])))
        crawl.due = due_pages(rows, site_rows, now, at_most, fill_to=fill_to)
    return crawl.due


def _spare(crawl: SiteCrawl, site_rows: pa.Table) -> int:
    """Say how many requests of the budget came in since the site was asked last, for pages that are not due."""
    if not site_rows.num_rows:
        return 0
    now = crawl.ports.clock.now()
    lately = (pc.field("requested_at") > now - SPARE_SPAN) & pc.field("status").is_valid()
    rows = crawl.ports.tables.read(names.T_FETCHES, sites=[crawl.site], columns=["requested_at"], where=lately)
    asked = pc.max(rows["requested_at"]).as_py()
    # A clock that was put back finds requests in its future.
    span = SPARE_SPAN if asked is None else max(now - asked, timedelta(0))
    return math.ceil(float(spare_per_day(site_rows)[0]) * (span / timedelta(days=1)))


def _left_today(crawl: SiteCrawl) -> int:
    """Say how many requests of today's budget a site has left: what its refreshes sent in 24 hours is used."""
    tables, now = crawl.ports.tables, crawl.ports.clock.now()
    per_day = tables.read(names.T_SITE_SCHEDULE, sites=[crawl.site], columns=["requests_per_day"])["requests_per_day"]
    if not len(per_day) or math.isinf(per_day[0].as_py()):
        return PAGES_A_REFRESH
    sent = (
        pc.field("layer").isin(_REFRESH_LAYERS)
        & (pc.field("requested_at") > now - timedelta(days=1))
        & pc.field("purpose").isin([Purpose.PAGE.value, Purpose.SITEMAP.value])
        & pc.field("status").is_valid()
    )
    used = tables.read(names.T_FETCHES, sites=[crawl.site], columns=["layer"], where=sent).num_rows
    return max(0, math.floor(float(per_day[0].as_py())) - int(used))

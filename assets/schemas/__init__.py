"""Schemas: the tables through which rooms meet. What a column means and in which unit stands in its metadata.

Every table is partitioned by ``site``. *Append* tables hold facts and page versions and are never rewritten;
*replace* tables are narrow and hold a site's current state.
"""

from typing import Final

import pyarrow as pa

from assets import names
from assets.schemas.columns import UTC_TIME, column
from assets.schemas.content import PAGE_STATE, PAGES
from assets.schemas.crawling import (
    CRAWLS,
    FETCHES,
    FRONTIER,
    HYPERLINK,
    LINKS,
    REFUSALS,
    RESOURCE,
    ROBOTS,
    SEEDS,
    SITEMAP_ENTRIES,
    SITEMAP_FILES,
)
from assets.schemas.mapping import MAP_CHANGES, MAP_HISTORY, MAP_REDIRECTS, MAP_RESOURCES, MAP_SECTIONS
from assets.schemas.recrawl import PAGE_SCHEDULE, PINGS, SITE_SCHEDULE
from assets.schemas.serving import (
    ALIASES,
    CHUNK_STATE,
    DUPLICATE_PATTERNS,
    DUPLICATE_VERDICTS,
    EXACT_DUPLICATES,
    FEED_STATE,
    FINDINGS,
    MIRRORS,
    NEAR_DUPLICATES,
    NEAR_PAIRS,
    SITE_MAP,
)

TABLES: Final[dict[str, pa.Schema]] = {
    names.T_CRAWLS: CRAWLS,
    names.T_SEEDS: SEEDS,
    names.T_ROBOTS: ROBOTS,
    names.T_SITEMAP_FILES: SITEMAP_FILES,
    names.T_SITEMAP_ENTRIES: SITEMAP_ENTRIES,
    names.T_FRONTIER: FRONTIER,
    names.T_REFUSALS: REFUSALS,
    names.T_FETCHES: FETCHES,
    names.T_LINKS: LINKS,
    names.T_PAGES: PAGES,
    names.T_PAGE_STATE: PAGE_STATE,
    names.T_ALIASES: ALIASES,
    names.T_EXACT_DUPLICATES: EXACT_DUPLICATES,
    names.T_NEAR_PAIRS: NEAR_PAIRS,
    names.T_NEAR_DUPLICATES: NEAR_DUPLICATES,
    names.T_DUPLICATE_VERDICTS: DUPLICATE_VERDICTS,
    names.T_DUPLICATE_PATTERNS: DUPLICATE_PATTERNS,
    names.T_MIRRORS: MIRRORS,
    names.T_FEED_STATE: FEED_STATE,
    names.T_CHUNK_STATE: CHUNK_STATE,
    names.T_SITE_MAP: SITE_MAP,
    names.T_FINDINGS: FINDINGS,
    names.T_MAP_RESOURCES: MAP_RESOURCES,
    names.T_MAP_REDIRECTS: MAP_REDIRECTS,
    names.T_MAP_SECTIONS: MAP_SECTIONS,
    names.T_MAP_HISTORY: MAP_HISTORY,
    names.T_MAP_CHANGES: MAP_CHANGES,
    names.T_PAGE_SCHEDULE: PAGE_SCHEDULE,
    names.T_SITE_SCHEDULE: SITE_SCHEDULE,
    names.T_PINGS: PINGS,
}

__all__ = [
    "ALIASES",
    "CHUNK_STATE",
    "CRAWLS",
    "DUPLICATE_PATTERNS",
    "DUPLICATE_VERDICTS",
    "EXACT_DUPLICATES",
    "FEED_STATE",
    "FETCHES",
    "FINDINGS",
    "FRONTIER",
    "HYPERLINK",
    "LINKS",
    "MAP_CHANGES",
    "MAP_HISTORY",
    "MAP_REDIRECTS",
    "MAP_RESOURCES",
    "MAP_SECTIONS",
    "MIRRORS",
    "NEAR_DUPLICATES",
    "NEAR_PAIRS",
    "PAGES",
    "PAGE_SCHEDULE",
    "PAGE_STATE",
    "PINGS",
    "REFUSALS",
    "RESOURCE",
    "ROBOTS",
    "SEEDS",
    "SITEMAP_ENTRIES",
    "SITEMAP_FILES",
    "SITE_MAP",
    "SITE_SCHEDULE",
    "TABLES",
    "UTC_TIME",
    "column",
]

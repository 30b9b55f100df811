"""What a sitemap or feed says, as values, and the limits that sitemaps.org sets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

MAX_SITEMAP_BYTES: Final = 50 * 1024 * 1024  # uncompressed
MAX_SITEMAP_URLS: Final = 50_000


class SitemapTrouble(StrEnum):
    """Why reading stopped early, or why nothing was read."""

    EMPTY = "empty"
    HTML = "html"
    NOT_A_SITEMAP = "not_a_sitemap"
    TRUNCATED = "truncated"
    BROKEN_GZIP = "broken_gzip"
    BROKEN_XML = "broken_xml"
    ENTITY_REFUSED = "entity_refused"  # a DTD brings its own text; nothing of it is fetched or expanded
    TOO_LARGE = "too_large"
    TOO_MANY_URLS = "too_many_urls"


class ChangeFrequency(StrEnum):
    """How often the publisher says that a page changes."""

    ALWAYS = "always"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One page as the publisher announces it."""

    url: str
    lastmod: datetime | None = None  # as stated: it may lie in the future
    priority: float | None = None  # 0..1
    changefreq: ChangeFrequency | None = None


@dataclass(frozen=True, slots=True)
class SitemapReading:
    """What a sitemap says, in its order, and a ``SitemapTrouble`` (else empty) when that may not be all.

    ``alternates`` are the hreflang versions of its pages, less those that it has as entries. Images and videos are no
    pages and appear nowhere.
    """

    entries: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    invalid_lastmods: int = 0  # entries whose date is none
    reason: str = ""
    sitemap_lastmods: Mapping[str, datetime] = field(default_factory=dict)  # of the sitemaps that an index dates

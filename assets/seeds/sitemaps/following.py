"""The walk through a site's sitemaps: which file is asked next, which entries of it count, and why it ends."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from assets.seeds.sitemaps.entries import SitemapEntry, SitemapReading, SitemapTrouble
from assets.url.host import host_key
from assets.url.parse import parse, split_web_address

MAX_SITEMAP_LEVELS: Final = 3  # an index, its indexes, their sitemaps
MAX_SITEMAP_FILES: Final = 100
MAX_SITEMAP_ENTRIES: Final = 500_000  # of all files together; no site is crawled with so many pages at once


class NamedBy(StrEnum):
    """Who says that there is a sitemap."""

    ROBOTS = "robots"
    USUAL_PLACE = "usual_place"  # nobody; /sitemap.xml is worth one request
    INDEX = "index"


class WalkProblem(StrEnum):
    """Why a sitemap was not asked, or an entry not taken."""

    NOT_AN_ADDRESS = "not_an_address"
    TOO_DEEP = "too_deep"
    TOO_MANY_FILES = "too_many_files"
    TOO_MANY_ENTRIES = "too_many_entries"
    OTHER_HOST = "other_host"
    OUTSIDE_LOCATION = "outside_location"


@dataclass(frozen=True, slots=True)
class ListedSitemap:
    """A sitemap to ask. ``by_robots``: a robots.txt names it, or the index above it."""

    url: str
    named_by: NamedBy
    level: int = 1  # 1 for those that no index names
    found_on: str = ""  # the index, or the robots.txt's host
    by_robots: bool = False
    lastmod: datetime | None = None  # as its index has it


@dataclass(frozen=True, slots=True)
class TakenEntries:
    """What counts of one file: its pages, each once in it, and how many were left out, by ``WalkProblem``."""

    entries: tuple[SitemapEntry, ...] = ()
    alternates: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)


class SitemapWalk:
    """Asks in waves, level by level; each address is asked once, and each final address read once.

    ``problems`` says in short sentences what was not asked, read or taken, and why.

    The cross-host rule of sitemaps.org: a sitemap speaks for its own host. One that a robots.txt names, itself or
    through an index, may speak for other hosts too; the site's scope judges those as it judges every link.
    """

    def __init__(self, by_robots: Iterable[str], usual_places: Iterable[str], *, strict_location: bool = False) -> None:
        """Start a walk.

        Args:
            by_robots: Sitemap lines, absolute.
            usual_places: where to look when there are none.
            strict_location: count only entries under the folder of their sitemap, as sitemaps.org has it; many
                publishers keep theirs elsewhere.
        """
        self._strict_location = strict_location
        self._asked: set[str] = set()
        self._read: set[str] = set()
        self._taken = 0
        self._counts: Counter[str] = Counter()
        self._told: list[str] = []
        self._resting_since: Mapping[str, datetime] = {}
        self._left_out: dict[str, None] = {}
        named = [ListedSitemap(url, NamedBy.ROBOTS, by_robots=True, found_on=host_key(url)) for url in by_robots]
        self._next = named or [ListedSitemap(url, NamedBy.USUAL_PLACE) for url in usual_places]

    @property
    def files(self) -> int:
        """Sitemaps asked so far."""
        return len(self._asked)

    @property
    def problems(self) -> tuple[str, ...]:
        """What was not asked, read or taken, and why."""
        return (*self._told, *(f"{reason}: {count}" for reason, count in sorted(self._counts.items())))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sitemaps that were not asked, for they are retired."""
        return tuple(self._left_out)

    def leave_out(self, resting_since: Mapping[str, datetime]) -> None:
        """Do not ask retired sitemaps, unless an index says that one changed after it was read last.

        Args:
            resting_since: when each was read last.
        """
        self._resting_since = {parse(url) or url: read_at for url, read_at in resting_since.items()}

    def next_wave(self) -> list[ListedSitemap]:
        """Give the sitemaps to ask now; none when the walk is over."""
        wave: list[ListedSitemap] = []
        for listed in self._next:
            url = parse(listed.url) or ""
            parts = split_web_address(url)
            if url in self._asked or url in self._read:
                continue
            if parts is None:
                self._told.append(f"{listed.url}: {WalkProblem.NOT_AN_ADDRESS}")
            elif parts[2].partition("?")[0] == "/robots.txt":
                # Some list it in itself. It has been asked, and is none.
                self._told.append(f"{url}: {SitemapTrouble.NOT_A_SITEMAP}")
                self._read.add(url)
            elif (read_at := self._resting_since.get(url)) and not (listed.lastmod and listed.lastmod > read_at):
                self._left_out[url] = None
            elif listed.level > MAX_SITEMAP_LEVELS:
                self._counts[WalkProblem.TOO_DEEP] += 1
            elif len(self._asked) >= MAX_SITEMAP_FILES:
                self._counts[WalkProblem.TOO_MANY_FILES] += 1
            else:
                self._asked.add(url)
                wave.append(replace(listed, url=url))
        self._next = []
        return wave

    def is_unread(self, final_url: str) -> bool:
        """Say whether what lies at an address, redirects followed, is still to be read; from now on it is not."""
        is_unread = final_url not in self._read
        self._read.add(final_url)
        return is_unread

    def fail(self, listed: ListedSitemap, outcome: str, redirect_url: str | None = None) -> None:
        """Take that a sitemap could not be had.

        That nothing lies at the usual place is no problem, nor is a redirect to a sitemap that is asked anyway.
        """
        if listed.named_by is not NamedBy.USUAL_PLACE and redirect_url not in self._asked | self._read:
            self._told.append(f"{listed.url}: {outcome}")

    def take(self, listed: ListedSitemap, final_url: str, reading: SitemapReading) -> TakenEntries:
        """Take what a sitemap says: queue the sitemaps it names, give the entries that count."""
        if reading.reason:
            self._told.append(f"{listed.url}: {reading.reason}")
        homes = {_authority(listed.url), _authority(final_url)}
        dropped: Counter[str] = Counter()

        def counts(url: str) -> bool:
            if not listed.by_robots and _authority(url) not in homes:
                dropped[WalkProblem.OTHER_HOST] += 1
                return False
            if self._strict_location and not is_under(url, final_url):
                dropped[WalkProblem.OUTSIDE_LOCATION] += 1
                return False
            if self._taken >= MAX_SITEMAP_ENTRIES:
                dropped[WalkProblem.TOO_MANY_ENTRIES] += 1
                return False
            self._taken += 1
            return True

        once: dict[str, SitemapEntry] = {}
        for entry in reading.entries:
            once.setdefault(entry.url, entry)
        entries = tuple(entry for entry in once.values() if counts(entry.url))
        alternates = tuple(url for url in reading.alternates if counts(url))
        child = ListedSitemap("", NamedBy.INDEX, listed.level + 1, found_on=final_url, by_robots=listed.by_robots)
        for url in dict.fromkeys(reading.sitemaps):
            if listed.by_robots or _authority(url) in homes:
                self._next.append(replace(child, url=url, lastmod=reading.sitemap_lastmods.get(url)))
            else:
                dropped[WalkProblem.OTHER_HOST] += 1
        self._counts.update(dropped)
        return TakenEntries(entries, alternates, dict(dropped))


def is_under(url: str, sitemap_url: str) -> bool:
    """Say whether an address lies in or under the folder of its sitemap, the strict rule of sitemaps.org.

    >>> is_under("http://e.test/a/b", "http://e.test/a/s.xml"), is_under("http://e.test/b", "http://e.test/a/s.xml")
    (True, False)
    """
    return url.startswith(sitemap_url.partition("?")[0].rpartition("/")[0] + "/")


def _authority(url: str) -> str:
    """Give host and port; http or https, with or without www, are one publisher."""
    parts = split_web_address(url)
    return host_key(url).partition("://")[2].removeprefix("www.") if parts else ""

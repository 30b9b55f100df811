"""The sitemap part of the seed check: a site's sitemaps are asked like any page, and what they say becomes rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.crawl_log import CrawlKind
from assets.crawl.layer_fetch import LayerFetch
from assets.crawl.site_crawl import SiteCrawl
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.request import MAX_SITEMAP_BYTES
from assets.markup.decoding import decode_body
from assets.schemas import SITEMAP_ENTRIES, SITEMAP_FILES
from assets.seeds.check import USABLE
from assets.seeds.lastmod import DatedPage, LastmodCounts, LastmodTrust, believable, judge_lastmod, moves
from assets.seeds.sitemaps.entries import SitemapEntry, SitemapReading
from assets.seeds.sitemaps.following import ListedSitemap, SitemapWalk, TakenEntries, WalkProblem
from assets.seeds.sitemaps.reading import parse_sitemap
from assets.seeds.sitemaps.retirement import PastReadings
from assets.url.host import host_key
from assets.url.key import url_key
from assets.warc.reading import read_body


@dataclass(frozen=True, slots=True)
class SitemapTally:
    """What a site's sitemaps brought."""

    files: int = 0
    entries: int = 0
    problems: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()  # sitemaps that were not asked, or will not be
    lastmods: LastmodCounts = field(default_factory=LastmodCounts)
    trust: LastmodTrust = LastmodTrust.UNKNOWN


def sitemaps_of_seeds(seeds: Sequence[Mapping[str, Any]]) -> SitemapWalk:
    """Begin with the sitemaps that the robots.txt of the usable seeds name, or else those at the usual place.

    Args:
        seeds: rows of the ``seeds`` table.
    """
    usable = [row for row in seeds if row["usable"]]
    return SitemapWalk(
        dict.fromkeys(url for row in usable for url in row["sitemaps"]),
        dict.fromkeys(f"{host_key(row['final_url'])}/sitemap.xml" for row in usable),
    )


async def read_sitemaps(crawl: SiteCrawl, fetch: LayerFetch, walk: SitemapWalk) -> SitemapTally:
    """Read sitemaps and all that they lead to.

    Args:
        crawl: the site's.
        fetch: of the layer that asks for them.
        walk: where to begin.
    """
    past = await crawl.to_thread(_past_readings, crawl)
    walk.leave_out(past.resting_since)
    rows = _SitemapRows(crawl, past)
    while wave := walk.next_wave():
        await fetch.run([_sitemap_item(crawl, fetch.layer, listed.url) for listed in wave])
        for listed in wave:
            await crawl.to_thread(_take, crawl, walk, rows, listed, fetch.ends[listed.url])
    return await crawl.to_thread(_tally, crawl, walk, rows)


class _SitemapRows:
    """Rows to be written: entries as columns, each url_key once."""

    def __init__(self, crawl: SiteCrawl, past: PastReadings) -> None:
        self._crawl = crawl
        self._past = past
        self._common = {"site": crawl.site, "crawl_id": crawl.crawl_id}
        self._now = crawl.ports.clock.now()
        self._keys: set[str] = set()
        self._entries: list[pa.Table] = []
        self._alternates: dict[str, str] = {}  # address -> the sitemap that names it
        self._files: list[dict[str, Any]] = []

    def add(
        self, listed: ListedSitemap, end: Mapping[str, Any], reading: SitemapReading | None, taken: TakenEntries | None
    ) -> None:
        """Take a file with what counts of it."""
        reading, taken = reading or SitemapReading(), taken or TakenEntries()
        for url in taken.alternates:
            self._alternates.setdefault(url, listed.url)
        self._add_entries(taken.entries, listed.url)
        dated = [entry.lastmod for entry in reading.entries if entry.lastmod]
        row = {"read_at": end["requested_at"], "outcome": end["outcome"], "payload_digest": end.get("payload_digest")}
        row["sitemap_url"] = listed.url
        self._files.append(
            {
                **self._common,
                **row,
                "retired": self._past.retirement(listed.url, row),
                "final_url": end["url"],
                "named_by": listed.named_by.value,
                "found_on": listed.found_on,
                "level": listed.level,
                "reason": str(reading.reason) or end["reason"],
                "entries": len(taken.entries),
                "sitemaps": len(reading.sitemaps),
                "other_host": taken.dropped.get(WalkProblem.OTHER_HOST, 0),
                "lastmods": len(dated) + reading.invalid_lastmods,
                "invalid_lastmods": reading.invalid_lastmods,
                "future_lastmods": sum(believable(lastmod, now=self._now) is None for lastmod in dated),
            }
        )

    def files(self) -> pa.Table:
        """Give the rows of ``sitemap_files``."""
        return pa.Table.from_pylist(self._files, schema=SITEMAP_FILES)

    def entries(self) -> pa.Table:
        """Give the rows of ``sitemap_entries``; language versions that no sitemap lists come last."""
        for url, sitemap_url in self._alternates.items():
            self._add_entries([SitemapEntry(url)], sitemap_url)
        self._alternates.clear()
        return pa.concat_tables([SITEMAP_ENTRIES.empty_table(), *self._entries])

    def carry_over(self, entries: pa.Table) -> None:
        """Take the entries of sitemaps that were not asked, as they were read last."""
        rows: list[dict[str, Any]] = []
        for row in sorted(entries.to_pylist(), key=lambda row: (row["crawl_id"], row["url_key"]), reverse=True):
            if row["url_key"] not in self._keys:
                self._keys.add(row["url_key"])
                rows.append({**row, **self._common})
        self._entries.append(pa.Table.from_pylist(rows, schema=SITEMAP_ENTRIES))

    def _add_entries(self, entries: Sequence[SitemapEntry], sitemap_url: str) -> None:
        rows: list[dict[str, Any]] = []
        for entry in entries:
            key = url_key(entry.url, self._crawl.key_rules)
            if key in self._keys:
                continue
            self._keys.add(key)
            rows.append(
                {
                    **self._common,
                    "sitemap_url": sitemap_url,
                    "url": entry.url,
                    "url_key": key,
                    "lastmod": believable(entry.lastmod, now=self._now),
                    "changefreq": entry.changefreq.value if entry.changefreq else None,
                    "sitemap_priority": entry.priority,
                }
            )
        if rows:
            self._entries.append(pa.Table.from_pylist(rows, schema=SITEMAP_ENTRIES))


def _sitemap_item(crawl: SiteCrawl, layer: str, url: str) -> FetchItem:
    return FetchItem(
        site=crawl.site,
        layer=layer,
        purpose=Purpose.SITEMAP,
        url=url,
        url_key=url_key(url, crawl.key_rules),
        host_key=host_key(url),
        origin_key=url,
    )


def _take(
    crawl: SiteCrawl, walk: SitemapWalk, rows: _SitemapRows, listed: ListedSitemap, end: Mapping[str, Any]
) -> None:
    reading, taken = None, None
    is_unread = walk.is_unread(end["url"])
    if end["outcome"] not in USABLE or not end.get("body_warc_file"):
        walk.fail(listed, end["outcome"], end.get("redirect_url"))
    elif is_unread:
        reading = _stored_sitemap(crawl, end)
        taken = walk.take(listed, end["url"], reading)
    rows.add(listed, end, reading, taken)


def _stored_sitemap(crawl: SiteCrawl, end: Mapping[str, Any]) -> SitemapReading:
    stored = read_body(crawl.ports.objects, end["body_warc_file"], end["body_warc_offset"], end["body_warc_bytes"])
    coding = stored.header("Content-Encoding")
    body = stored.body
    if coding and "gzip" not in coding.lower():  # gzip is undone piece by piece, in as many layers as there are
        body = decode_body(body, coding, max_bytes=MAX_SITEMAP_BYTES + 1).data
    return parse_sitemap(body, end["url"])


def _past_readings(crawl: SiteCrawl) -> PastReadings:
    # What this crawl itself has read is read again when it was killed before it wrote that down.
    rows = crawl.ports.tables.read(
        names.T_SITEMAP_FILES,
        sites=[crawl.site],
        columns=["sitemap_url", "read_at", "outcome", "payload_digest", "retired"],
        where=pc.field("crawl_id") < crawl.crawl_id,
    )
    return PastReadings.of(rows.to_pylist())


def _entries_before(crawl: SiteCrawl, sitemaps: Sequence[str]) -> pa.Table:
    """Give what sitemaps said when they were read last."""
    entries = crawl.ports.tables.read(
        names.T_SITEMAP_ENTRIES,
        sites=[crawl.site],
        where=(pc.field("crawl_id") < crawl.crawl_id) & pc.field("sitemap_url").isin(list(sitemaps)),
    )
    newest = entries.group_by("sitemap_url").aggregate([("crawl_id", "max")])
    newest = newest.rename_columns(["sitemap_url", "crawl_id"])
    return entries.join(newest, ["sitemap_url", "crawl_id"], join_type="left semi").select(SITEMAP_ENTRIES.names)


def _tally(crawl: SiteCrawl, walk: SitemapWalk, rows: _SitemapRows) -> SitemapTally:
    # A page that only a retired sitemap names belongs to the site as before; a refresh asks pages that are due.
    if walk.left_out and crawl.kind is CrawlKind.CRAWL:
        rows.carry_over(_entries_before(crawl, walk.left_out))
    files, entries = rows.files(), rows.entries()
    # A run that was killed between the two tables, or before the stage was marked, wrote the same rows.
    for table, made in ((names.T_SITEMAP_ENTRIES, entries), (names.T_SITEMAP_FILES, files)):
        if not crawl.rows(table, ["url" if table == names.T_SITEMAP_ENTRIES else "sitemap_url"]).num_rows:
            crawl.ports.tables.append(table, made)
    counts = replace(
        moves(*_dated_pages_before(crawl)),
        stated=pc.sum(files["lastmods"]).as_py() or 0,
        invalid=pc.sum(files["invalid_lastmods"]).as_py() or 0,
        future=pc.sum(files["future_lastmods"]).as_py() or 0,
    )
    now_retired = files.filter(pc.not_equal(files["retired"], ""))["sitemap_url"].to_pylist()
    retired = tuple(dict.fromkeys([*walk.left_out, *now_retired]))
    return SitemapTally(walk.files, entries.num_rows, walk.problems, retired, counts, judge_lastmod(counts))


def _dated_pages_before(crawl: SiteCrawl) -> tuple[dict[str, DatedPage], dict[str, DatedPage]]:
    """Give what the last two crawls with sitemaps knew of each dated page, the older one first."""
    tables = crawl.ports.tables
    columns = ["crawl_id", "url_key", "lastmod"]
    entries = tables.read(names.T_SITEMAP_ENTRIES, sites=[crawl.site], columns=columns)
    entries = entries.filter(pc.is_valid(entries["lastmod"]))
    crawl_ids = sorted(found for found in set(entries["crawl_id"].to_pylist()) if found < crawl.crawl_id)[-2:]
    if len(crawl_ids) < 2:
        return {}, {}
    older, newer = (_dated_pages(crawl, entries, crawl_id) for crawl_id in crawl_ids)
    return older, newer


def _dated_pages(crawl: SiteCrawl, entries: pa.Table, crawl_id: str) -> dict[str, DatedPage]:
    final = (pc.field("crawl_id") == crawl_id) & (pc.field("purpose") == Purpose.PAGE.value) & pc.field("is_final")
    fetches = crawl.ports.tables.read(
        names.T_FETCHES,
        sites=[crawl.site],
        columns=["crawl_id", "purpose", "is_final", "origin_key", "payload_digest"],
        where=final,
    )
    digests = dict(zip(fetches["origin_key"].to_pylist(), fetches["payload_digest"].to_pylist(), strict=True))
    own = entries.filter(pc.equal(entries["crawl_id"], crawl_id))
    dated = zip(own["url_key"].to_pylist(), own["lastmod"].to_pylist(), strict=True)
    return {key: DatedPage(lastmod, digests.get(key)) for key, lastmod in dated}

"""The seed check stage: every seed is asked, its robots.txt and sitemaps are read. What is fetched is kept.

The capture of a seed belongs to the crawl (layer ``seeds``): depth 0 does not ask for it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.layer_fetch import LayerFetch
from assets.crawl.robots_book import RobotsBook
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.derived import CheckResult
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.request import MAX_SITEMAP_BYTES
from assets.fetch.robots import RobotsVerdict
from assets.markup.decoding import decode_body
from assets.schemas import SEEDS, SITEMAP_ENTRIES
from assets.seeds.check import USABLE, SeedGroup, seed_row, unusable_sentence
from assets.seeds.sitemap import SitemapReading, parse_sitemap
from assets.url.host import host_key
from assets.url.key import url_key
from assets.warc.reading import read_body

NO_USABLE_SEED: Final = "no_usable_seed"
SEEDS_USABLE: Final = "seeds_usable"
MAX_SITEMAP_FILES: Final = 100
SITEMAP_WAVES: Final = 3  # an index, its indexes, their sitemaps


@dataclass(slots=True)
class _SitemapTally:
    files: int = 0
    entries: int = 0
    reasons: tuple[str, ...] = ()


async def seed_check(crawl: SiteCrawl, groups: Sequence[SeedGroup]) -> StageResult:
    """Check the seeds of a site, and read its sitemaps when one of them is usable."""
    if not await crawl.to_thread(crawl.is_done, names.SEED_CHECK):
        book = await crawl.to_thread(robots_book, crawl)
        await crawl.to_thread(crawl.load_history)
        fetch = LayerFetch(crawl, names.SEED_LAYER, known=set(), robots=book)
        await fetch.resume(names.SEED_LAYER)
        rows = await _ask_seeds(crawl, fetch, groups, book)
        tally = _SitemapTally()
        if any(row["usable"] for row in rows) and crawl.settings.max_depth > 0:
            tally = await _read_sitemaps(crawl, fetch, rows)
        table = pa.Table.from_pylist(
            [{"site": crawl.site, "crawl_id": crawl.crawl_id, **row} for row in rows], schema=SEEDS
        )
        await crawl.to_thread(crawl.ports.tables.append, names.T_SEEDS, table)
        usable = any(row["usable"] for row in rows)
        await crawl.to_thread(
            crawl.mark,
            names.SEED_CHECK,
            outcome="ok" if usable else NO_USABLE_SEED,
            reason=unusable_sentence(rows),
            rows_in=len(groups),
            rows_out=sum(row["usable"] for row in rows),
        )
        return _result(rows, tally)
    return _result((await crawl.to_thread(crawl.rows, names.T_SEEDS)).to_pylist(), None)


def robots_book(crawl: SiteCrawl) -> RobotsBook:
    """Load the robots rules that are still fresh.

    That a file could not be had is kept for the audit only: the next run asks again.
    """
    fresh = pc.field("expires_at") > pa.scalar(crawl.ports.clock.now())
    known = pc.field("verdict") != RobotsVerdict.DISALLOW_ALL.value
    stored = crawl.ports.tables.read(names.T_ROBOTS, sites=[crawl.site], where=fresh & known)
    return RobotsBook(crawl.site, stored, unreachable=crawl.settings.robots_unreachable)


def item_for(crawl: SiteCrawl, layer: str, purpose: Purpose, url: str) -> FetchItem:
    """Make the item of an address that is asked for its own sake."""
    key = url_key(url, crawl.key_rules)
    return FetchItem(
        site=crawl.site,
        layer=layer,
        purpose=purpose,
        url=url,
        url_key=key,
        host_key=host_key(url),
        origin_key=key if purpose is Purpose.PAGE else url,
        validators=crawl.validators(key, url) if purpose is Purpose.PAGE else None,
    )


async def _ask_seeds(
    crawl: SiteCrawl, fetch: LayerFetch, groups: Sequence[SeedGroup], book: RobotsBook
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    open_groups = list(groups)
    for turn in range(max((len(group.urls) for group in groups), default=0)):
        asked = [group for group in open_groups if turn < len(group.urls)]
        items = [item_for(crawl, names.SEED_LAYER, Purpose.PAGE, group.urls[turn]) for group in asked]
        await fetch.run(items)
        for group, item in zip(asked, items, strict=True):
            found = book.sitemaps(item.host_key)
            row = seed_row(item.url, fetch.ends[item.origin_key], sitemaps=found, checked_at=crawl.ports.clock.now())
            if row["usable"] or turn + 1 == len(group.urls):
                rows.append(row)
                open_groups.remove(group)
    return rows


async def _read_sitemaps(crawl: SiteCrawl, fetch: LayerFetch, rows: Sequence[dict[str, Any]]) -> _SitemapTally:
    usable = [row for row in rows if row["usable"]]
    wave = list(dict.fromkeys(url for row in usable for url in row["sitemaps"]))
    # Without a Sitemap line, the usual place is worth one request.
    wave = wave or list(dict.fromkeys(f"{host_key(row['final_url'])}/sitemap.xml" for row in usable))
    seen: set[str] = set()
    entries: dict[str, dict[str, Any]] = {}
    reasons: list[str] = []
    for _ in range(SITEMAP_WAVES):
        wave = [url for url in wave if url not in seen][: MAX_SITEMAP_FILES - len(seen)]
        if not wave:
            break
        seen.update(wave)
        await fetch.run([item_for(crawl, names.SEED_LAYER, Purpose.SITEMAP, url) for url in wave])
        following: list[str] = []
        for url in wave:
            end = fetch.ends[url]
            if end["outcome"] not in USABLE or not end.get("body_warc_file"):
                continue
            reading = await crawl.to_thread(_stored_sitemap, crawl, end)
            following += reading.sitemaps
            if reading.reason:
                reasons.append(f"{url}: {reading.reason}")
            for entry in reading.entries:
                key = url_key(entry.url, crawl.key_rules)
                entries.setdefault(
                    key,
                    {
                        "site": crawl.site,
                        "crawl_id": crawl.crawl_id,
                        "sitemap_url": url,
                        "url": entry.url,
                        "url_key": key,
                        "lastmod": entry.lastmod,
                        "sitemap_priority": entry.priority,
                    },
                )
        wave = list(dict.fromkeys(following))
    table = pa.Table.from_pylist(list(entries.values()), schema=SITEMAP_ENTRIES)
    await crawl.to_thread(crawl.ports.tables.append, names.T_SITEMAP_ENTRIES, table)
    return _SitemapTally(len(seen), len(entries), tuple(reasons))


def _stored_sitemap(crawl: SiteCrawl, end: Mapping[str, Any]) -> SitemapReading:
    stored = read_body(crawl.ports.objects, end["body_warc_file"], end["body_warc_offset"], end["body_warc_bytes"])
    body = decode_body(stored.body, stored.header("Content-Encoding"), max_bytes=MAX_SITEMAP_BYTES).data
    return parse_sitemap(body, end["url"])


def _result(rows: Sequence[dict[str, Any]], tally: _SitemapTally | None) -> StageResult:
    usable = [row for row in rows if row["usable"]]
    reason = unusable_sentence(rows)
    listing = "\n".join(
        f"| {row['seed_url']} | {row['outcome']} | {row['final_url']} | {row['reason']} |" for row in rows
    )
    metadata: dict[str, Any] = {
        "seeds": dg.MetadataValue.md(f"| seed | outcome | ends at | why not |\n|---|---|---|---|\n{listing}"),
        "usable_seeds": len(usable),
    }
    if tally is not None:
        metadata |= {
            "sitemap_files": tally.files,
            "sitemap_entries": tally.entries,
            "sitemap_problems": dg.MetadataValue.json(list(tally.reasons)),
        }
    check = CheckResult(
        SEEDS_USABLE,
        passed=bool(usable) and len(usable) == len(rows),
        description=reason or "every seed can be fetched",
        severity=dg.AssetCheckSeverity.WARN if usable else dg.AssetCheckSeverity.ERROR,
    )
    return StageResult(
        outcome="ok" if usable else NO_USABLE_SEED,
        reason=reason,
        rows_in=len(rows),
        rows_out=len(usable),
        metadata=metadata,
        checks=(check,),
    )

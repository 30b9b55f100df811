"""The seed check stage: every seed is asked, its robots.txt and sitemaps are read. What is fetched is kept.

The capture of a seed belongs to the crawl (layer ``seeds``): depth 0 does not ask for it again.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.layer_fetch import LayerFetch
from assets.crawl.robots_book import RobotsBook
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.crawl.sitemap_stage import SitemapTally, read_sitemaps, sitemaps_of_seeds
from assets.derived import CheckResult
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.robots import RobotsVerdict
from assets.schemas import SEEDS
from assets.seeds.check import SeedGroup, seed_row, unusable_sentence
from assets.url.host import host_key
from assets.url.key import url_key

NO_USABLE_SEED: Final = "no_usable_seed"
SEEDS_USABLE: Final = "seeds_usable"
MADE_UP: Final = "/no-such-page-"  # begins the path that no site has


async def seed_check(crawl: SiteCrawl, groups: Sequence[SeedGroup]) -> StageResult:
    """Check the seeds of a site, and read its sitemaps when one of them is usable."""
    if not await crawl.to_thread(crawl.is_done, names.SEED_CHECK):
        book = await crawl.to_thread(robots_book, crawl)
        await crawl.to_thread(crawl.load_history)
        fetch = LayerFetch(crawl, names.SEED_LAYER, known=set(), robots=book)
        await fetch.resume()
        rows = await _ask_seeds(crawl, fetch, groups, book)
        tally = SitemapTally()
        if any(row["usable"] for row in rows) and crawl.settings.max_depth > 0:
            tally = await read_sitemaps(crawl, fetch, sitemaps_of_seeds(rows))
            await fetch.run(_probes(crawl, rows))
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
    """Give the robots book of a walk, opened once: the newest good answer of each host, stale ones too.

    That a file could not be had is kept in the table for the audit only: the next run asks again.
    """
    if crawl.robots is None:
        read, good = crawl.ports.tables.read, pc.field("verdict") != RobotsVerdict.DISALLOW_ALL.value
        times = read(names.T_ROBOTS, sites=[crawl.site], columns=["host_key", "fetched_at"], where=good)
        newest = times.group_by("host_key").aggregate([("fetched_at", "max")])["fetched_at_max"].combine_chunks()
        stored = read(names.T_ROBOTS, sites=[crawl.site], where=good & pc.field("fetched_at").isin(newest))
        crawl.robots = RobotsBook(crawl.site, stored, unreachable=crawl.settings.robots_unreachable)
    return crawl.robots


def _seed_item(crawl: SiteCrawl, url: str) -> FetchItem:
    key = url_key(url, crawl.key_rules)
    return FetchItem(
        site=crawl.site,
        layer=names.SEED_LAYER,
        purpose=Purpose.PAGE,
        url=url,
        url_key=key,
        host_key=host_key(url),
        origin_key=key,
        validators=crawl.validators(key, url),
    )


def _probes(crawl: SiteCrawl, rows: Sequence[dict[str, Any]]) -> list[FetchItem]:
    """Ask each host of a usable seed for an address that nobody made: what it shows where there is no page."""
    hosts = dict.fromkeys(host_key(row["final_url"]) for row in rows if row["usable"])
    name = hashlib.sha256(f"{crawl.site} {crawl.crawl_id}".encode()).hexdigest()[:16]
    urls = [f"{host}{MADE_UP}{name}" for host in hosts]
    return [
        FetchItem(
            site=crawl.site,
            layer=names.SEED_LAYER,
            purpose=Purpose.PROBE,
            url=url,
            url_key=url,
            host_key=host_key(url),
            origin_key=url,
        )
        for url in urls
    ]


async def _ask_seeds(
    crawl: SiteCrawl, fetch: LayerFetch, groups: Sequence[SeedGroup], book: RobotsBook
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    open_groups = list(groups)
    for turn in range(max((len(group.urls) for group in groups), default=0)):
        asked = [group for group in open_groups if turn < len(group.urls)]
        items = [_seed_item(crawl, group.urls[turn]) for group in asked]
        await fetch.run(items)
        for group, item in zip(asked, items, strict=True):
            end = fetch.ends[item.origin_key]
            # A seed that leads to another host of the site: the robots.txt of either may name sitemaps.
            hosts = dict.fromkeys([item.host_key, host_key(end["url"])])
            found = dict.fromkeys(url for host in hosts for url in book.sitemaps(host))
            row = seed_row(item.url, end, sitemaps=list(found), checked_at=crawl.ports.clock.now())
            if row["usable"] or turn + 1 == len(group.urls):
                rows.append(row)
                open_groups.remove(group)
    return rows


def _result(rows: Sequence[dict[str, Any]], tally: SitemapTally | None) -> StageResult:
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
            "sitemaps_retired": dg.MetadataValue.json(list(tally.retired)),
            "sitemap_problems": dg.MetadataValue.json(list(tally.problems)),
            "sitemap_lastmod_trust": tally.trust.value,
            "sitemap_lastmod_counts": dg.MetadataValue.json(asdict(tally.lastmods)),
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

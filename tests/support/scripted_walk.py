"""A scripted walk: real scheduler, desk, batches and robots book, on tables in memory and a fetcher with a script."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assets import names
from assets.crawl.crawl_log import CrawlKind
from assets.crawl.layer_fetch import LayerFetch
from assets.crawl.ports import CrawlPorts
from assets.crawl.scheduler import FetchScheduler
from assets.crawl.seed_stage import robots_book
from assets.crawl.site_crawl import SiteCrawl
from assets.crawl.watch import Watch
from assets.url.key import KeyRules
from assets.url.scope import Scope
from resources.duckdb_engine import DuckDBEngine
from resources.ports import FetchRequest, FetchResponse, SiteSettings
from resources.site_leases import SiteLeaseStore
from tests.support.answers import NOON, answer, page_item
from tests.support.clocks import TurnableClock
from tests.support.memory import MemoryObjects, MemoryTables
from tests.support.rig import DictCatalog, SameProcessWorkers, SilentProgress

T0 = NOON  # when all scripted answers say that they were sent


class LeapingClock(TurnableClock):
    """A clock whose monotonic seconds leap at every look, so that no pause is waited for."""

    def monotonic_s(self) -> float:
        """Leap, and give the seconds so far."""
        self._monotonic_s += 400.0
        return self._monotonic_s


Answers = Callable[[FetchRequest], FetchResponse]


@dataclass
class ScriptedFetcher:
    """A ``Fetcher`` that answers from a table of addresses, and with a page everywhere else."""

    answers: dict[str, FetchResponse | Answers] = field(default_factory=dict)
    asked: list[FetchRequest] = field(default_factory=list)
    user_agent: str = "Isobath/test (+https://example.org/bot)"
    max_open: int = 4

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Answer as scripted."""
        self.asked.append(request)
        found = self.answers.get(request.url, answer(request.url, 200, b"<p>A page.", ("Content-Type", "text/html")))
        return found if isinstance(found, FetchResponse) else found(request)

    async def close(self) -> None:
        """Do nothing."""

    def urls(self) -> list[str]:
        """Give what was asked since the last look."""
        asked, self.asked = self.asked, []
        return [request.url for request in asked]


class Walker:
    """Fetches addresses of one site, each time in a crawl of its own on the same store."""

    def __init__(self, scratch: Path) -> None:
        self.fetcher = ScriptedFetcher()
        self.clock = LeapingClock(T0)
        self.tables = MemoryTables()
        self._objects = MemoryObjects()
        self._scratch = scratch
        self._crawls = 0

    def crawl(self, scheduler: FetchScheduler, site: str = "e.test") -> SiteCrawl:
        """Begin a crawl of a site."""
        settings = SiteSettings(site, min_delay_s=0)
        self._crawls += 1
        ports = CrawlPorts(
            tables=self.tables,
            objects=self._objects,
            engine=DuckDBEngine(),
            fetcher=self.fetcher,
            workers=SameProcessWorkers(),
            clock=self.clock,
            catalog=DictCatalog({site: settings}),
            leases=SiteLeaseStore(self._objects, self.clock),
            progress=SilentProgress(),
        )
        watch = Watch(scheduler.plan, self.clock, ports.progress, run_id="run", sites=[site])
        watch.enter(site, names.depth(0).raw_batches)
        return SiteCrawl(
            site=site,
            crawl_id=f"crawl-{self._crawls}",
            run_id="run",
            settings=settings,
            scope=Scope.of(settings, [f"http://{site}/"]),
            key_rules=KeyRules(),
            ports=ports,
            kind=CrawlKind.CRAWL,
            scheduler=scheduler,
            watch=watch,
            scratch=self._scratch,
        )

    def fetch(self, *urls: str) -> list[tuple[str, str]]:
        """Fetch addresses; give outcome and reason of each."""

        async def walk() -> list[tuple[str, str]]:
            async with FetchScheduler(self.fetcher, self.clock) as scheduler:
                return await fetch_in(self.crawl(scheduler), *urls)

        return asyncio.run(walk())

    def robots_rows(self) -> list[dict[str, Any]]:
        """Give table ``robots``."""
        rows: list[dict[str, Any]] = self.tables.read(names.T_ROBOTS).to_pylist()
        return rows


async def fetch_in(crawl: SiteCrawl, *urls: str) -> list[tuple[str, str]]:
    """Fetch addresses in a crawl; give outcome and reason of each."""
    crawl.load_history()
    layer = LayerFetch(crawl, "depth_0", known=set(), robots=robots_book(crawl))
    items = [page_item(url, site=crawl.site, validators=crawl.validators(url, url)) for url in urls]
    await layer.run(items)
    return [(layer.ends[item.origin_key]["outcome"], layer.ends[item.origin_key]["reason"]) for item in items]


def robots_text(text: str, *headers: tuple[str, str]) -> Answers:
    """Answer with a robots.txt; 304 to its own validators."""
    own = dict(headers)

    def give(request: FetchRequest) -> FetchResponse:
        sent = dict(request.headers)
        if sent.get("If-None-Match", "") == own.get("ETag") or sent.get("If-Modified-Since", "") == own.get(
            "Last-Modified"
        ):
            return answer(request.url, 304, b"", *headers)
        return answer(request.url, 200, text.encode(), ("Content-Type", "text/plain"), *headers)

    return give


def redirect(target: str) -> FetchResponse:
    """Answer with a redirect."""
    return answer("http://any.test/", 301, b"", ("Location", target))

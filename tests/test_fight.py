"""A fight of many runs over a few sites: by the servers' own logs, no two runs are ever at one site."""

import os
import random
import threading
from collections import Counter
from contextlib import ExitStack
from itertools import groupby

import pytest

from assets import names
from assets.crawl.background import Background
from assets.crawl.config import CrawlConfig
from assets.crawl.ports import CrawlPorts
from assets.crawl.walk import SiteFailed, StageDone, WalkPlan, walk_sites
from assets.schemas import TABLES
from resources.clock import SystemClock
from resources.delta_tables import DeltaTables
from resources.duckdb_engine import DuckDBEngine
from resources.errors import SiteBusy
from resources.http_fetcher import HttpFetcher
from resources.ports import ObjectStore, TableStore
from resources.site_leases import SiteLeaseStore
from tests.support.loopback import LoopbackSite, small_site
from tests.support.rig import DictCatalog, SameProcessWorkers, SilentProgress
from tests.support.s3 import storage_options

pytestmark = pytest.mark.slow

RUNS = 20
SITES = 5
DEPTH = 1
TURNS = 2  # of a run: it comes back to a site that was busy
END_S = 300.0

KEYS = [names.SEED_CHECK, *(key for depth in range(DEPTH + 1) for key in names.depth(depth).stages), names.CRAWL_REPORT]


class Fighter:
    """A run, with parts of its own as on a machine of its own: only the store is shared."""

    def __init__(self, number: int, objects: ObjectStore, url: str, hosts: list[str]) -> None:
        self.number = number
        self.done: list[str] = []
        self.errors: list[BaseException] = []
        self._objects = objects
        endpoint = os.environ["AWS_ENDPOINT_URL"] if url.startswith("s3://") else ""
        options = storage_options(endpoint) if endpoint else None
        self._tables = DeltaTables(f"{url}/tables", TABLES, storage_options=options)
        self._order = random.Random(number)
        self._hosts = hosts

    def fight(self) -> None:
        """Go for all sites at once, again and again."""
        clock = SystemClock()
        for turn in range(TURNS):
            ports = CrawlPorts(
                self._tables,
                self._objects,
                DuckDBEngine(),
                HttpFetcher(clock, user_agent=f"Isobath/{self.number}-{turn} (+https://e.test/bot)", max_open=8),
                SameProcessWorkers(),
                clock,
                DictCatalog({}),
                SiteLeaseStore(self._objects, clock, duration_s=60),
                SilentProgress(),
            )
            order = self._order.sample(self._hosts, len(self._hosts))
            plan = WalkPlan(order, KEYS, CrawlConfig(max_depth=DEPTH), DEPTH, f"run {self.number}, turn {turn}")
            for event in Background().run(lambda plan=plan, ports=ports: walk_sites(plan, ports)):  # type: ignore[misc]
                if isinstance(event, SiteFailed):
                    if not isinstance(event.error, SiteBusy):
                        self.errors.append(event.error)
                elif isinstance(event, StageDone) and event.key == names.CRAWL_REPORT:
                    self.done.append(event.site)


def test_twenty_runs_over_five_sites_never_meet(store: tuple[ObjectStore, TableStore, str]) -> None:
    objects, _, url = store
    with ExitStack() as stack:
        sites = [stack.enter_context(LoopbackSite(small_site())) for _ in range(SITES)]
        fighters = [Fighter(number, objects, url, [site.host for site in sites]) for number in range(RUNS)]
        threads = [threading.Thread(target=fighter.fight) for fighter in fighters]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(END_S)
        assert not any(thread.is_alive() for thread in threads)
        assert [error for fighter in fighters for error in fighter.errors] == []
        done = Counter(host for fighter in fighters for host in fighter.done)
        for site in sites:
            # Each run has a name of its own: where one was followed by another, it never comes back.
            turns = [agent for agent, _ in groupby(request.header("User-Agent") for request in site.requests)]
            assert len(turns) == len(set(turns))
            # The fight was one: several runs had the site, one after the other, and each of them whole.
            assert 1 < done[site.host] == len(turns)

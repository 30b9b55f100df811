"""A layer being fetched: the desk of one site for one layer. Takes answers, keeps them, and knows when all are in."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from assets import names
from assets.crawl.batches import LayerBatches
from assets.crawl.robots_book import RobotsBook
from assets.crawl.site_crawl import SiteCrawl
from assets.fetch.facts import decided_row, request_row
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.judge import Judgement, Surroundings
from assets.fetch.outcome import ERRORS, FetchOutcome
from assets.fetch.refresh import refresh_url
from assets.fetch.robots import RobotsRules
from assets.fetch.robots_answer import RobotsAnswer
from resources.ports import FetchResponse, ProgressNote, SiteSettings

RETRY_BASE_FACTOR: Final = 2.0  # first retry after twice the politeness delay, second after four times


class LayerFetch:
    """Fetches items of one layer. Implements the scheduler's ``Desk``."""

    def __init__(self, crawl: SiteCrawl, layer: str, *, known: set[str], robots: RobotsBook) -> None:
        self._crawl = crawl
        self._layer = layer
        self._known = known
        self._robots = robots
        self._batches = LayerBatches(crawl, layer)
        self._waiting: set[str] = set()  # origin keys without a final row
        self._all_in = asyncio.Event()
        self._failure: BaseException | None = None
        self._done = 0
        self._errors = 0
        self._body_bytes = 0
        self.ends: dict[str, dict[str, Any]] = {}  # origin key -> its final row
        self.settings: SiteSettings = crawl.settings
        self.surroundings = Surroundings(
            refusal=crawl.scope.refusal,
            key_rules=crawl.key_rules,
            known=known,
            validators=crawl.validators,
            retry_base_s=RETRY_BASE_FACTOR * crawl.settings.min_delay_s,
            refresh_url=refresh_url,
        )

    async def resume(self, *layers: str) -> int:
        """Take up what this crawl has stored in these layers; what has its final row is not asked again.

        Returns:
            captures that a killed run had published without committing their rows.
        """

        def stored() -> tuple[int, list[dict[str, Any]]]:
            recovered = self._batches.recover()
            rows = [row for layer in layers for row in self._crawl.rows(names.T_FETCHES, layer=layer).to_pylist()]
            return recovered, rows

        recovered, rows = await self._crawl.to_thread(stored)
        self.ends |= {row["origin_key"]: row for row in rows if row["is_final"]}
        self._known |= {row["url"] for row in rows if row["is_final"] and row["purpose"] == Purpose.SITEMAP}
        return recovered

    async def run(self, items: Sequence[FetchItem]) -> None:
        """Fetch items and all that they lead to; returns when each has one final row, committed.

        A run that is interrupted publishes and commits what was fetched so far.
        """
        fresh = {item.origin_key: item for item in items if item.origin_key not in self.ends}
        if not fresh:
            await self._batches.commit()
            return
        self._waiting |= fresh.keys()
        self._known |= {item.url for item in fresh.values() if item.purpose is Purpose.SITEMAP}
        self._all_in.clear()
        for item in fresh.values():
            self._crawl.scheduler.submit(self, item)
        try:
            await self._all_in.wait()
        except asyncio.CancelledError:
            self._crawl.scheduler.withdraw(self._crawl.site)
            await self._batches.commit()
            raise
        try:
            await self._batches.commit()
        finally:
            if self._failure is not None:
                raise self._failure

    def rules(self, host_key: str) -> RobotsRules | None:
        """Give the robots rules of a host while they are fresh."""
        return self._robots.rules(host_key, self._crawl.ports.clock.now())

    def known_robots(self, host_key: str) -> RobotsAnswer | None:
        """Give the last good answer of a host to a request for its robots.txt, stale or not."""
        return self._robots.known(host_key)

    async def learn(self, host_key: str, answer: RobotsAnswer) -> None:
        """Take the answer of a host to a request for its robots.txt."""
        self._batches.add_robots(self._robots.learn(host_key, answer, self._crawl.ports.clock.now()))

    async def settle(self, item: FetchItem, response: FetchResponse, judgement: Judgement) -> None:
        """Take the answer to a request: store it, note its row, and publish when it is time."""
        stored = self._batches.store(item, response, judgement.outcome) if response.status is not None else None
        now = self._crawl.ports.clock.now()
        row = request_row(
            item,
            judgement,
            response,
            place=stored.place if stored else None,
            body_place=stored.body_place if stored else None,
            digest=stored.digest if stored else None,
            retry_at=now + timedelta(seconds=judgement.pause_s or 0) if judgement.set_aside else None,
        )
        self._batches.add_row(row)
        self._body_bytes += len(response.body)
        if item.purpose is Purpose.PAGE:
            self._known.add(item.url_key)
        if judgement.next_item is not None and item.purpose is Purpose.PAGE:
            self._known.add(judgement.next_item.url_key)
        if judgement.next_item is not None and item.purpose is Purpose.SITEMAP:
            self._known.add(judgement.next_item.url)
        if judgement.refused_hop is not None:
            hop = judgement.refused_hop
            target = item.towards(hop.url, url_key=hop.url_key, host_key=item.host_key, cookies=(), validators=None)
            end = decided_row(target, FetchOutcome.OUT_OF_SCOPE, hop.reason, at=now)
            self._batches.add_row(end)
            self._ended(item, end)
        elif judgement.is_final:
            self._ended(item, row)
        if self._batches.is_due:
            await self._batches.commit()

    def put_off(self, item: FetchItem, reason: str, *, retry_at: datetime) -> None:
        """Leave an item for another crawl; its row is committed with those of the next ``run``."""
        now = self._crawl.ports.clock.now()
        self._decided(item, decided_row(item, FetchOutcome.DEFERRED, reason, at=now, retry_at=retry_at))

    async def decide(
        self, item: FetchItem, outcome: FetchOutcome, reason: str, *, retry_in: timedelta | None = None
    ) -> None:
        """Take the verdict on a request that is not sent."""
        now = self._crawl.ports.clock.now()
        self._decided(item, decided_row(item, outcome, reason, at=now, retry_at=now + retry_in if retry_in else None))

    def fail(self, error: BaseException) -> None:
        """Take an unexpected error: the site's walk ends with it."""
        self._failure = error
        self._all_in.set()

    def _decided(self, item: FetchItem, row: dict[str, Any]) -> None:
        self._batches.add_row(row)
        self._known.add(item.url_key)
        self._ended(item, row)

    def _ended(self, item: FetchItem, row: dict[str, Any]) -> None:
        if item.purpose is Purpose.ROBOTS:
            return
        self.ends[item.origin_key] = row
        self._waiting.discard(item.origin_key)
        self._done += 1
        self._errors += row["outcome"] in ERRORS
        self._crawl.ports.progress.note(
            ProgressNote(
                site=self._crawl.site,
                stage=self._layer,
                done=self._done,
                left=len(self._waiting),
                errors=self._errors,
                body_bytes=self._body_bytes,
            )
        )
        if not self._waiting:
            self._all_in.set()

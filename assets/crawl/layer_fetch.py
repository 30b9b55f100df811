"""A layer being fetched: the desk of one site for one layer. Takes answers, keeps them, and knows when all are in."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow.compute as pc

from assets import names
from assets.crawl.batches import LayerBatches
from assets.crawl.blocking import to_its_end
from assets.crawl.links_ahead import LinksAhead
from assets.crawl.open_chains import COLUMNS, OpenChains
from assets.crawl.robots_book import RobotsBook
from assets.crawl.site_crawl import SiteCrawl
from assets.fetch.facts import decided_row, request_row
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.judge import Judgement, Surroundings
from assets.fetch.outcome import DOCUMENT_TYPES, PAGE_TYPES, FetchOutcome
from assets.fetch.refresh import refresh_url
from assets.fetch.robots import RobotsRules
from assets.fetch.robots_answer import RobotsAnswer
from assets.fetch.supply import ItemSupply, Supply
from resources.ports import FetchResponse, SiteSettings

HOST_ITEMS_MIN: Final = 8  # not asked yet; below that a host is handed out more
HOST_ITEMS_MAX: Final = 64
RETRY_BASE_FACTOR: Final = 2.0  # first retry after twice the politeness delay, second after four times


class LayerFetch:
    """Fetches items of one layer. Implements the scheduler's ``Desk``.

    A host has only a few items in the fetch plan at a time; the next ones are handed out as those are answered.
    """

    def __init__(
        self,
        crawl: SiteCrawl,
        layer: str,
        *,
        known: set[str],
        robots: RobotsBook,
        ahead: LinksAhead | None = None,
        keeps_ends: bool = True,
    ) -> None:
        """Open the desk.

        Args:
            crawl: the site's.
            layer: the one that is fetched.
            known: url_keys that this crawl has decided about, of sitemaps the addresses; added to.
            robots: rules of the site's hosts.
            ahead: parses pages while others are fetched.
            keeps_ends: whether ``ends`` is wanted; a frontier of millions would fill the memory with it.
        """
        self._crawl = crawl
        self.layer = layer
        self._known = known
        self._robots = robots
        self._keeps_ends = keeps_ends
        self._batches = LayerBatches(crawl, layer, ahead=ahead)
        self._publishing: asyncio.Task[None] | None = None
        self._chains: OpenChains | None = None
        self._supply: Supply = ItemSupply(())
        self._unanswered: dict[str, set[str]] = {}  # host key -> origin keys handed out and never answered
        self._left = 0  # items without a final row
        self._all_in = asyncio.Event()
        self._failure: BaseException | None = None
        self._tally = crawl.watch.tally(crawl.site)
        self.ends: dict[str, dict[str, Any]] = {}  # origin key -> its final row
        self.settings: SiteSettings = crawl.settings
        self.surroundings = Surroundings(
            refusal=crawl.scope.refusal,
            key_rules=crawl.key_rules,
            known=known,
            validators=crawl.validators,
            retry_base_s=RETRY_BASE_FACTOR * crawl.settings.min_delay_s,
            page_types=PAGE_TYPES | {DOCUMENT_TYPES[kind] for kind in crawl.settings.document_types},
            refresh_url=refresh_url,
        )

    async def resume(self) -> int:
        """Take up what this crawl has stored in this layer; what has its final row is not asked again.

        Returns:
            captures that a killed run had published without committing their rows.
        """

        def stored() -> tuple[int, OpenChains, list[dict[str, Any]]]:
            recovered = self._batches.recover()
            chains = OpenChains(self._crawl, self._crawl.rows(names.T_FETCHES, list(COLUMNS), layer=self.layer))
            if not self._keeps_ends:
                return recovered, chains, []
            rows = self._crawl.rows(names.T_FETCHES, layer=self.layer).filter(pc.field("is_final"))
            return recovered, chains, rows.to_pylist()

        recovered, chains, ends = await self._crawl.to_thread(stored)
        self._chains = chains
        self._known |= chains.targets()
        self.ends |= {row["origin_key"]: row for row in ends}
        self._known |= {row["url"] for row in ends if row["purpose"] == Purpose.SITEMAP}
        return recovered

    async def run(self, items: Sequence[FetchItem]) -> None:
        """Fetch items that have no final row yet, and all that they lead to; see ``run_supply``."""
        fresh = {item.origin_key: item for item in items if item.origin_key not in self.ends}
        self._known |= {item.url for item in fresh.values() if item.purpose is Purpose.SITEMAP}
        await self.run_supply(ItemSupply(fresh.values()))

    async def run_supply(self, supply: Supply) -> None:
        """Fetch all items of a supply and all that they lead to; returns when each has one final row, committed.

        A run that is interrupted publishes and commits what was fetched so far.
        """
        self._supply, self._left = supply, supply.left
        self._tally.expect(supply.left)
        if self._left:
            self._all_in.clear()
            for host_key in supply.counts():
                self._hand_out(host_key)
            try:
                await self._all_in.wait()
            except asyncio.CancelledError:
                self._crawl.scheduler.withdraw(self._crawl.site)
                await self._publish_rest()
                raise
            finally:
                self._supply = ItemSupply(())
        try:
            await self._publish_rest()
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
        self._batches.add_row(row, stored)
        self._tally.receive(len(response.body))
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
        self._answered(item)
        if self._batches.is_due:
            await self._publish()

    def in_supply(self) -> Mapping[str, int]:
        """Count what was not submitted yet, by host."""
        return self._supply.counts()

    def take_rest(self, host_key: str) -> Iterator[FetchItem]:
        """Hand out all that is left of a host; the caller decides on it."""
        while taken := self._supply.take(host_key, HOST_ITEMS_MAX):
            yield from taken

    def put_off(self, item: FetchItem, reason: str, *, retry_at: datetime) -> None:
        """Leave an item that was not handed out for another crawl; its row is committed with those of the next run."""
        now = self._crawl.ports.clock.now()
        self._batches.add_row(decided_row(item, FetchOutcome.DEFERRED, reason, at=now, retry_at=retry_at))

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

    def _hand_out(self, host_key: str) -> None:
        """Keep a host supplied."""
        unanswered = self._unanswered.setdefault(host_key, set())
        while taken := self._supply.take(host_key, HOST_ITEMS_MAX - len(unanswered)):
            for item in taken:
                going_on = self._chains.carry_on(item) if self._chains is not None else item
                if going_on.host_key == host_key:
                    unanswered.add(going_on.origin_key)
                self._crawl.scheduler.submit(self, going_on)

    def _answered(self, item: FetchItem) -> None:
        """Hand out more of a host when few of its items have not been asked yet."""
        unanswered = self._unanswered.get(item.host_key)
        if unanswered is not None and item.origin_key in unanswered:
            unanswered.discard(item.origin_key)
            if len(unanswered) < HOST_ITEMS_MIN:
                self._hand_out(item.host_key)

    async def _publish(self) -> None:
        """Publish the open batch while the hosts are asked on; when it is due before the last one is out, wait."""
        while self._publishing is not None and not self._publishing.done():
            await asyncio.wait([self._publishing])
        if self._batches.is_due:
            self._publishing = asyncio.create_task(self._batches.commit())
            self._publishing.add_done_callback(self._published)

    def _published(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._crawl.scheduler.withdraw(self._crawl.site)
            self.fail(error)

    async def _publish_rest(self) -> None:
        try:
            if self._publishing is not None:
                await to_its_end(self._publishing)
        finally:
            await self._batches.commit()

    def _decided(self, item: FetchItem, row: dict[str, Any]) -> None:
        self._batches.add_row(row)
        self._known.add(item.url_key)
        self._ended(item, row)
        self._answered(item)

    def _ended(self, item: FetchItem, row: dict[str, Any]) -> None:
        if item.purpose is Purpose.ROBOTS:
            return
        if self._keeps_ends:
            self.ends[item.origin_key] = row
        self._left -= 1
        self._tally.end(row["outcome"])
        if not self._left:
            self._all_in.set()

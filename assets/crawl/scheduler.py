"""The fetch scheduler: carries the fetch plan of a run out, over all sites of the run at once.

One loop asks the plan whom to ask next and opens a task for the request; what comes back is judged, given to the desk
of its site, and told to the plan. Before a host is asked for the first time its robots.txt is asked, with the same
manners.
"""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from types import TracebackType
from typing import Final, Protocol

from assets.crawl.watch import Backlog
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.judge import Judgement, Surroundings, is_refusal, judge
from assets.fetch.outcome import FetchOutcome, outcome_detail, outcome_of
from assets.fetch.plan import Ask, FetchPlan, Wait
from assets.fetch.politeness import HostManners
from assets.fetch.request import PRODUCT, request_of
from assets.fetch.robots import RobotsRules, RobotsVerdict
from assets.fetch.robots_answer import RobotsAnswer, robots_answer
from resources.ports import Clock, Fetcher, FetchFailure, FetchResponse, SiteSettings

MAX_SHOWN_LINE_CHARACTERS: Final = 300
# Not a robots.txt that does not answer: there is no host that could be asked for anything.
_NOBODY_TO_ASK: Final = frozenset({FetchFailure.PRIVATE_ADDRESS, FetchFailure.DNS_NOT_FOUND})


class Desk(Protocol):
    """The place where a site takes what its requests brought."""

    settings: SiteSettings
    surroundings: Surroundings

    def rules(self, host_key: str) -> RobotsRules | None:
        """Give the robots rules of a host while they are fresh; None when they must be asked."""
        ...

    def known_robots(self, host_key: str) -> RobotsAnswer | None:
        """Give the last good answer of a host to a request for its robots.txt, stale or not."""
        ...

    async def learn(self, host_key: str, answer: RobotsAnswer) -> None:
        """Take the answer of a host to a request for its robots.txt."""
        ...

    async def settle(self, item: FetchItem, response: FetchResponse, judgement: Judgement) -> None:
        """Take the answer to a request."""
        ...

    async def decide(
        self, item: FetchItem, outcome: FetchOutcome, reason: str, *, retry_in: timedelta | None = None
    ) -> None:
        """Take the verdict on a request that is not sent."""
        ...

    def in_supply(self) -> Mapping[str, int]:
        """Count what was not submitted yet, by host."""
        ...

    def take_rest(self, host_key: str) -> Iterable[FetchItem]:
        """Hand out all that was not submitted yet of a host; the caller decides on it."""
        ...

    def fail(self, error: BaseException) -> None:
        """Take an unexpected error; the site's walk ends with it."""
        ...


@dataclass(frozen=True, slots=True)
class _Errand:
    desk: Desk
    item: FetchItem


class FetchScheduler:
    """Use as an async context manager around all walks of a run."""

    def __init__(self, fetcher: Fetcher, clock: Clock, *, seed: int | None = None) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._plan = FetchPlan(random.Random(seed).random)
        self._desks: dict[str, Desk] = {}
        self._awaiting_rules: dict[str, list[FetchItem]] = {}
        self._open: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "FetchScheduler":
        self._loop = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None:
            self._loop.cancel()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, *([self._loop] if self._loop else []), return_exceptions=True)
        await self._fetcher.close()

    @property
    def plan(self) -> FetchPlan:
        """Give the queues, to be looked at."""
        return self._plan

    def backlog(self) -> Iterator[Backlog]:
        """Tell what waits outside the plan."""
        for host_key, items in self._awaiting_rules.items():
            for site, count in Counter(item.site for item in items).items():
                yield Backlog(site, host_key, count)
        for site, desk in self._desks.items():
            for host_key, count in desk.in_supply().items():
                yield Backlog(site, host_key, count)

    def submit(self, desk: Desk, item: FetchItem, *, wait_s: float = 0.0) -> None:
        """Queue a request of a site; a site has one desk at a time."""
        self._desks[item.site] = desk
        if item.host_key in self._awaiting_rules and item.purpose is not Purpose.ROBOTS:
            self._awaiting_rules[item.host_key].append(item)
            return
        manners = HostManners(desk.settings.min_delay_s, desk.settings.max_delay_s)
        if wait_s > 0:
            self._plan.add(item, manners, not_before_s=self._clock.monotonic_s() + wait_s)
        else:
            self._plan.add(item, manners)
        self._changed.set()

    def withdraw(self, site: str) -> None:
        """Forget all that is queued for a site."""
        withdrawn = self._plan.withdraw(site=site)
        for host_key, items in self._awaiting_rules.items():
            self._awaiting_rules[host_key] = [item for item in items if item.site != site]
        for item in withdrawn:
            self._leave_to_others(item)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._changed.clear()
            alarm: asyncio.TimerHandle | None = None
            if len(self._open) < self._fetcher.max_open:
                now_s = self._clock.monotonic_s()
                step = self._plan.next(now_s)
                if isinstance(step, Ask):
                    task = asyncio.create_task(self._errand(_Errand(self._desks[step.item.site], step.item)))
                    self._open.add(task)
                    task.add_done_callback(self._closed)
                    continue
                if isinstance(step, Wait):
                    alarm = loop.call_later(step.until_s - now_s, self._changed.set)
            await self._changed.wait()
            if alarm is not None:
                alarm.cancel()

    def _closed(self, task: asyncio.Task[None]) -> None:
        self._open.discard(task)
        self._changed.set()

    async def _errand(self, errand: _Errand) -> None:
        try:
            await self._do(errand.desk, errand.item)
        except Exception as error:  # noqa: BLE001 - a bug met while one site is served must end that site, not the run
            self._plan.released(errand.item)
            self.withdraw(errand.item.site)
            self._leave_to_others(errand.item)
            errand.desk.fail(error)

    async def _do(self, desk: Desk, item: FetchItem) -> None:
        if item.purpose is not Purpose.ROBOTS:
            rules = desk.rules(item.host_key)
            if rules is None:
                self._ask_robots_first(desk, item)
                return
            self._plan.set_crawl_delay(item.host_key, rules.crawl_delay_s)
            denial = _denial(rules, item)
            if denial is not None:
                self._plan.released(item)
                await desk.decide(item, *denial)
                return
        response = await self._fetcher.fetch(request_of(item, desk.settings, self._fetcher.user_agent))
        if is_refusal(response):
            refusals = self._plan.refused(item.host_key)
        else:
            refusals = 0
            if response.status is not None:
                self._plan.accepted(item.host_key)
        judgement = judge(item, response, desk.surroundings, now=self._clock.now(), refusals=refusals)
        await self._take(desk, item, response, judgement)

    async def _take(self, desk: Desk, item: FetchItem, response: FetchResponse, judgement: Judgement) -> None:
        now_s = self._clock.monotonic_s()
        if judgement.pause_s is not None:
            self._plan.pause(item.host_key, now_s + judgement.pause_s)
        self._plan.answered(item, fetch_s=response.fetch_ms / 1000, now_s=now_s)
        await desk.settle(item, response, judgement)
        if judgement.next_item is not None:
            self.submit(desk, _conditional(desk, judgement.next_item), wait_s=judgement.wait_s)
        elif item.purpose is Purpose.ROBOTS:
            await self._learn(desk, item, response)
        if judgement.set_aside:
            await self._set_aside(item.host_key, judgement)

    def _ask_robots_first(self, desk: Desk, item: FetchItem) -> None:
        host_key = item.host_key
        self._plan.released(item)
        waiting = [item, *self._plan.withdraw(host_key=host_key)]
        if host_key in self._awaiting_rules:
            self._awaiting_rules[host_key] += waiting
            return
        self._awaiting_rules[host_key] = waiting
        address = f"{host_key}/robots.txt"
        first = replace(
            item,
            purpose=Purpose.ROBOTS,
            url=address,
            url_key=address,
            origin_key=address,
            hop=0,
            attempt=1,
            chain=(),
            cookies=(),
            other_urls=(),
            validators=desk.surroundings.validators(address, address),
        )
        self.submit(desk, _conditional(desk, first))

    def _leave_to_others(self, item: FetchItem) -> None:
        """Have a robots.txt asked by another site that waits for it, when the one that asked is gone."""
        if item.purpose is Purpose.ROBOTS:
            for held in self._awaiting_rules.pop(_asked_host(item), []):
                self.submit(self._desks[held.site], held)

    async def _learn(self, desk: Desk, item: FetchItem, response: FetchResponse) -> None:
        host_key = _asked_host(item)
        waiting = self._awaiting_rules.pop(host_key, [])
        if response.failure in _NOBODY_TO_ASK and item.host_key == host_key:
            for held in itertools.chain(waiting, self._rest(host_key)):
                await self._desks[held.site].decide(held, outcome_of(response), outcome_detail(response))
            return
        answer = robots_answer(item, response, desk.known_robots(host_key), now=self._clock.now())
        for owner in {id(d): d for d in [desk, *(self._desks[w.site] for w in waiting)]}.values():
            await owner.learn(host_key, answer)
        for held in waiting:
            self.submit(self._desks[held.site], held)

    def _rest(self, host_key: str) -> Iterator[FetchItem]:
        for desk in list(self._desks.values()):
            yield from desk.take_rest(host_key)

    async def _set_aside(self, host_key: str, judgement: Judgement) -> None:
        retry_in = timedelta(seconds=judgement.pause_s or 0)
        for item in itertools.chain(self._plan.withdraw(host_key=host_key), self._rest(host_key)):
            await self._desks[item.site].decide(item, FetchOutcome.DEFERRED, judgement.reason, retry_in=retry_in)


def _denial(rules: RobotsRules, item: FetchItem) -> tuple[FetchOutcome, str] | None:
    if rules.verdict is RobotsVerdict.DISALLOW_ALL:
        return FetchOutcome.ROBOTS_UNREACHABLE, rules.reason
    decision = rules.decision(item.url, PRODUCT)
    if decision.allowed:
        return None
    return FetchOutcome.ROBOTS_DENIED, f"{item.host_key}/robots.txt: {decision.line[:MAX_SHOWN_LINE_CHARACTERS]}"


def _asked_host(item: FetchItem) -> str:
    # A redirect may have led elsewhere; the rules are those of the host that was asked first.
    return item.origin_key.removesuffix("/robots.txt")


def _conditional(desk: Desk, item: FetchItem) -> FetchItem:
    """Leave out the validators of a robots.txt whose rules are not at hand: "not modified" would tell nothing."""
    if item.purpose is not Purpose.ROBOTS or item.validators is None:
        return item
    known = desk.known_robots(_asked_host(item))
    return item if known is not None and known.is_confirmed_by(item.validators) else replace(item, validators=None)

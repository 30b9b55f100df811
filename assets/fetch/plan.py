"""The fetch plan: given now, whom to ask next. Pure: it never looks at a watch and never sends anything.

Mercator's design (Heydon and Najork, 1999): one back queue per host, ordered by priority; a heap of the earliest time
at which each host may be asked; at most one open request per host.
"""

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from assets.fetch.item import FetchItem, Purpose
from assets.fetch.politeness import HostManners, politeness_delay_s
from resources.ports import WaitReason

SPACING_SMOOTHING: Final = 0.2  # one slow answer must not make a forecast of hours


@dataclass(frozen=True, slots=True)
class Ask:
    """Send this request now; its host is taken until ``answered`` or ``released``."""

    item: FetchItem


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing may be sent before this moment, unless something is answered or added."""

    until_s: float


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing is queued (requests may be open)."""


@dataclass(frozen=True, slots=True)
class HostQueue:
    """How one host stands: what is queued for it, and why it is not being asked."""

    host_key: str
    queued: Mapping[str, int]  # items by site
    next_s: float | None  # when it may be asked; None while its request is open
    reason: WaitReason | None  # None while its request is open, unless that asks for robots.txt
    spacing_s: float  # from the start of one request to the start of the next: mean of late, or the least
    refusals: int  # in a row


@dataclass(slots=True)
class _Host:
    manners: HostManners
    earliest_s: float = float("-inf")
    paused_until_s: float = float("-inf")
    delay_s: float = 0.0  # after the last answer
    mean_spacing_s: float | None = None  # None before the first answer
    crawl_delay_s: float | None = None
    taken_by: FetchItem | None = None  # the open request
    refusals: int = 0
    ready: list[tuple[float, int, FetchItem]] = field(default_factory=list)
    later: list[tuple[float, int, FetchItem]] = field(default_factory=list)
    turn: int = 0  # number of the heap entry that counts; older ones are stale

    def next_s(self) -> float | None:
        if self.ready:
            return self.earliest_s
        return max(self.earliest_s, self.later[0][0]) if self.later else None

    def reason(self, now_s: float, next_s: float) -> WaitReason:
        """Say why a host with something queued is not being asked."""
        head = (self.ready or self.later)[0][2]
        if now_s < self.paused_until_s and self.earliest_s <= self.paused_until_s:
            return WaitReason.BACKING_OFF
        if head.purpose is Purpose.ROBOTS:
            return WaitReason.ROBOTS
        if next_s <= now_s:
            return WaitReason.DUE
        if next_s > self.earliest_s:
            return WaitReason.RETRY
        return WaitReason.CRAWL_DELAY if self.delay_s <= (self.crawl_delay_s or -1.0) else WaitReason.DELAY

    def note_answer(self, fetch_s: float, delay_s: float) -> None:
        self.delay_s = delay_s
        spacing_s = fetch_s + delay_s
        before_s = spacing_s if self.mean_spacing_s is None else self.mean_spacing_s
        self.mean_spacing_s = before_s + SPACING_SMOOTHING * (spacing_s - before_s)

    def spacing_s(self) -> float:
        if self.mean_spacing_s is not None:
            return self.mean_spacing_s
        return max(self.manners.min_delay_s, self.crawl_delay_s or 0.0)


class FetchPlan:
    """All queues of one run, over all its sites. Times are monotonic seconds, handed in."""

    def __init__(self, jitter: Callable[[], float]) -> None:
        self._jitter = jitter
        self._hosts: dict[str, _Host] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._count = itertools.count()

    def add(self, item: FetchItem, manners: HostManners, *, not_before_s: float = float("-inf")) -> None:
        """Queue an item. A host that several sites ask is asked with the strictest manners of them."""
        host = self._hosts.get(item.host_key)
        if host is None:
            host = self._hosts[item.host_key] = _Host(manners)
        else:
            host.manners = host.manners.stricter(manners)
        number = next(self._count)
        if not_before_s == float("-inf"):
            heapq.heappush(host.ready, (-item.priority, number, item))
        else:
            heapq.heappush(host.later, (not_before_s, number, item))
        self._reschedule(item.host_key, host)

    def next(self, now_s: float) -> Ask | Wait | Idle:
        """Say what to do now. An ``Ask`` takes its host."""
        while self._heap:
            due_s, turn, host_key = self._heap[0]
            host = self._hosts[host_key]
            if host.taken_by is not None or turn != host.turn:
                heapq.heappop(self._heap)
                continue
            if due_s > now_s:
                return Wait(due_s)
            heapq.heappop(self._heap)
            while host.later and host.later[0][0] <= now_s:
                _, number, item = heapq.heappop(host.later)
                heapq.heappush(host.ready, (-item.priority, number, item))
            host.taken_by = heapq.heappop(host.ready)[2]
            return Ask(host.taken_by)
        return Idle()

    def answered(self, item: FetchItem, *, fetch_s: float, now_s: float) -> None:
        """Free a host after a request: it may be asked again after its politeness delay."""
        host = self._hosts[item.host_key]
        delay_s = politeness_delay_s(
            host.manners, last_fetch_s=fetch_s, crawl_delay_s=host.crawl_delay_s, jitter=self._jitter()
        )
        host.note_answer(fetch_s, delay_s)
        host.earliest_s = max(host.earliest_s, now_s + delay_s)
        host.taken_by = None
        self._reschedule(item.host_key, host)

    def released(self, item: FetchItem) -> None:
        """Free a host that was not asked after all; no more than once an ``Ask``."""
        host = self._hosts[item.host_key]
        if host.taken_by is item:
            host.taken_by = None
            self._reschedule(item.host_key, host)

    def set_crawl_delay(self, host_key: str, crawl_delay_s: float | None) -> None:
        """Remember what a host's robots.txt asks for."""
        self._hosts[host_key].crawl_delay_s = crawl_delay_s

    def refused(self, host_key: str) -> int:
        """Count a refusal (429, 503); give how many came in a row."""
        host = self._hosts[host_key]
        host.refusals += 1
        return host.refusals

    def accepted(self, host_key: str) -> None:
        """End a row of refusals."""
        self._hosts[host_key].refusals = 0

    def pause(self, host_key: str, until_s: float) -> None:
        """Leave the whole host alone until a moment."""
        host = self._hosts[host_key]
        host.earliest_s = max(host.earliest_s, until_s)
        host.paused_until_s = max(host.paused_until_s, until_s)
        self._reschedule(host_key, host)

    def queues(self, now_s: float) -> Iterator[HostQueue]:
        """Tell how each host stands that has something queued or an open request. Looks at every queued item."""
        for host_key, host in self._hosts.items():
            next_s = host.next_s()
            if next_s is None and host.taken_by is None:
                continue
            queued: dict[str, int] = {}
            for entries in (host.ready, host.later):
                for entry in entries:
                    site = entry[2].site
                    queued[site] = queued.get(site, 0) + 1
            reason: WaitReason | None = None
            if host.taken_by is not None:
                next_s = None
                if host.taken_by.purpose is Purpose.ROBOTS:
                    reason = WaitReason.ROBOTS
            elif next_s is not None:
                reason = host.reason(now_s, next_s)
            yield HostQueue(host_key, queued, next_s, reason, host.spacing_s(), host.refusals)

    def withdraw(self, *, host_key: str | None = None, site: str | None = None) -> list[FetchItem]:
        """Take all queued items of a host, or of a site, out of the plan, best first."""
        taken: list[FetchItem] = []
        for key in [host_key] if host_key is not None else list(self._hosts):
            host = self._hosts.get(key)
            if host is None:
                continue
            kept_ready = [entry for entry in host.ready if site is not None and entry[2].site != site]
            kept_later = [entry for entry in host.later if site is not None and entry[2].site != site]
            leaving = sorted((-item.priority, number, item) for _, number, item in (*host.ready, *host.later))
            kept = {entry[1] for entry in (*kept_ready, *kept_later)}
            taken += [item for _, number, item in leaving if number not in kept]
            heapq.heapify(kept_ready)
            heapq.heapify(kept_later)
            host.ready, host.later = kept_ready, kept_later
            self._reschedule(key, host)
        return taken

    def _reschedule(self, host_key: str, host: _Host) -> None:
        host.turn += 1
        due_s = host.next_s()
        if due_s is not None and host.taken_by is None:
            heapq.heappush(self._heap, (due_s, host.turn, host_key))

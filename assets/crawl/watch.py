"""The watch: what each site of a run has done so far, and how the run stands, said at intervals. Decides nothing.

Whoever fetches only counts. The queues are looked at once a second at most, and never for more than a fiftieth of the
time, however many hosts there are. It looks on a timer of its own: a run in which nothing is answered has most to say.
"""

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import dagster as dg

from assets.crawl.tally import LONGEST_S, Bound, Rate, Tally
from assets.fetch.plan import FetchPlan
from resources.ports import Clock, HostWait, Progress, RunNote, SiteNote, WaitReason

EVERY_S: Final = 1.0
TELL_EVERY_S: Final = 25.0  # 30 s are promised, and the loop may be busy when the time has come
MAX_SHARE_OF_TIME: Final = 0.02
SHOWN_HOSTS: Final = 10


@dataclass(frozen=True, slots=True)
class Backlog:
    """Items of a site for a host that are not in the fetch plan: still in supply, or held until robots.txt is read."""

    site: str
    host_key: str
    items: int


class Watch:
    """The progress of one run. Everything happens in the event loop of the run."""

    def __init__(
        self,
        plan: FetchPlan,
        clock: Clock,
        progress: Progress,
        *,
        run_id: str,
        sites: Collection[str],
        backlog: Callable[[], Iterable[Backlog]] = tuple,
        tell: Callable[[RunNote], None] | None = None,
    ) -> None:
        """Begin to watch.

        Args:
            plan: whose queues are looked at.
            clock: what time it is.
            progress: takes a note a second.
            run_id: of the run.
            sites: all that the run will walk.
            backlog: gives what waits outside the plan.
            tell: takes a note less than every half minute, for the run's event log.
        """
        self._plan = plan
        self._clock = clock
        self._progress = progress
        self._run_id = run_id
        self._sites_total = len(sites)
        self._backlog = backlog
        self._tell = tell
        self._tallies: dict[str, Tally] = {}
        self._sites_done = 0
        self._done = 0  # in stages that are over
        self._body_bytes = 0
        self._errors: Counter[str] = Counter()
        self._ended: list[SiteNote] = []  # since the last note
        self._began_s = clock.monotonic_s()
        self._rate = Rate(self._began_s)
        self._look_s = self._began_s + EVERY_S
        self._tell_s = self._began_s + TELL_EVERY_S

    def enter(self, site: str, stage: dg.AssetKey) -> None:
        """Count a site in a stage from now on."""
        self._end_stage(site)
        now_s = self._clock.monotonic_s()
        self._tallies[site] = Tally(stage.to_user_string(), now_s, Rate(now_s), now_s)

    def leave(self, site: str) -> None:
        """Note that a site's walk is over, well or not."""
        self._end_stage(site)
        self._sites_done += 1

    def tally(self, site: str) -> Tally:
        """Give the counters of a site in its stage."""
        return self._tallies[site]

    async def keep_looking(self) -> None:
        """Look on a timer until cancelled; say the last word then."""
        try:
            while True:
                await asyncio.sleep(EVERY_S)
                self.look()
        finally:
            self._progress.note(self._note(self._clock.monotonic_s(), is_last=True))

    def look(self) -> None:
        """Say how the run stands, if the last time is long enough ago; otherwise this costs nothing."""
        now_s = self._clock.monotonic_s()
        if now_s < self._look_s:
            return
        note = self._note(now_s)
        self._progress.note(note)
        if self._tell is not None and now_s >= self._tell_s:
            self._tell_s = now_s + TELL_EVERY_S
            self._tell(note)
        cost_s = self._clock.monotonic_s() - now_s
        self._look_s = now_s + max(EVERY_S, cost_s / MAX_SHARE_OF_TIME)

    def _end_stage(self, site: str) -> None:
        ended = self._tallies.pop(site, None)
        if ended is not None:
            self._done += ended.done
            self._body_bytes += ended.body_bytes
            self._errors.update(ended.errors)
            self._ended.append(ended.note(site, self._clock.now(), self._clock.monotonic_s(), is_over=True))

    def _note(self, now_s: float, *, is_last: bool = False) -> RunNote:
        now = self._clock.now()
        hosts, bounds, open_requests = self._hosts(now, now_s)
        tallies = self._tallies
        sites = [tally.note(site, now, now_s, bounds.get(site)) for site, tally in sorted(tallies.items())]
        sites.sort(key=lambda note: note.end.at if note.end else now, reverse=True)
        ended, self._ended = self._ended, []
        done = self._done + sum(tally.done for tally in tallies.values())
        waiting = Counter(wait.reason for _, wait in hosts if wait.reason is not None)
        longest = heapq.nlargest(SHOWN_HOSTS, hosts, key=lambda pair: pair[0])
        return RunNote(
            run_id=self._run_id,
            at=now,
            sites_total=self._sites_total,
            sites_done=self._sites_done,
            done=done,
            left=sum(tally.left for tally in tallies.values()),
            queued=sum(wait.queued for _, wait in hosts),
            open_requests=open_requests,
            pages_per_s=self._rate.per_s(now_s, done),
            overall_pages_per_s=done / (now_s - self._began_s) if now_s > self._began_s else 0.0,
            errors=sum((tally.errors for tally in tallies.values()), self._errors.copy()),
            body_bytes=self._body_bytes + sum(tally.body_bytes for tally in tallies.values()),
            waiting=dict(waiting.most_common()),
            hosts=tuple(wait for _, wait in longest if wait.reason is not None),
            sites=tuple(sites),
            ended=tuple(ended),
            end=sites[0].end if sites else None,
            is_last=is_last,
        )

    def _hosts(self, now: datetime, now_s: float) -> tuple[list[tuple[float, HostWait]], dict[str, Bound], int]:
        """Give the hosts with what politeness makes each take, the same by site, and how many are being asked."""
        outside: dict[str, Counter[str]] = {}
        for held in self._backlog():
            outside.setdefault(held.host_key, Counter())[held.site] += held.items
        hosts: list[tuple[float, HostWait]] = []
        bounds: dict[str, Bound] = {}
        open_requests = 0
        for queue in self._plan.queues(now_s):
            items: Mapping[str, int] = queue.queued
            if queue.host_key in outside:
                items = outside.pop(queue.host_key) + Counter(queue.queued)
            open_requests += queue.next_s is None
            wait_s = queue.spacing_s if queue.next_s is None else max(queue.next_s - now_s, 0.0)
            until = now + timedelta(seconds=min(wait_s, LONGEST_S)) if queue.next_s is not None else None
            wait = HostWait(queue.host_key, sum(items.values()), queue.reason, until, queue.refusals)
            hosts.append((wait_s + max(wait.queued - 1, 0) * queue.spacing_s, wait))
            for site, count in items.items():
                seconds = wait_s + (count - 1) * queue.spacing_s
                bound = bounds.get(site)
                if bound is None or seconds > bound.seconds:
                    bounds[site] = Bound(seconds, wait)
        for host_key, held_items in outside.items():
            # Its robots.txt has been redirected, and is asked at another host.
            wait = HostWait(host_key, held_items.total(), WaitReason.ROBOTS)
            hosts.append((0.0, wait))
            for site in held_items:
                bounds.setdefault(site, Bound(0.0, wait))
        return hosts, bounds, open_requests

"""The watch over a plan that the test fills, with a clock that it turns."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from assets import names
from assets.crawl.tally import ending
from assets.crawl.watch import Backlog, Watch
from assets.fetch.item import FetchItem, Purpose
from assets.fetch.plan import FetchPlan, HostQueue
from assets.fetch.politeness import HostManners
from resources.ports import RunNote, WaitReason
from tests.support.clocks import TurnableClock
from tests.support.notes import NOW
from tests.support.rig import SilentProgress

MANNERS = HostManners(1.0, 30.0)


def item(host: str, name: str, *, site: str = "s") -> FetchItem:
    url = f"http://{host}/{name}"
    return FetchItem(site, "depth_0", Purpose.PAGE, url, url, f"http://{host}", url)


class Watched:
    """A run that never fetches anything, and what is said of it."""

    def __init__(self, *sites: str, backlog: Sequence[Backlog] = (), plan: FetchPlan | None = None) -> None:
        self.clock = TurnableClock(NOW)
        self.plan = plan or FetchPlan(lambda: 0.0)
        self.told: list[RunNote] = []
        self.progress = SilentProgress()
        self.watch = Watch(
            self.plan,
            self.clock,
            self.progress,
            run_id="run",
            sites=sites,
            backlog=lambda: backlog,
            tell=self.told.append,
        )
        for site in sites:
            self.watch.enter(site, names.depth(0).raw_batches)

    def queue(self, host: str, count: int, *, site: str = "s") -> None:
        """Queue items of a host and expect them."""
        for number in range(count):
            self.plan.add(item(host, str(number), site=site), MANNERS)
        self.watch.tally(site).expect(count)

    def after(self, seconds: float) -> RunNote:
        """Give the note after some time."""
        self.clock.advance(seconds)
        self.watch.look()
        return self.progress.notes[-1]


def test_a_host_that_backs_off_is_told_of_though_nothing_is_ever_answered() -> None:
    run = Watched("s")
    run.queue("a.test", 3)
    run.plan.pause("http://a.test", 600.0)
    for _ in range(300):
        run.after(1.0)
    gaps = [(after.at - before.at).total_seconds() for before, after in zip(run.told, run.told[1:], strict=False)]
    assert len(run.told) == 12
    assert max(gaps) <= 30
    last = run.told[-1]
    assert last.waiting == {WaitReason.BACKING_OFF: 1}
    assert last.hosts[0].why(last.at) == "backing off until 12:10:00Z"
    assert last.end is not None
    # Ten minutes until the first of three, a second between them.
    assert last.end.say(last.at) == "not before 12:10:02Z"


def test_looking_more_often_than_once_a_second_says_nothing() -> None:
    run = Watched("s")
    for _ in range(1000):
        run.clock.advance(0.01)
        run.watch.look()
    assert 9 <= len(run.progress.notes) <= 10


def test_a_pause_that_a_host_asks_for_does_not_lengthen_the_forecast_beyond_it() -> None:
    run = Watched("s")
    run.queue("a.test", 60)
    tally = run.watch.tally("s")
    tally.expect(10)
    for _ in range(10):
        tally.end("fetched")
        run.after(1.0)
    run.plan.pause("http://a.test", 110.0)
    for _ in range(99):
        note = run.after(1.0)
    assert note.pages_per_s == 0.0
    assert note.end is not None
    assert (note.end.at - note.at).total_seconds() == pytest.approx(60, abs=1)


class SlowPlan(FetchPlan):
    """A plan with so many queues that looking at them takes half a second."""

    def __init__(self) -> None:
        super().__init__(lambda: 0.0)
        self.clock: TurnableClock | None = None

    def queues(self, now_s: float) -> Iterator[HostQueue]:
        """Take time."""
        if self.clock is not None:
            self.clock.advance(0.5)
        return super().queues(now_s)


def test_looking_takes_a_fiftieth_of_the_time_however_many_hosts_there_are() -> None:
    plan = SlowPlan()
    run = Watched("s", plan=plan)
    plan.clock = run.clock
    for _ in range(1000):
        run.clock.advance(1.0)
        run.watch.look()
    assert 0.5 * len(run.progress.notes) <= 0.02 * 1000
    assert len(run.progress.notes) > 30


def test_rates_errors_and_bytes_are_counted_across_stages() -> None:
    run = Watched("s")
    tally = run.watch.tally("s")
    tally.expect(90)
    for number in range(60):
        tally.receive(100)
        tally.end("timeout" if number % 3 == 0 else "fetched")
        run.after(1.0)
    note = run.progress.notes[-1]
    assert note.pages_per_s == pytest.approx(1.0)
    assert (note.done, note.left, note.errors, note.body_bytes) == (60, 30, {"timeout": 20}, 6000)
    assert note.end is not None
    assert note.end.say(note.at) == f"about {note.at + timedelta(seconds=30):%H:%M:%SZ}"
    run.watch.enter("s", names.depth(0).links)
    note = run.after(30.0)
    assert [(site.stage, site.done) for site in note.ended] == [("depth_0/raw_batches", 60)]
    assert [(site.stage, site.done) for site in note.sites] == [("depth_0/links", 0)]
    assert (note.done, note.pages_per_s, note.errors) == (60, 0.0, {"timeout": 20})
    assert note.overall_pages_per_s == pytest.approx(60 / 90)
    run.watch.leave("s")
    note = run.after(1.0)
    assert (note.sites_done, note.sites_total, note.sites, note.done) == (1, 1, (), 60)


def test_what_waits_outside_the_plan_counts_and_the_site_that_ends_last_comes_first() -> None:
    held = [Backlog("s", "http://a.test", 100), Backlog("t", "http://moved.test", 5)]
    run = Watched("s", "t", "u", backlog=held)
    run.queue("a.test", 2)
    run.queue("b.test", 30, site="u")
    run.watch.tally("s").expect(100)
    run.watch.tally("t").expect(5)
    note = run.after(1.0)
    assert [site.site for site in note.sites] == ["s", "u", "t"]
    by_site = {site.site: site for site in note.sites}
    assert by_site["s"].slowest is not None
    assert by_site["s"].slowest.queued == 102
    assert by_site["t"].slowest is not None
    assert by_site["t"].slowest.reason is WaitReason.ROBOTS
    assert (note.queued, note.left, note.open_requests) == (137, 137, 0)
    assert [host.host_key for host in note.hosts] == ["http://a.test", "http://b.test", "http://moved.test"]


def test_an_open_request_is_no_wait() -> None:
    run = Watched("s")
    run.queue("a.test", 2)
    run.plan.next(0.0)
    note = run.after(1.0)
    assert (note.open_requests, note.queued, note.waiting, note.hosts) == (1, 1, {}, ())


@pytest.mark.parametrize(
    ("left", "pages_per_s", "bound_s", "said"),
    [
        (100, 10.0, 0.0, "about 12:00:10Z"),
        (100, 10.0, 60.0, "not before 12:01:00Z"),
        (100, 0.0, 60.0, "not before 12:01:00Z"),
        (100, 10.0, 1e300, "not before 2039-12-30 12:00:00Z"),
        (100, 0.0, 0.0, None),
        (0, 10.0, 0.0, None),
    ],
)
def test_an_end_is_estimated_by_rate_and_bounded_by_politeness(
    left: int, pages_per_s: float, bound_s: float, said: str | None
) -> None:
    end = ending(left, pages_per_s, bound_s, NOW)
    assert (end.say(NOW) if end else None) == said


def test_a_watch_that_is_stopped_says_a_last_word() -> None:
    run = Watched("s")

    async def work() -> None:
        watching = asyncio.create_task(run.watch.keep_looking())
        await asyncio.sleep(0)
        run.watch.leave("s")
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

    asyncio.run(work())
    assert [(note.is_last, note.sites_done) for note in run.progress.notes] == [(True, 1)]

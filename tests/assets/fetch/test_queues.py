"""How the plan says that its hosts stand: for every reason a host may have not to be asked."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from assets.fetch.item import FetchItem, Purpose
from assets.fetch.plan import FetchPlan, HostQueue
from assets.fetch.politeness import HostManners
from resources.ports import WaitReason

MANNERS = HostManners(1.0, 30.0)
HOST = "http://a.test"


def item(name: str, *, site: str = "s", purpose: Purpose = Purpose.PAGE) -> FetchItem:
    url = f"{HOST}/{name}"
    return FetchItem(site, "depth_0", purpose, url, url, HOST, url)


def asked_once(plan: FetchPlan, *, fetch_s: float = 0.2) -> None:
    """Ask for the first item and have it answered at 10 s; one more is queued."""
    first = item("1")
    plan.add(first, MANNERS)
    plan.next(0.0)
    plan.add(item("2"), MANNERS)
    plan.answered(first, fetch_s=fetch_s, now_s=10.0)


def has_crawl_delay(plan: FetchPlan) -> None:
    plan.add(item("0"), MANNERS)
    plan.set_crawl_delay(HOST, 7.0)
    plan.withdraw(site="s")
    asked_once(plan)


def backs_off(plan: FetchPlan) -> None:
    asked_once(plan)
    plan.pause(HOST, 50.0)
    plan.refused(HOST)


def tries_again(plan: FetchPlan) -> None:
    asked_once(plan)
    plan.withdraw(host_key=HOST)
    plan.add(item("3"), MANNERS, not_before_s=40.0)


def asks_robots(plan: FetchPlan) -> None:
    asked_once(plan)
    plan.withdraw(host_key=HOST)
    plan.add(item("robots.txt", purpose=Purpose.ROBOTS), MANNERS)


def has_robots_open(plan: FetchPlan) -> None:
    plan.add(item("robots.txt", purpose=Purpose.ROBOTS), MANNERS)
    plan.next(0.0)


def has_page_open(plan: FetchPlan) -> None:
    plan.add(item("1"), MANNERS)
    plan.next(0.0)


@pytest.mark.parametrize(
    ("life", "reason", "next_s"),
    [
        (asked_once, WaitReason.DELAY, 12.0),
        (has_crawl_delay, WaitReason.CRAWL_DELAY, 17.0),
        (backs_off, WaitReason.BACKING_OFF, 50.0),
        (tries_again, WaitReason.RETRY, 40.0),
        (asks_robots, WaitReason.ROBOTS, 12.0),
        (has_robots_open, WaitReason.ROBOTS, None),
        (has_page_open, None, None),
        (lambda plan: plan.add(item("1"), MANNERS), WaitReason.DUE, float("-inf")),
    ],
)
def test_a_host_that_waits_says_why(
    life: Callable[[FetchPlan], None], reason: WaitReason | None, next_s: float | None
) -> None:
    plan = FetchPlan(lambda: 0.0)
    life(plan)
    (queue,) = plan.queues(11.0)
    assert (queue.reason, queue.next_s) == (reason, next_s)


def test_a_host_that_is_due_waits_for_a_free_request() -> None:
    plan = FetchPlan(lambda: 0.0)
    asked_once(plan)
    (queue,) = plan.queues(12.0)
    assert queue == HostQueue(HOST, {"s": 1}, 12.0, WaitReason.DUE, spacing_s=2.2, refusals=0)


def test_what_is_queued_is_counted_by_site_and_a_host_without_anything_is_left_out() -> None:
    plan = FetchPlan(lambda: 0.0)
    for name, site in (("1", "s"), ("2", "t"), ("3", "t")):
        plan.add(item(name, site=site), MANNERS)
    plan.add(item("4", site="t"), MANNERS, not_before_s=5.0)
    plan.add(replace(item("5"), host_key="http://b.test"), MANNERS)
    plan.withdraw(host_key="http://b.test")
    (queue,) = plan.queues(0.0)
    assert queue.queued == {"s": 1, "t": 3}


def test_one_slow_answer_does_not_make_a_forecast() -> None:
    plan = FetchPlan(lambda: 0.0)
    asked_once(plan, fetch_s=0.1)
    second = plan.next(20.0)
    plan.add(item("3"), MANNERS)
    plan.answered(second.item, fetch_s=3.0, now_s=25.0)  # type: ignore[union-attr]
    (queue,) = plan.queues(25.0)
    assert 1.1 < queue.spacing_s < 8.0

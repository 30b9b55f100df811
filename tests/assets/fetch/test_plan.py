"""The plan against its promises, with a clock that the test turns."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from assets.fetch.item import FetchItem, Purpose
from assets.fetch.plan import Ask, FetchPlan, Idle, Wait
from assets.fetch.politeness import HostManners

MANNERS = HostManners(1.0, 30.0)


def item(host: str, name: str, *, priority: float = 0.0, site: str = "s") -> FetchItem:
    url = f"http://{host}/{name}"
    return FetchItem(
        site=site,
        layer="depth_0",
        purpose=Purpose.PAGE,
        url=url,
        url_key=url,
        host_key=f"http://{host}",
        origin_key=url,
        priority=priority,
    )


def plan() -> FetchPlan:
    return FetchPlan(lambda: 0.0)


def test_an_empty_plan_is_idle() -> None:
    assert plan().next(0.0) == Idle()


def test_a_host_has_one_open_request() -> None:
    queue = plan()
    queue.add(item("a", "1"), MANNERS)
    queue.add(item("a", "2"), MANNERS)
    assert isinstance(queue.next(0.0), Ask)
    assert queue.next(0.0) == Idle()


def test_a_host_rests_after_its_answer_while_others_are_asked() -> None:
    queue = plan()
    first = item("a", "1")
    queue.add(first, MANNERS)
    queue.add(item("a", "2"), MANNERS)
    assert queue.next(0.0) == Ask(first)
    queue.answered(first, fetch_s=0.2, now_s=10.0)
    assert queue.next(10.0) == Wait(12.0)
    other = item("b", "1")
    queue.add(other, MANNERS)
    assert queue.next(10.0) == Ask(other)
    assert queue.next(12.0) == Ask(item("a", "2"))


def test_priority_orders_a_host_and_age_breaks_ties() -> None:
    queue = plan()
    names = [("low", 0.0), ("high", 5.0), ("low2", 0.0)]
    for name, priority in names:
        queue.add(item("a", name, priority=priority), HostManners(0.0, 0.0))
    seen = []
    while isinstance(step := queue.next(0.0), Ask):
        seen.append(step.item.url.rsplit("/", 1)[-1])
        queue.answered(step.item, fetch_s=0.0, now_s=0.0)
    assert seen == ["high", "low", "low2"]


def test_a_paused_host_waits_as_a_whole() -> None:
    queue = plan()
    queue.add(item("a", "1"), MANNERS)
    queue.pause("http://a", 50.0)
    assert queue.next(0.0) == Wait(50.0)


def test_a_retry_lets_others_of_its_host_pass() -> None:
    queue = plan()
    again = item("a", "again")
    queue.add(again, MANNERS, not_before_s=5.0)
    queue.add(item("a", "other"), MANNERS)
    step = queue.next(0.0)
    assert step == Ask(item("a", "other"))
    assert isinstance(step, Ask)
    queue.answered(step.item, fetch_s=0.0, now_s=0.0)
    assert queue.next(1.0) == Wait(5.0)
    assert queue.next(5.0) == Ask(again)


def test_two_sites_on_one_host_share_its_queue_and_the_stricter_manners() -> None:
    queue = plan()
    first = item("a", "1", site="one")
    queue.add(first, HostManners(1.0, 30.0))
    queue.add(item("a", "2", site="two"), HostManners(4.0, 30.0))
    assert queue.next(0.0) == Ask(first)
    queue.answered(first, fetch_s=0.0, now_s=0.0)
    assert queue.next(0.0) == Wait(4.0)


def test_withdrawing_a_site_leaves_the_others() -> None:
    queue = plan()
    queue.add(item("a", "1", site="one"), MANNERS)
    queue.add(item("a", "2", site="two"), MANNERS)
    assert [i.site for i in queue.withdraw(site="one")] == ["one"]
    assert queue.next(0.0) == Ask(item("a", "2", site="two"))


def test_a_host_is_freed_once_even_if_released_late() -> None:
    queue = plan()
    first, second, third = item("a", "1"), item("a", "2"), item("a", "3")
    for each in (first, second, third):
        queue.add(each, HostManners(0.0, 0.0))
    queue.next(0.0)
    queue.answered(first, fetch_s=0.0, now_s=0.0)
    assert queue.next(0.0) == Ask(second)
    queue.released(first)
    assert queue.next(0.0) == Idle()


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=40),
    st.lists(st.floats(0.0, 3.0), min_size=1, max_size=10),
)
def test_never_early_never_twice_at_once_and_everything_is_asked(
    wanted: list[tuple[str, int]], durations: list[float]
) -> None:
    queue = plan()
    items = [replace(item(host, str(n)), priority=float(p)) for n, (host, p) in enumerate(wanted)]
    for each in items:
        queue.add(each, MANNERS)
    now_s, turn = 0.0, 0
    asked: list[FetchItem] = []
    open_until: dict[str, tuple[float, FetchItem]] = {}
    rested_at: dict[str, float] = {}
    while True:
        step = queue.next(now_s)
        if isinstance(step, Ask):
            host = step.item.host_key
            assert host not in open_until
            assert now_s >= rested_at.get(host, 0.0)
            duration_s = durations[turn % len(durations)]
            turn += 1
            open_until[host] = (now_s + duration_s, step.item)
            asked.append(step.item)
            continue
        times = [end for end, _ in open_until.values()]
        if isinstance(step, Wait):
            times.append(step.until_s)
        if not times:
            break
        now_s = min(times)
        for host, (end, open_item) in list(open_until.items()):
            if end <= now_s:
                fetch_s = durations[(len(asked) - 1) % len(durations)]
                queue.answered(open_item, fetch_s=fetch_s, now_s=now_s)
                rested_at[host] = now_s + max(1.0, min(10 * fetch_s, 30.0))
                del open_until[host]
    assert sorted(i.url for i in asked) == sorted(i.url for i in items)
    for host in "abc":
        mine = [i.priority for i in asked if i.host_key == f"http://{host}"]
        assert mine == sorted(mine, reverse=True)

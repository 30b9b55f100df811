"""Kept look-ups, with a resolver that counts and a clock that is turned by hand."""

import socket
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from resources.dns_cache import MAX_HOSTS, CachedResolver
from resources.guarded_http import Connector, NotConnected
from resources.ports import FetchFailure
from tests.support.asking import ask, make_fetcher
from tests.support.clocks import TurnableClock
from tests.support.loopback import LoopbackSite, Page

UNKNOWN = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
DEAF = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


class ScriptedResolver:
    """Answers from a script, the last line of it again and again."""

    def __init__(self, *script: Sequence[str] | Exception) -> None:
        self._script = list(script)
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_an_answer_is_kept_until_its_time_is_up() -> None:
    resolver, clock = ScriptedResolver(["192.0.2.1"], ["192.0.2.2"]), TurnableClock()
    cached = CachedResolver(resolver, clock, keeps_s=300)
    assert list(cached("a.test")) == ["192.0.2.1"]
    clock.advance(299)
    assert list(cached("A.test")) == ["192.0.2.1"]
    clock.advance(1)
    assert list(cached("a.test")) == ["192.0.2.2"]
    assert resolver.asked == ["a.test", "a.test"]


def test_hosts_are_kept_apart() -> None:
    resolver = ScriptedResolver(["192.0.2.1"], ["192.0.2.2"])
    cached = CachedResolver(resolver, TurnableClock())
    # The dot at the end keeps the system's search domains out, so it may be another host.
    assert [list(cached(host)) for host in ("a.test", "a.test.", "a.test")] == [
        ["192.0.2.1"],
        ["192.0.2.2"],
        ["192.0.2.1"],
    ]


def test_a_name_that_does_not_exist_is_asked_again_after_the_short_time() -> None:
    resolver, clock = ScriptedResolver(UNKNOWN, ["192.0.2.1"]), TurnableClock()
    cached = CachedResolver(resolver, clock, negative_s=30)
    for seconds in (0, 29.9):
        clock.advance(seconds)
        with pytest.raises(socket.gaierror) as caught:
            cached("a.test")
        assert caught.value.errno == socket.EAI_NONAME
    assert len(resolver.asked) == 1
    clock.advance(0.1)
    assert list(cached("a.test")) == ["192.0.2.1"]


@pytest.mark.parametrize("code", [socket.EAI_AGAIN, socket.EAI_FAIL], ids=["try again", "SERVFAIL"])
def test_a_resolver_that_did_not_answer_is_asked_again_at_once(code: int) -> None:
    resolver = ScriptedResolver(socket.gaierror(code, "no answer"), ["192.0.2.1"])
    cached = CachedResolver(resolver, TurnableClock())
    with pytest.raises(socket.gaierror):
        cached("a.test")
    assert list(cached("a.test")) == ["192.0.2.1"]


@pytest.mark.parametrize(
    ("error", "failure"), [(UNKNOWN, FetchFailure.DNS_NOT_FOUND), (DEAF, FetchFailure.DNS_TRANSIENT)]
)
def test_a_kept_failure_still_says_whether_another_try_can_help(error: Exception, failure: FetchFailure) -> None:
    connector = Connector(CachedResolver(ScriptedResolver(error), TurnableClock()), allow_private_networks=True)
    for _ in range(2):
        with pytest.raises(NotConnected) as caught:
            connector.connect("a.test", 80, 1.0)
        assert caught.value.failure is failure


def test_a_kept_address_is_still_judged() -> None:
    cached = CachedResolver(ScriptedResolver(["10.0.0.1"]), TurnableClock())
    assert list(cached("a.test")) == ["10.0.0.1"]
    with pytest.raises(NotConnected) as caught:
        Connector(cached, allow_private_networks=False).connect("a.test", 80, 1.0)
    assert caught.value.failure is FetchFailure.PRIVATE_ADDRESS


class HeldResolver(ScriptedResolver):
    """Answers for ``slow.test`` once it is told to."""

    def __init__(self, *script: Sequence[str] | Exception) -> None:
        super().__init__(*script)
        self.begun, self.may_answer = threading.Event(), threading.Event()

    def __call__(self, host: str) -> Sequence[str]:
        if host == "slow.test":
            self.begun.set()
            assert self.may_answer.wait(10)
        return super().__call__(host)


@pytest.mark.parametrize("answer", [["192.0.2.1"], DEAF], ids=["addresses", "failure"])
def test_many_threads_share_one_look_up_and_other_hosts_do_not_wait(answer: Sequence[str] | Exception) -> None:
    resolver = HeldResolver(answer)
    cached = CachedResolver(resolver, TurnableClock())

    def looked_up(host: str) -> Sequence[str] | int | None:
        try:
            return list(cached(host))
        except socket.gaierror as error:
            return error.errno

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(looked_up, "slow.test")
        assert resolver.begun.wait(10)
        others = [pool.submit(looked_up, "slow.test") for _ in range(6)]
        assert pool.submit(looked_up, "fast.test").result(10) is not None
        assert not first.done()
        resolver.may_answer.set()
        found = [future.result(10) for future in (first, *others)]
    assert found == [answer if isinstance(answer, list) else socket.EAI_AGAIN] * 7
    if isinstance(answer, list):
        assert resolver.asked.count("slow.test") == 1


def test_a_bug_of_the_resolver_is_not_kept() -> None:
    cached = CachedResolver(ScriptedResolver(ZeroDivisionError(), ["192.0.2.1"]), TurnableClock())
    with pytest.raises(ZeroDivisionError):
        cached("a.test")
    assert list(cached("a.test")) == ["192.0.2.1"]


def test_no_more_hosts_are_kept_than_there_is_room_for() -> None:
    resolver = ScriptedResolver(["192.0.2.1"])
    cached = CachedResolver(resolver, TurnableClock())
    for number in range(MAX_HOSTS + 1):
        cached(f"{number}.test")
    cached(f"{MAX_HOSTS}.test")
    assert len(resolver.asked) == MAX_HOSTS + 1
    cached("0.test")
    assert len(resolver.asked) == MAX_HOSTS + 2


def test_the_fetcher_looks_a_host_up_once_for_many_connections() -> None:
    resolver = ScriptedResolver(["127.0.0.1"])
    fetcher = make_fetcher(resolve=resolver)
    with LoopbackSite({"/": Page("hello", headers=(("Connection", "close"),))}) as site:
        port = site.host.rpartition(":")[2]
        for allow_private in (True, True, False):
            ask(fetcher, f"http://made-up.test:{port}/", allow_private_networks=allow_private)
    fetcher.close()
    assert resolver.asked == ["made-up.test"]

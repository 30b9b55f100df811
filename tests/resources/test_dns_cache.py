"""Kept look-ups, with a resolver that counts and a clock that is turned by hand."""

import asyncio
import socket
import threading
from collections.abc import Sequence

import pytest

from resources.dns_cache import MAX_HOSTS, CachedResolver
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


def look_up(cached: CachedResolver, host: str) -> Sequence[str]:
    return asyncio.run(cached.addresses(host))


def test_an_answer_is_kept_until_its_time_is_up() -> None:
    resolver, clock = ScriptedResolver(["192.0.2.1"], ["192.0.2.2"]), TurnableClock()
    cached = CachedResolver(resolver, clock, keeps_s=300)
    assert list(look_up(cached, "a.test")) == ["192.0.2.1"]
    clock.advance(299)
    assert list(look_up(cached, "A.test")) == ["192.0.2.1"]
    clock.advance(1)
    assert list(look_up(cached, "a.test")) == ["192.0.2.2"]
    assert resolver.asked == ["a.test", "a.test"]


def test_hosts_are_kept_apart() -> None:
    resolver = ScriptedResolver(["192.0.2.1"], ["192.0.2.2"])
    cached = CachedResolver(resolver, TurnableClock())
    # The dot at the end keeps the system's search domains out, so it may be another host.
    assert [list(look_up(cached, host)) for host in ("a.test", "a.test.", "a.test")] == [
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
            look_up(cached, "a.test")
        assert caught.value.errno == socket.EAI_NONAME
    assert len(resolver.asked) == 1
    clock.advance(0.1)
    assert list(look_up(cached, "a.test")) == ["192.0.2.1"]


@pytest.mark.parametrize("code", [socket.EAI_AGAIN, socket.EAI_FAIL], ids=["try again", "SERVFAIL"])
def test_a_resolver_that_did_not_answer_is_asked_again_at_once(code: int) -> None:
    resolver = ScriptedResolver(socket.gaierror(code, "no answer"), ["192.0.2.1"])
    cached = CachedResolver(resolver, TurnableClock())
    with pytest.raises(socket.gaierror):
        look_up(cached, "a.test")
    assert list(look_up(cached, "a.test")) == ["192.0.2.1"]


@pytest.mark.parametrize(
    ("error", "failure"), [(UNKNOWN, FetchFailure.DNS_NOT_FOUND), (DEAF, FetchFailure.DNS_TRANSIENT)]
)
def test_a_kept_failure_still_says_whether_another_try_can_help(error: Exception, failure: FetchFailure) -> None:
    with make_fetcher(resolve=ScriptedResolver(error)) as fetcher:
        assert [ask(fetcher, "http://a.test/").failure for _ in range(2)] == [failure] * 2


def test_a_kept_address_is_still_judged() -> None:
    resolver = ScriptedResolver(["10.0.0.1"])
    with make_fetcher(resolve=resolver) as fetcher:
        answers = [ask(fetcher, "http://a.test/", allow_private_networks=False) for _ in range(2)]
    assert [answer.failure for answer in answers] == [FetchFailure.PRIVATE_ADDRESS] * 2
    assert resolver.asked == ["a.test"]


class HeldResolver(ScriptedResolver):
    """Answers for ``slow.test`` once it is told to."""

    def __init__(self, *script: Sequence[str] | Exception) -> None:
        super().__init__(*script)
        self.may_answer = threading.Event()

    def __call__(self, host: str) -> Sequence[str]:
        assert host != "slow.test" or self.may_answer.wait(10)
        return super().__call__(host)


@pytest.mark.parametrize("answer", [["192.0.2.1"], DEAF], ids=["addresses", "failure"])
def test_many_share_one_look_up_whoever_gives_up_and_other_hosts_do_not_wait(answer: Sequence[str] | Exception) -> None:
    resolver = HeldResolver(answer)
    cached = CachedResolver(resolver, TurnableClock())

    async def looked_up(host: str) -> Sequence[str] | int | None:
        try:
            return list(await cached.addresses(host))
        except socket.gaierror as error:
            return error.errno

    async def all_of_them() -> list[Sequence[str] | int | None]:
        first, *others = [asyncio.create_task(looked_up("slow.test")) for _ in range(40)]
        assert await looked_up("fast.test") is not None
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert not any(other.done() for other in others)
        resolver.may_answer.set()
        return await asyncio.gather(*others)

    found = asyncio.run(all_of_them())
    assert found == [answer if isinstance(answer, list) else socket.EAI_AGAIN] * 39
    assert resolver.asked.count("slow.test") == 1


def test_a_look_up_outlives_the_loop_that_wanted_it() -> None:
    resolver = HeldResolver(["192.0.2.1"])
    cached = CachedResolver(resolver, TurnableClock())

    async def impatient() -> None:
        async with asyncio.timeout(0.01):
            await cached.addresses("slow.test")

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    threading.Timer(0.05, resolver.may_answer.set).start()
    assert list(look_up(cached, "slow.test")) == ["192.0.2.1"]
    assert resolver.asked == ["slow.test"]


def test_a_bug_of_the_resolver_is_not_kept() -> None:
    cached = CachedResolver(ScriptedResolver(ZeroDivisionError(), ["192.0.2.1"]), TurnableClock())
    with pytest.raises(ZeroDivisionError):
        look_up(cached, "a.test")
    assert list(look_up(cached, "a.test")) == ["192.0.2.1"]


def test_no_more_hosts_are_kept_than_there_is_room_for() -> None:
    resolver = ScriptedResolver(["192.0.2.1"])
    cached = CachedResolver(resolver, TurnableClock())

    async def fill() -> None:
        for number in range(MAX_HOSTS + 1):
            await cached.addresses(f"{number}.test")

    asyncio.run(fill())
    look_up(cached, f"{MAX_HOSTS}.test")
    assert len(resolver.asked) == MAX_HOSTS + 1
    look_up(cached, "0.test")
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

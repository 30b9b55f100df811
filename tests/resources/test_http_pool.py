"""Connections: when one is used again, when it is closed, and to which event loop it belongs."""

import asyncio
import os
import socket
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from resources.clock import SystemClock
from resources.http_fetcher import HttpFetcher
from resources.ports import FetchResponse, Truncation
from tests.support.asking import wanted
from tests.support.loopback import LoopbackSite

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
WAIT_S = 10.0

Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Server:
    """A server in the loop of the test, which sees its connections come and go."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._changed = asyncio.Condition()
        self.open: list[asyncio.StreamWriter] = []
        self.most_open = 0
        self.made = 0
        self.asked = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.append(writer)
        self.made += 1
        self.most_open = max(self.most_open, len(self.open))
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await self._note(1)
                await self._answering(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        self.open.remove(writer)
        writer.close()
        await self._note(0)

    async def _note(self, asked: int) -> None:
        self.asked += asked
        async with self._changed:
            self._changed.notify_all()

    async def until(self, state: Callable[[], bool]) -> None:
        """Wait for the server to be in a state."""
        async with asyncio.timeout(WAIT_S), self._changed:
            await self._changed.wait_for(state)


async def say_ok(writer: asyncio.StreamWriter) -> None:
    writer.write(OK)


async def say_nothing(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def serving(answering: Answering = say_ok) -> AsyncIterator[tuple[Server, int]]:
    server = Server(answering)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    try:
        yield server, listening.sockets[0].getsockname()[1]
        await server.until(lambda: not server.open)
    finally:
        listening.close()


def make_fetcher(*, max_open: int = 64, idle_s: float = 15.0) -> HttpFetcher:
    return HttpFetcher(
        SystemClock(), user_agent="", max_open=max_open, idle_s=idle_s, resolve=lambda host: ["127.0.0.1"]
    )


async def fetch_from(fetcher: HttpFetcher, port: int, *hosts: str) -> list[FetchResponse]:
    return await asyncio.gather(*(fetcher.fetch(wanted(f"http://{host}.test:{port}/")) for host in hosts))


def test_a_connection_serves_one_request_after_the_other_and_two_a_host_are_kept() -> None:
    async def run() -> None:
        fetcher = make_fetcher()
        async with serving() as (server, port):
            for _ in range(5):
                await fetch_from(fetcher, port, "a")
            assert server.made == 1
            await fetch_from(fetcher, port, *"aaaaa")
            assert server.made == 5
            await server.until(lambda: len(server.open) == 2)
            await fetch_from(fetcher, port, *"aa")
            assert server.made == 5
            await fetcher.close()

    asyncio.run(run())


def test_there_are_no_more_connections_than_requests_may_be_open_and_the_oldest_goes_first() -> None:
    async def run() -> None:
        fetcher = make_fetcher(max_open=3)
        async with serving() as (server, port):
            for host in "abcabcd":
                await fetch_from(fetcher, port, host)
            assert server.made == 4
            await server.until(lambda: len(server.open) == 3)
            await fetch_from(fetcher, port, *"bcd")
            assert server.made == 4
            await fetch_from(fetcher, port, "a")
            assert server.made == 5
            await fetcher.close()

    asyncio.run(run())


def test_an_idle_connection_is_closed_after_a_while() -> None:
    async def run() -> None:
        fetcher = make_fetcher(idle_s=0.05)
        async with serving() as (server, port):
            await fetch_from(fetcher, port, *"abc")
            await server.until(lambda: not server.open)
            assert [answer.body for answer in await fetch_from(fetcher, port, *"abc")] == [b"ok"] * 3
            await server.until(lambda: not server.open)

    asyncio.run(run())


def test_a_fetch_that_is_cancelled_closes_its_connection() -> None:
    async def run() -> None:
        fetcher = make_fetcher()
        async with serving(say_nothing) as (server, port):
            fetching = asyncio.create_task(fetch_from(fetcher, port, "a"))
            await server.until(lambda: server.asked == 1)
            fetching.cancel()
            with pytest.raises(asyncio.CancelledError):
                await fetching
            await server.until(lambda: not server.open)

    asyncio.run(run())


@pytest.mark.parametrize("is_seen", [True, False], ids=["while idle", "just before the next request"])
def test_an_answer_that_nobody_asked_for_is_nobodys_answer(is_seen: bool) -> None:
    async def run() -> None:
        fetcher = make_fetcher()
        async with serving() as (server, port):
            await fetch_from(fetcher, port, "a")
            # Past the loop, which learns of it only when it looks.
            os.write(server.open[0].get_extra_info("socket").fileno(), OK.replace(b"ok", b"no"))
            if is_seen:
                await server.until(lambda: not server.open)
            (answer,) = await fetch_from(fetcher, port, "a")
            assert (answer.body, server.made, server.asked) == (b"ok", 2, 2)
            await fetcher.close()

    asyncio.run(run())


def test_a_reset_is_not_the_end_of_a_body() -> None:
    async def break_off(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        at_once = struct.pack("ii", 1, 0)  # makes closing a reset
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        writer.transport.abort()

    async def run() -> FetchResponse:
        fetcher = make_fetcher()
        async with serving(break_off) as (_, port):
            (answer,) = await fetch_from(fetcher, port, "a")
            return answer

    answer = asyncio.run(run())
    assert (answer.status, answer.body, answer.truncated) == (200, b"half", Truncation.DISCONNECT)


def test_each_event_loop_has_connections_of_its_own() -> None:
    fetcher = make_fetcher()
    with LoopbackSite({"/": "here"}) as site:
        asked = [wanted(site.url("/"))] * 20
        bodies: list[bytes] = []

        async def fetch_all() -> None:
            bodies.extend([(await fetcher.fetch(request)).body for request in asked])
            await fetcher.close()

        threads = [threading.Thread(target=asyncio.run, args=(fetch_all(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        asyncio.run(fetch_all())
        asyncio.run(fetch_all())
        for thread in threads:
            thread.join()
    assert bodies == [b"here"] * 20 * 6

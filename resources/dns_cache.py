"""Looked-up addresses, kept per host for a while. Whether an address may be asked is the address guard's to say."""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from resources.ports.clock import Clock

MAX_HOSTS: Final = 10_000  # kept at once; beyond that the ones that run out first are dropped
LOOK_UPS_AT_ONCE: Final = 32

Resolve = Callable[[str], Sequence[str]]  # host name -> addresses, best first; raises socket.gaierror; may block


def system_addresses(host: str) -> Sequence[str]:
    """Look a host name up with the system's resolver.

    Raises:
        socket.gaierror: the name has no address, or the resolver did not answer.
    """
    # Bytes, because a str goes through Python's IDNA codec, which raises UnicodeError on a label over 63 characters.
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_unknown_name(error: socket.gaierror) -> bool:
    """Tell a name that has no address from a resolver that did not answer."""
    return error.errno in (socket.EAI_NONAME, socket.EAI_NODATA)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the last look-up of a host said, and until when that holds."""

    addresses: Sequence[str]
    error: socket.gaierror | None
    until_s: float

    def give(self) -> Sequence[str]:
        if self.error is not None:
            # A new one each time: one that is raised for many gathers all their tracebacks.
            raise socket.gaierror(*self.error.args)
        return self.addresses


class CachedResolver:
    """Looks names up in threads of its own and keeps what it learns. For many event loops at once.

    There is one look-up at a time per host, which all who want that host wait for; a slow one holds nobody else up.
    That a name does not exist is kept for a short time. That the resolver did not answer (SERVFAIL, EAI_AGAIN) is
    told to all who waited for that look-up and not kept: the fetch plan's next try is to ask again.
    """

    def __init__(self, resolve: Resolve, clock: Clock, *, keeps_s: float = 300, negative_s: float = 30) -> None:
        self._resolve = resolve
        self._clock = clock
        self._keeps_s = keeps_s
        self._negative_s = negative_s
        self._lock = threading.Lock()
        self._answers: dict[str, _Answer] = {}
        self._under_way: dict[str, Future[_Answer]] = {}
        self._threads = ThreadPoolExecutor(LOOK_UPS_AT_ONCE, thread_name_prefix="look-up")  # started when needed

    async def addresses(self, host: str) -> Sequence[str]:
        """Give the addresses of a host, from the cache while they hold.

        Raises:
            socket.gaierror: the name has no address, or the resolver did not answer.
        """
        name = host.lower()
        with self._lock:
            kept = self._answers.get(name)
            if kept is not None and self._clock.monotonic_s() < kept.until_s:
                return kept.give()
            look_up = self._under_way.get(name)
            if look_up is None:
                look_up = self._under_way[name] = self._threads.submit(self._look_up, name)
        await _done(look_up)
        return look_up.result().give()

    def _look_up(self, name: str) -> _Answer:
        answer: _Answer | None = None
        try:
            answer = self._asked(name)
        finally:
            with self._lock:
                del self._under_way[name]
                if answer is not None:
                    self._keep(name, answer)
        return answer

    def _asked(self, name: str) -> _Answer:
        try:
            addresses = tuple(self._resolve(name))
        except socket.gaierror as error:
            keeps_s = self._negative_s if is_unknown_name(error) else 0.0
            return _Answer((), error, self._clock.monotonic_s() + keeps_s)
        keeps_s = self._keeps_s if addresses else self._negative_s
        return _Answer(addresses, None, self._clock.monotonic_s() + keeps_s)

    def _keep(self, name: str, answer: _Answer) -> None:
        now_s = self._clock.monotonic_s()
        self._answers.pop(name, None)
        if answer.until_s <= now_s:
            return
        if len(self._answers) >= MAX_HOSTS:
            by_end = sorted(self._answers.items(), key=lambda entry: entry[1].until_s)
            # A tenth more than needed, so that this is not done for each new host.
            self._answers = {host: kept for host, kept in by_end[MAX_HOSTS // 10 :] if kept.until_s > now_s}
        self._answers[name] = answer


async def _done(look_up: "Future[_Answer]") -> None:
    """Wait for a look-up that others may wait for, too, so that whoever gives up gives up for himself alone."""
    loop = asyncio.get_running_loop()
    told = asyncio.Event()

    def tell(_: "Future[_Answer]") -> None:
        with suppress(RuntimeError):  # the loop may have ended meanwhile
            loop.call_soon_threadsafe(told.set)

    look_up.add_done_callback(tell)
    await told.wait()

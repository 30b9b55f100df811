"""The connections of one event loop: those that are idle are kept for a while, and no more than there is room for."""

import asyncio
from collections.abc import Hashable
from typing import Final

from resources.http_connection import HttpConnection

IDLE_PER_KEY: Final = 2


class HttpPool:
    """Keeps connections by a key that says what they may be used for. Not for threads."""

    def __init__(self, max_connections: int, idle_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._max_connections = max_connections
        self._idle_s = idle_s
        self._all: set[HttpConnection] = set()
        self._idle: dict[HttpConnection, tuple[Hashable, float]] = {}  # with since when; in this order
        self._by_key: dict[Hashable, list[HttpConnection]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def take(self, key: Hashable) -> HttpConnection | None:
        """Give the idle connection that was used last, if there is one that is of use."""
        while kept := self._by_key.get(key):
            connection = kept[-1]
            self._forget_idle(connection)
            if connection.is_reusable:
                return connection
            connection.abort()
        return None

    def make_room(self) -> None:
        """Close the connection that is idle for longest, when there are as many as there may be."""
        if len(self._all) >= self._max_connections and self._idle:
            self._close(next(iter(self._idle)))

    def add(self, connection: HttpConnection) -> None:
        """Take a new connection, which is in use."""
        if not connection.closed.done():
            self._all.add(connection)

    def keep(self, key: Hashable, connection: HttpConnection) -> None:
        """Take a connection back after use."""
        if not connection.is_open:
            return
        kept = self._by_key.setdefault(key, [])
        kept.append(connection)
        self._idle[connection] = key, self._loop.time()
        if len(kept) > IDLE_PER_KEY:
            self._close(kept[0])
        if self._timer is None:
            self._timer = self._loop.call_later(self._idle_s, self._sweep)

    def lost(self, connection: HttpConnection) -> None:
        """Forget a connection that has ended."""
        self._all.discard(connection)
        if connection in self._idle:
            self._forget_idle(connection)

    async def close(self) -> None:
        """Close what is idle, and wait until it and all that was closed before are gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in list(self._idle):
            self._close(connection)
        ending = [connection.closed for connection in self._all if not connection.is_open]
        if ending:
            await asyncio.wait(ending)

    def _sweep(self) -> None:
        self._timer = None
        now_s = self._loop.time()
        while self._idle:
            connection, (_, since_s) = next(iter(self._idle.items()))
            if since_s + self._idle_s > now_s:
                self._timer = self._loop.call_at(since_s + self._idle_s, self._sweep)
                return
            self._close(connection)

    def _close(self, connection: HttpConnection) -> None:
        self._forget_idle(connection)
        connection.abort()

    def _forget_idle(self, connection: HttpConnection) -> None:
        key, _ = self._idle.pop(connection)
        kept = self._by_key[key]
        kept.remove(connection)
        if not kept:
            del self._by_key[key]

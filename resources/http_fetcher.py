"""The fetcher over HTTP/1.1: one GET request, one answer, within limits, as facts.

Everything below it is ours, because a crawler must send exactly what it is told and keep exactly what comes:
``http_request`` and ``http_answer`` are the bytes, ``http_connection`` and ``http_pool`` the connections,
``http_dialing`` the way to a new one past the ``address_guard``. Redirects, retries, cookies and robots are decided by
the rooms.
"""

import asyncio
import ssl
import threading
from dataclasses import dataclass
from typing import Any

from resources.dns_cache import CachedResolver, Resolve, system_addresses
from resources.http_answer import Answer
from resources.http_connection import HttpConnection, Limits
from resources.http_dialing import Dialer, trusting_context
from resources.http_failure import NoAnswer
from resources.http_pool import HttpPool
from resources.http_proxy import PROXY_AUTHENTICATION_REQUIRED, Proxy
from resources.http_request import Origin, Outgoing, outgoing
from resources.ports.clock import Clock
from resources.ports.fetching import FetchFailure, FetchRequest, FetchResponse

MAX_DETAIL_CHARACTERS = 300


class HttpFetcher:
    """Fetches from any event loop; each has connections of its own. Guarded and unguarded requests never share one."""

    def __init__(
        self,
        clock: Clock,
        *,
        user_agent: str,
        max_open: int = 512,
        idle_s: float = 15.0,
        resolve: Resolve = system_addresses,
        tls: ssl.SSLContext | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        """Make a fetcher.

        Args:
            clock: for the facts.
            user_agent: what callers are to send as ``User-Agent``; nothing is added to a request here.
            max_open: how many requests callers are to keep open at once; no more connections are kept.
            idle_s: how long a connection is kept for the next request; many servers keep it for 5 to 75 s.
            resolve: looks host names up, and its answers are kept for a while; another part makes up names for tests.
            tls: for other authorities than Mozilla's; it must verify.
            proxy: what all requests go through.
        """
        self.user_agent = user_agent
        self.max_open = max_open
        self._clock = clock
        self._idle_s = idle_s
        self._proxy = proxy
        self._dialer = Dialer(CachedResolver(resolve, clock), tls or trusting_context(), proxy)
        self._pools: dict[asyncio.AbstractEventLoop, HttpPool] = {}
        self._lock = threading.Lock()

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Send one request and read its answer, within its limits; cancelled, close the connection.

        Raises:
            ValueError: the request itself is malformed, which is a bug of the caller.
        """
        started_at, started_s = self._clock.now(), self._clock.monotonic_s()
        sent = outgoing(request, self._proxy)
        course = _Course()
        facts: dict[str, Any]
        try:
            facts = _facts(await self._answer(request, sent, course))
        except NoAnswer as error:
            facts = {"failure": error.failure, "failure_detail": error.detail[:MAX_DETAIL_CHARACTERS]}
        return FetchResponse(
            request=request,
            started_at=started_at,
            fetch_ms=max(0, round((self._clock.monotonic_s() - started_s) * 1000)),
            request_head=sent.head if course.is_sent else b"",
            peer_ip=course.peer_ip,
            **facts,
        )

    async def close(self) -> None:
        """Close the idle connections of the running event loop."""
        with self._lock:
            pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.close()

    def _pool(self) -> HttpPool:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            with self._lock:
                # A weak dictionary would keep them: connections know their loop.
                for ended in [known for known in self._pools if known.is_closed()]:
                    del self._pools[ended]
                pool = self._pools[loop] = HttpPool(self.max_open, self._idle_s)
        return pool

    async def _answer(self, request: FetchRequest, sent: Outgoing, course: "_Course") -> Answer:
        limits = _limits(request)
        pool = self._pool()
        key = sent.origin, request.allow_private_networks
        connection = pool.take(key)
        answer: Answer | None = None
        if connection is not None:
            try:
                answer = await course.over(connection, sent, limits)
            except NoAnswer as error:
                if error.failure is FetchFailure.TIMEOUT:
                    raise
                # The server closed an idle connection (or left rubbish on it) just as it was used again. That says
                # nothing about this URL, so a new connection is made: RFC 9112, 9.3.1.
        if connection is None or answer is None:
            connection = await self._dial(pool, request, sent.origin, limits)
            answer = await course.over(connection, sent, limits)
        if not answer.is_last:
            pool.keep(key, connection)
        if self._proxy is not None and not sent.origin.is_tls and answer.head.status == PROXY_AUTHENTICATION_REQUIRED:
            raise self._proxy.failed(f"{answer.head.status} {answer.head.reason}".rstrip())
        return answer

    async def _dial(self, pool: HttpPool, request: FetchRequest, origin: Origin, limits: Limits) -> HttpConnection:
        pool.make_room()
        try:
            async with asyncio.timeout_at(limits.deadline_s):
                connection = await self._dialer.dial(
                    origin,
                    request.connect_timeout_s,
                    allow_private_networks=request.allow_private_networks,
                    on_lost=pool.lost,
                )
        except TimeoutError as error:
            raise NoAnswer(FetchFailure.TIMEOUT, f"no connection within {request.total_timeout_s:g} s") from error
        pool.add(connection)
        return connection


@dataclass(slots=True)
class _Course:
    """What is known of a request even if there is no answer to it."""

    is_sent: bool = False
    peer_ip: str | None = None

    async def over(self, connection: HttpConnection, sent: Outgoing, limits: Limits) -> Answer:
        self.is_sent, self.peer_ip = True, connection.peer_ip
        return await connection.exchange(sent.wire(), limits)


def _limits(request: FetchRequest) -> Limits:
    deadline_s = asyncio.get_running_loop().time() + request.total_timeout_s
    return Limits(
        max_body_bytes=request.max_body_bytes,
        max_inflated_bytes=request.max_inflated_bytes,
        read_timeout_s=request.read_timeout_s,
        total_timeout_s=request.total_timeout_s,
        deadline_s=deadline_s,
    )


def _facts(answer: Answer) -> dict[str, Any]:
    head = answer.head
    return {
        "http_version": head.version,
        "status": head.status,
        "reason": head.reason,
        "headers": head.fields,
        "body": answer.body,
        "truncated": answer.truncated,
    }

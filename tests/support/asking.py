"""One way to ask a fetcher in tests: short limits, no guard unless it is wanted, from code that awaits nothing."""

import asyncio
import ssl
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

from resources.clock import SystemClock
from resources.dns_cache import Resolve, system_addresses
from resources.http_fetcher import HttpFetcher
from resources.http_proxy import Proxy
from resources.ports import Fetcher, FetchRequest, FetchResponse

USER_AGENT = "Isobath/0.1 (+https://isobath.example/)"
HEADERS = (("User-Agent", USER_AGENT), ("Accept", "*/*"), ("Accept-Encoding", "gzip"))

T = TypeVar("T")


class Asker:
    """A fetcher and the event loop in which it is asked, so that connections outlive one request."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.fetcher = fetcher
        self._runner = asyncio.Runner()

    def run(self, asking: Coroutine[Any, Any, T]) -> T:
        """Wait for something in the loop."""
        return self._runner.run(asking)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections and the loop."""
        self.run(self.fetcher.close())
        self._runner.close()


def make_fetcher(
    *,
    resolve: Resolve = system_addresses,
    tls: ssl.SSLContext | None = None,
    proxy: Proxy | None = None,
    max_open: int = 64,
) -> Asker:
    """Make a real fetcher on the real clock, and a loop for it."""
    clock = SystemClock()
    return Asker(HttpFetcher(clock, user_agent=USER_AGENT, max_open=max_open, resolve=resolve, tls=tls, proxy=proxy))


def wanted(
    url: str,
    *,
    headers: tuple[tuple[str, str], ...] = HEADERS,
    max_body_bytes: int = 1_000_000,
    connect_timeout_s: float = 2.0,
    read_timeout_s: float = 5.0,
    total_timeout_s: float = 10.0,
    allow_private_networks: bool = True,
) -> FetchRequest:
    """Make a request."""
    limits = (max_body_bytes, connect_timeout_s, read_timeout_s, total_timeout_s, allow_private_networks)
    return FetchRequest(url, headers, *limits)


def ask(fetcher: Asker, url: str, **changes: Any) -> FetchResponse:
    """Fetch a URL; ``changes`` are those of ``wanted``."""
    return fetcher.run(fetcher.fetcher.fetch(wanted(url, **changes)))


def ask_together(fetcher: Asker, urls: list[str]) -> list[FetchResponse]:
    """Fetch URLs at once."""

    async def all_of_them() -> list[FetchResponse]:
        return await asyncio.gather(*(fetcher.fetcher.fetch(wanted(url)) for url in urls))

    return fetcher.run(all_of_them())

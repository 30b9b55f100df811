"""One way to ask a fetcher in tests: short limits, no guard unless it is wanted."""

from resources.clock import SystemClock
from resources.guarded_http import Resolve, system_addresses
from resources.http_fetcher import HttpFetcher
from resources.ports import Fetcher, FetchRequest, FetchResponse

USER_AGENT = "Isobath/0.1 (+https://isobath.example/)"
HEADERS = (("User-Agent", USER_AGENT), ("Accept", "*/*"), ("Accept-Encoding", "gzip"))


def make_fetcher(*, resolve: Resolve = system_addresses) -> HttpFetcher:
    """Make a real fetcher on the real clock."""
    return HttpFetcher(SystemClock(), user_agent=USER_AGENT, resolve=resolve)


def ask(
    fetcher: Fetcher,
    url: str,
    *,
    headers: tuple[tuple[str, str], ...] = HEADERS,
    max_body_bytes: int = 1_000_000,
    connect_timeout_s: float = 2.0,
    read_timeout_s: float = 5.0,
    total_timeout_s: float = 10.0,
    allow_private_networks: bool = True,
) -> FetchResponse:
    """Fetch a URL."""
    return fetcher.fetch(
        FetchRequest(
            url,
            headers,
            max_body_bytes,
            connect_timeout_s,
            read_timeout_s,
            total_timeout_s,
            allow_private_networks,
        )
    )

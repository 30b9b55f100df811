"""The fetcher: one HTTP request, one answer, no opinion. Redirects, retries and robots are decided elsewhere."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable


class FetchFailure(StrEnum):
    """Why there is no (whole) HTTP answer."""

    TIMEOUT = "timeout"  # connect, read or total deadline, before the headers were read
    NETWORK_ERROR = "network_error"  # refused, reset, TLS failure, not HTTP at all
    DNS_NOT_FOUND = "dns_not_found"  # the name does not exist
    DNS_TRANSIENT = "dns_transient"  # the resolver did not answer
    PRIVATE_ADDRESS = "private_address"  # resolved to an address that must not be asked


class Truncation(StrEnum):
    """Why a body is shorter than what was sent. The values are those of ``WARC-Truncated``."""

    LENGTH = "length"  # longer than the limit
    TIME = "time"  # the total deadline passed
    DISCONNECT = "disconnect"  # the peer stopped before the promised end


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One GET request, as it will be sent."""

    url: str  # absolute, WHATWG-serialised, without fragment
    headers: tuple[tuple[str, str], ...]  # all of them but Host, in this order
    max_body_bytes: int  # as sent; what is beyond is not read
    connect_timeout_s: float = 5.0
    read_timeout_s: float = 10.0
    total_timeout_s: float = 60.0
    allow_private_networks: bool = False
    max_inflated_bytes: int = 50 * 1024 * 1024  # without gzip or deflate; a body that passes it is cut where it does


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """What came back: ``failure`` is set, or ``status`` is."""

    request: FetchRequest
    started_at: datetime
    fetch_ms: int
    request_head: bytes = b""  # request line and headers as sent, ending in an empty line
    http_version: str = "HTTP/1.1"
    status: int | None = None
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = ()  # as received, decoded as ISO-8859-1, in order
    body: bytes = b""  # content-encoding kept, chunking removed
    peer_ip: str | None = None
    truncated: Truncation | None = None
    failure: FetchFailure | None = None
    failure_detail: str = ""

    def __post_init__(self) -> None:
        if (self.status is None) == (self.failure is None):
            raise ValueError(f"a response has a status or a failure: {self.status=} {self.failure=}")

    def header(self, name: str) -> str | None:
        """Give the first value of a header, its name in any case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)


@runtime_checkable
class Fetcher(Protocol):
    """Sends requests. Never follows a redirect; never raises for the web's sake.

    Idle connections belong to the event loop that opened them, so one fetcher may serve several loops, even at once.
    """

    user_agent: str  # product, version and contact; requests carry it
    max_open: int  # how many requests may be open at once

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Send one request and read its answer, within its limits; cancelled, close the connection."""
        ...

    async def close(self) -> None:
        """Close the idle connections of the running event loop."""
        ...

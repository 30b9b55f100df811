"""The fetcher over HTTP/1.1: one GET request, one answer, within limits, as facts.

Built on requests. The bytes of a connection belong to ``exact_http``, the addresses it may go to to ``guarded_http``;
redirects, retries, cookies and robots are decided by the rooms.
"""

import ssl
from collections.abc import Iterator
from http.cookiejar import DefaultCookiePolicy
from typing import Any, cast
from urllib.parse import urlsplit

import requests
import urllib3
from requests.cookies import RequestsCookieJar
from urllib3._collections import HTTPHeaderDict
from urllib3.util import SKIP_HEADER

from resources.dns_cache import CachedResolver
from resources.exact_http import READ_BYTES, ExactPool, ExactResponse, ExactTlsPool, Exchange, current
from resources.guarded_http import Connector, GuardedAdapter, NotConnected, Resolve, system_addresses, trusting_context
from resources.ports.clock import Clock
from resources.ports.fetching import FetchFailure, FetchRequest, FetchResponse, Truncation

MAX_DETAIL_CHARACTERS = 300


class HttpFetcher:
    """Fetches with one pooled session for guarded and one for unguarded requests; they never share a connection."""

    def __init__(
        self,
        clock: Clock,
        *,
        user_agent: str,
        max_open: int = 64,
        pool_connections: int = 64,
        resolve: Resolve = system_addresses,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Make a fetcher.

        Args:
            clock: for the deadlines and the facts.
            user_agent: what callers are to send as ``User-Agent``; nothing is added to a request here.
            max_open: how many requests callers are to keep open at once.
            pool_connections: for how many hosts idle connections are kept, guarded and unguarded each.
            resolve: looks host names up, and its answers are kept for a while; another part makes up names for tests.
            tls: for other authorities than those that come with requests; it must verify.
        """
        self.user_agent = user_agent
        self.max_open = max_open
        self._clock = clock
        tls = tls or trusting_context()
        known_addresses = CachedResolver(resolve, clock)
        self._sessions = {
            allow_private: _session(
                GuardedAdapter(
                    Connector(known_addresses, allow_private),
                    pool_connections=pool_connections,
                    tls=tls,
                    http_pool=ExactPool,
                    https_pool=ExactTlsPool,
                )
            )
            for allow_private in (False, True)
        }

    def fetch(self, request: FetchRequest) -> FetchResponse:
        """Send one request and read its answer, within its limits.

        Raises:
            ValueError: the request itself is malformed, which is a bug of the caller.
        """
        started_at, started_s = self._clock.now(), self._clock.monotonic_s()
        exchange = Exchange(request, _target(request.url), _sent_headers(request.headers), self._clock, started_s)
        token = current.set(exchange)
        facts: dict[str, Any]
        try:
            facts = self._answer(exchange)
        except NotConnected as error:
            facts = {"failure": error.failure, "failure_detail": error.detail}
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            facts = _failure(error)
        finally:
            current.reset(token)
        return FetchResponse(
            request=request,
            started_at=started_at,
            fetch_ms=max(0, round((self._clock.monotonic_s() - started_s) * 1000)),
            request_head=exchange.request_head,
            peer_ip=exchange.peer_ip,
            **facts,
        )

    def close(self) -> None:
        """Close idle connections."""
        for session in self._sessions.values():
            session.close()

    def _answer(self, exchange: Exchange) -> dict[str, Any]:
        try:
            raw = self._send(exchange)
        except (requests.ConnectionError, urllib3.exceptions.HTTPError) as error:
            if not exchange.reused or _is_timeout(error):
                raise
            # The server closed an idle connection (or left rubbish on it) just as it was used again. That says
            # nothing about this URL, so a new connection is made: RFC 9112, 9.3.1.
            exchange.renew = True
            raw = self._send(exchange)
        original = cast(ExactResponse, raw._original_response)
        body, truncated = _read_body(raw, exchange.request.max_body_bytes)
        return {
            "http_version": "HTTP/1.0" if raw.version == 10 else "HTTP/1.1",
            "status": raw.status,
            "reason": raw.reason or "",
            "headers": original.received,
            "body": body,
            "truncated": truncated,
        }

    def _send(self, exchange: Exchange) -> urllib3.HTTPResponse:
        request = exchange.request
        prepared = requests.PreparedRequest()  # filled by hand: prepare() would requote the URL and add headers
        prepared.method, prepared.url = "GET", request.url
        prepared.headers = requests.structures.CaseInsensitiveDict()
        timeout = urllib3.Timeout(
            total=request.total_timeout_s, connect=request.connect_timeout_s, read=request.read_timeout_s
        )
        session = self._sessions[request.allow_private_networks]
        answer = session.send(prepared, stream=True, allow_redirects=False, timeout=timeout)  # type: ignore[arg-type]
        return cast(urllib3.HTTPResponse, answer.raw)


def _session(adapter: GuardedAdapter) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.cookies = RequestsCookieJar(policy=DefaultCookiePolicy(allowed_domains=()))
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _target(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or "#" in url:
        raise ValueError(f"not an absolute http(s) URL without fragment: {url!r}")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError(f"not a serialised URL: {url!r}")
    rest = url.partition("://")[2]
    start = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    return rest[start:] if rest[start : start + 1] == "/" else "/" + rest[start:]


def _sent_headers(headers: tuple[tuple[str, str], ...]) -> HTTPHeaderDict:
    sent = HTTPHeaderDict(headers)
    if "host" in sent:
        raise ValueError("Host is the fetcher's to send")
    for name in ("User-Agent", "Accept-Encoding"):
        if name not in sent:
            sent[name] = SKIP_HEADER  # or urllib3 adds its own
    return sent


def _read_body(raw: urllib3.HTTPResponse, max_body_bytes: int) -> tuple[bytes, Truncation | None]:
    body = bytearray()
    truncated = None
    try:
        # One byte more than allowed, to know a body of just the limit from a longer one.
        while len(body) <= max_body_bytes:
            piece = raw.read1(min(READ_BYTES, max_body_bytes + 1 - len(body)), decode_content=False)
            if not piece:
                break
            body += piece
        else:
            truncated = Truncation.LENGTH
    except urllib3.exceptions.HTTPError as error:
        truncated = Truncation.TIME if _is_timeout(error) else Truncation.DISCONNECT
    finally:
        if truncated:
            raw.close()
        raw.release_conn()
    return bytes(body[:max_body_bytes]), truncated


def _failure(error: Exception) -> dict[str, Any]:
    causes = list(_causes(error))
    failure = FetchFailure.TIMEOUT if _is_timeout(error) else FetchFailure.NETWORK_ERROR
    detail = f"{type(causes[-1]).__name__}: {causes[-1]}"
    return {"failure": failure, "failure_detail": detail[:MAX_DETAIL_CHARACTERS]}


def _is_timeout(error: Exception) -> bool:
    kinds = (TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError)
    return any(isinstance(cause, kinds) for cause in _causes(error))


def _causes(error: Exception) -> Iterator[Exception]:
    """Give an error and what it wraps. By arguments: ``__context__`` may lead into the caller's own errors."""
    current: Exception | None = error
    while current is not None:
        yield current
        inside = (getattr(current, "reason", None), *current.args)
        current = next((part for part in inside if isinstance(part, Exception)), None)

"""The loopback site: a real HTTP/1.1 server on 127.0.0.1 for tests, which notes every request to the byte.

Its pages are given by the test; under ``/_/`` it misbehaves on demand (``loopback_behaviours``). ``small_site`` is a
small whole site for crawl tests (``small_site``).
"""

import io
import socket
import socketserver
import ssl
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from urllib.parse import parse_qsl

from assets.crawl.seed_stage import MADE_UP
from pipelines.served import Served
from tests.support.loopback_behaviours import Asked, behave
from tests.support.pages import ORIGIN, Page
from tests.support.small_site import SMALL_SITE_DEPTHS, small_site

__all__ = ["ORIGIN", "SMALL_SITE_DEPTHS", "LoopbackSite", "Page", "SeenRequest", "small_site"]

MAX_CONNECTIONS = 64
MAX_HEAD_LINES = 200
IDLE_S = 30.0
TLS_HELLO = b"\x16"


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as it came in."""

    method: str
    path: str  # with its query, as sent
    version: str
    header_lines: tuple[str, ...]
    monotonic_s: float

    def header(self, name: str) -> str | None:
        """Give the first value of a header, its name in any case."""
        fields = (line.partition(":") for line in self.header_lines)
        return next((value.strip() for key, _, value in fields if key.lower() == name.lower()), None)


class LoopbackSite(Served):
    """A site to crawl, alive inside its ``with``.

    ``pages`` (path with query -> page) and ``robots`` may be changed at any time. ``robots`` is the text of robots.txt,
    a status to answer with, ``"drop"`` to close without an answer, or None to look in ``pages``. ``otherwise`` is what
    comes for a path that ``pages`` has not. In bodies and headers,
    ``@ORIGIN@`` stands for ``http://HOST:PORT``. A page with an ``ETag`` or ``Last-Modified`` header answers 304 to
    the same validator.
    """

    def __init__(
        self,
        pages: Mapping[str, Page | str | bytes] | None = None,
        *,
        robots: str | int | None = None,
        address: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.pages: dict[str, Page | str | bytes] = dict(pages or {})
        self.robots = robots
        self.otherwise = Page("<title>Not found</title><p>There is no such page.", HTTPStatus.NOT_FOUND)
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._requests: list[SeenRequest] = []
        self._scheme = "https" if tls else "http"
        self._connections = _Server(self, address, tls)
        self.host = f"{address}:{self._connections.server_address[1]}"  # such as 127.0.0.1:40123
        super().__init__(self._connections)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        super().__exit__(kind, error, trace)
        self._connections.end_connections()
        if self._connections.bugs and error is None:
            raise self._connections.bugs[0]

    def url(self, path: str) -> str:
        """Give the absolute URL of a path."""
        return f"{self._scheme}://{self.host}{path}"

    @property
    def requests(self) -> list[SeenRequest]:
        """All requests so far, in the order in which they came in."""
        with self._lock:
            return list(self._requests)

    def paths_seen(self, since: int = 0) -> list[str]:
        """Give the paths asked after so many requests, with queries, in order, repeats included, but no made-up one."""
        return [seen.path for seen in self.requests[since:] if not seen.path.startswith(MADE_UP)]

    def note(self, seen: SeenRequest) -> None:
        """Note a request; the server's threads call this."""
        with self._lock:
            self._requests.append(seen)

    def page(self, path: str) -> Page:
        """Give what a path holds, 404 included."""
        found = self.pages.get(path)
        if path == "/robots.txt" and self.robots is not None:
            found = (
                Page("", int(self.robots))
                if isinstance(self.robots, int)
                else Page(self.robots, content_type="text/plain")
            )
        if found is None:
            return self.otherwise
        return found if isinstance(found, Page) else Page(found)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, site: LoopbackSite, address: str, tls: ssl.SSLContext | None) -> None:
        self.site = site
        self._tls = tls
        self.bugs: list[BaseException] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__((address, 0), _Conversation)

    def get_request(self) -> tuple[socket.socket, object]:
        """Accept a connection; TLS shakes hands in the connection's own thread, at its first read."""
        connection, client = super().get_request()
        if self._tls:
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, client

    def process_request_thread(self, request: object, client_address: object) -> None:
        assert isinstance(request, socket.socket)
        with self._free:
            with self._lock:
                self._open.add(request)
            try:
                super().process_request_thread(request, client_address)
            finally:
                with self._lock:
                    self._open.discard(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep what went wrong for the test's end."""
        if (bug := sys.exception()) is not None:
            self.bugs.append(bug)

    def end_connections(self) -> None:
        """Wake the threads that still read or write."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class _Conversation(socketserver.StreamRequestHandler):
    server: _Server
    rfile: io.BufferedReader
    timeout = IDLE_S
    disable_nagle_algorithm = True

    def handle(self) -> None:
        # A client that goes away, or a test that ends, is no bug.
        with suppress(ConnectionError, TimeoutError, ssl.SSLError):
            while not self.server.site.closing.is_set() and self._answer_one():
                pass

    def _answer_one(self) -> bool:
        site = self.server.site
        if self.rfile.peek(1)[:1] == TLS_HELLO:  # may hold no line end to wait for
            return False
        request_line = self.rfile.readline(65536).decode("iso-8859-1").split()
        if len(request_line) != 3:
            return False
        method, target, version = request_line
        lines: list[str] = []
        while (line := self.rfile.readline(65536).rstrip(b"\r\n")) and len(lines) < MAX_HEAD_LINES:
            lines.append(line.decode("iso-8859-1"))
        seen = SeenRequest(method, target, version, tuple(lines), time.monotonic())
        site.note(seen)
        path, _, query = seen.path.partition("?")
        if site.robots == "drop" and path == "/robots.txt":
            return False
        if path.startswith("/_/"):
            asked = Asked(path, dict(parse_qsl(query, keep_blank_values=True)), seen.header, self._send, site.closing)
            answer: Page | bool = behave(asked)
        else:
            answer = site.page(seen.path)
        if isinstance(answer, bool):
            return answer
        self._send(answer.response(seen.header, origin=site.url("")))
        return seen.version == "HTTP/1.1" and (seen.header("Connection") or "").lower() != "close"

    def _send(self, data: bytes) -> None:
        self.connection.sendall(data)

"""HTTP/1.1 connections that send exactly what is given and keep exactly what comes, each read held to the deadline.

They sit inside urllib3's pools, which do reuse, TLS and body framing. What urllib3 and requests have no place for (the
target as given, the head as sent, the head as received, the deadline) travels beside them in an ``Exchange``.
Which addresses may be asked is decided in ``guarded_http``; what an answer means, in ``http_fetcher``.
"""

import http.client
import io
import socket
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from urllib3._collections import HTTPHeaderDict

from resources.guarded_http import GuardedConnection, GuardedPool, GuardedTlsConnection, GuardedTlsPool
from resources.ports.clock import Clock
from resources.ports.fetching import FetchRequest

MAX_HEAD_BYTES = 256 * 1024  # as Chrome; interim answers count too
READ_BYTES = 64 * 1024

# All that http.client and urllib3 need to know. The rest is kept from them: they would lose what follows a malformed
# line, and requests reads and decodes the whole body of an answer that has a Location, whatever its size.
_FRAMING = frozenset({"connection", "content-length", "keep-alive", "proxy-connection", "transfer-encoding"})
_CONTROL_TO_SPACE = str.maketrans("\0\r\n", "   ")
_BLANKS = " \t"


@dataclass(slots=True)
class Exchange:
    """One request and what is learned on its way."""

    request: FetchRequest
    target: str
    headers: HTTPHeaderDict
    clock: Clock
    started_s: float
    request_head: bytes = b""
    peer_ip: str | None = None
    reused: bool = False  # whether the connection had served a request before
    renew: bool = False  # whether the next try must not use an idle connection

    def patience_s(self) -> float:
        """Give the seconds that the next read may take.

        Raises:
            TimeoutError: the total deadline has passed.
        """
        left_s = self.started_s + self.request.total_timeout_s - self.clock.monotonic_s()
        if left_s <= 0:
            raise TimeoutError(f"not done within {self.request.total_timeout_s} s")
        return min(left_s, self.request.read_timeout_s)


current: ContextVar[Exchange] = ContextVar("exchange")


def header_fields(lines: Iterable[bytes]) -> tuple[tuple[str, str], ...]:
    r"""Turn the lines of a head into fields, in order; folded lines are joined by one space.

    Lines that are no field are left out. NUL and a lone CR become spaces: RFC 9110, 5.5.

    >>> header_fields([b"A: 1\r\n", b"  2\r\n", b"nonsense\r\n", b"a:3\r\n"])
    (('A', '1 2'), ('a', '3'))
    """
    fields: list[tuple[str, str]] = []
    for line in lines:
        text = line.decode("iso-8859-1").rstrip("\r\n").translate(_CONTROL_TO_SPACE)
        name, colon, value = text.partition(":")
        if text.startswith((" ", "\t")):
            if fields:
                last_name, last_value = fields[-1]
                fields[-1] = last_name, f"{last_value} {text.strip(_BLANKS)}".strip(_BLANKS)
        elif colon and name.strip(_BLANKS):
            fields.append((name.strip(_BLANKS), value.strip(_BLANKS)))
    return tuple(fields)


class _TimedSocket(io.RawIOBase):
    """A socket's input in which every single read is held to the deadline, so that no drip outlives it."""

    def __init__(self, plain: io.RawIOBase, sock: socket.socket, exchange: Exchange) -> None:
        self._plain = plain
        self._sock = sock
        self._exchange = exchange
        self.enough = False  # whether no more may be taken from the socket

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self.enough:
            return None
        self._sock.settimeout(self._exchange.patience_s())
        return self._plain.readinto(buffer)

    def close(self) -> None:
        self._plain.close()
        super().close()


class _ReplayingReader(io.BufferedReader):
    """A reader to which lines can be given back."""

    replay: deque[bytes]

    def readline(self, size: int | None = -1, /) -> bytes:
        return self.replay.popleft() if self.replay else super().readline(size)


class ExactResponse(http.client.HTTPResponse):
    """A response whose head is read by us; http.client gets the framing fields of it and reads the body."""

    fp: _ReplayingReader
    received: tuple[tuple[str, str], ...] = ()

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self._sock = sock
        self._input = _TimedSocket(self.fp.detach(), sock, current.get())
        self.fp = _ReplayingReader(self._input, READ_BYTES)
        self.fp.replay = deque()

    def _close_conn(self) -> None:
        # Bytes after the promised end: whatever follows on this connection could pass for the answer to another
        # request. Shut down, the pool takes the connection for one that the server has left.
        self._input.enough = True
        if self.fp.peek(1):
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        super()._close_conn()  # type: ignore[misc]

    def _read_status(self) -> tuple[str, int, str]:
        left_bytes = MAX_HEAD_BYTES
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            lines = self._read_lines(left_bytes)
            left_bytes -= len(version) + len(reason) + sum(map(len, lines))
            # Interim answers (100 Continue, 103 Early Hints) are not the answer; http.client knows only the first.
            if status == http.client.SWITCHING_PROTOCOLS or not 100 <= status < 200:
                break
        self.received = header_fields(lines)
        self.fp.replay.extend(_framing_line(name, value) for name, value in self.received if name.lower() in _FRAMING)
        self.fp.replay.append(b"\r\n")
        return version, status, reason.translate(_CONTROL_TO_SPACE)

    def _read_lines(self, left_bytes: int) -> list[bytes]:
        lines: list[bytes] = []
        while left_bytes > 0:
            line = self.fp.readline(left_bytes)
            if line in (b"\r\n", b"\n"):
                return lines
            if not line.endswith(b"\n") and len(line) < left_bytes:
                raise http.client.RemoteDisconnected("closed within the headers")
            left_bytes -= len(line)
            lines.append(line)
        raise http.client.HTTPException(f"headers longer than {MAX_HEAD_BYTES} bytes")


def _framing_line(name: str, value: str) -> bytes:
    # http.client takes "gzip, chunked" for not chunked.
    if name.lower() == "transfer-encoding" and value.lower().rpartition(",")[2].strip() == "chunked":
        value = "chunked"
    return f"{name}: {value}\r\n".encode("iso-8859-1")


class ExactConnection(GuardedConnection):
    """Sends target and headers as given, and notes what went out."""

    response_class = ExactResponse
    _served = 0

    def _new_conn(self) -> socket.socket:
        self._served = 0
        sock = super()._new_conn()
        current.get().peer_ip = self.peer_ip
        return sock

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **options: Any) -> None:
        """Send the current exchange's target and headers; urllib3 has requoted the URL it gives."""
        exchange = current.get()
        if exchange.renew:
            self.close()
        exchange.reused = self._served > 0 and self.sock is not None
        exchange.peer_ip = self.peer_ip
        super().request(method, exchange.target, body, exchange.headers, **options)
        self._served += 1

    def send(self, data: Any) -> None:
        """Send the head (a GET has no more) and note it."""
        if self.sock is None:
            self.connect()
        current.get().request_head = bytes(data)
        super().send(data)


class ExactTlsConnection(ExactConnection, GuardedTlsConnection):
    """The same under TLS."""


class ExactPool(GuardedPool):
    """Idle connections to one host."""

    ConnectionCls = ExactConnection


class ExactTlsPool(GuardedTlsPool):
    """Idle TLS connections to one host."""

    ConnectionCls = ExactTlsConnection

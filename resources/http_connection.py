"""One connection to a server, for one exchange at a time. What the bytes mean is ``http_answer``'s to say."""

import asyncio
import select
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from resources.http_answer import Answer, AnswerReader
from resources.http_failure import NoAnswer, reason_of
from resources.ports.fetching import FetchFailure, Truncation


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much an exchange may take."""

    max_body_bytes: int
    max_inflated_bytes: int
    read_timeout_s: float  # between two pieces
    total_timeout_s: float  # as the request had it, for the message
    deadline_s: float  # in the time of the loop; no drip of bytes outlives it


class HttpConnection(asyncio.Protocol):
    """Sends heads of requests and reads answers."""

    def __init__(self, sock: socket.socket, peer_ip: str | None, on_lost: Callable[["HttpConnection"], None]) -> None:
        self.peer_ip = peer_ip
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._loop = asyncio.get_running_loop()
        self._on_lost = on_lost
        self._sock = sock
        self._unread = select.poll()
        self._unread.register(sock, select.POLLIN)
        self._transport: asyncio.Transport | None = None
        self.is_open = True
        self._reader: AnswerReader | None = None  # of the exchange under way
        self._done: asyncio.Future[Answer | NoAnswer]  # failures, too: an exception must be taken by somebody
        self._limits: Limits
        self._heard_s = 0.0
        self._timer: asyncio.TimerHandle

    async def exchange(self, request: bytes, limits: Limits) -> Answer:
        """Send a request and read its answer; cancelled, close.

        Raises:
            NoAnswer: the head did not come, in time or at all; the connection is closed then.
        """
        if not self.is_open or self._transport is None:
            raise NoAnswer(FetchFailure.NETWORK_ERROR, "closed without response")
        self._reader = AnswerReader(limits.max_body_bytes, limits.max_inflated_bytes)
        self._limits = limits
        self._done = self._loop.create_future()
        self._heard_s = self._loop.time()
        self._watch()
        self._transport.write(request)
        try:
            told = await self._done
        except BaseException:
            self.abort()
            raise
        finally:
            self._timer.cancel()
        if isinstance(told, NoAnswer):
            raise told
        return told

    @property
    def is_reusable(self) -> bool:
        """Whether another exchange may follow: the server is there, and has sent nothing that was not asked for."""
        return self.is_open and not self._unread.poll(0)

    def abort(self) -> None:
        """Close at once; what is under way is dropped."""
        self.is_open = False
        self._reader = None
        if self._transport is None:
            self._sock.close()
        else:
            # Not close(), which under TLS waits for the other side's farewell.
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        assert isinstance(transport, asyncio.Transport), "made by create_connection"
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take a piece of the answer; one that nobody waits for ends the connection."""
        reader = self._reader
        if reader is None:
            self.abort()
            return
        self._heard_s = self._loop.time()
        try:
            reader.feed(data)
        except NoAnswer as error:
            self._fail(error)
        else:
            self._deliver(reader)

    def eof_received(self) -> None:
        """Take the end that the server made."""
        self._ended(None)
        self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """Take the end of the connection."""
        self._ended(error)
        if not self.closed.done():
            self.closed.set_result(None)
        self._on_lost(self)

    def _ended(self, error: Exception | None) -> None:
        self.is_open = False
        reader = self._reader
        if reader is None:
            return
        # Many servers end TLS without a farewell.
        is_clean = error is None or isinstance(error, ssl.SSLEOFError)
        try:
            reader.end(cleanly=is_clean)
        except NoAnswer as told:
            self._fail(told if error is None else NoAnswer(told.failure, f"{told.detail}: {reason_of(error)}"))
        else:
            self._deliver(reader)

    def _deliver(self, reader: AnswerReader) -> None:
        if reader.answer is None:
            return
        self._reader = None
        if reader.answer.is_last:
            self.abort()
        self._done.set_result(reader.answer)

    def _fail(self, error: NoAnswer) -> None:
        self.abort()
        self._done.set_result(error)

    def _watch(self) -> None:
        """Wait for the earlier of two ends: the silence that is too long, and the deadline."""
        due_s = min(self._heard_s + self._limits.read_timeout_s, self._limits.deadline_s)
        self._timer = self._loop.call_at(due_s, self._look_at_the_time, due_s)

    def _look_at_the_time(self, due_s: float) -> None:
        reader = self._reader
        if reader is None:
            return
        is_over = due_s >= self._limits.deadline_s
        if not is_over and due_s < self._heard_s + self._limits.read_timeout_s:
            self._watch()  # something has come meanwhile
        elif reader.cut(Truncation.TIME):
            self._deliver(reader)
        elif is_over:
            self._fail(NoAnswer(FetchFailure.TIMEOUT, f"not done within {self._limits.total_timeout_s:g} s"))
        else:
            self._fail(NoAnswer(FetchFailure.TIMEOUT, f"nothing came for {self._limits.read_timeout_s:g} s"))

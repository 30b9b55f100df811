"""Bodies of answers, piece by piece: which of the received bytes belong to the body, and where it ends. Pure.

Each piece is handled in time proportional to its size, however small or odd the pieces are.
"""

from typing import Final, Protocol

from resources.http_head import Framing

MAX_LINE_BYTES: Final = 64 * 1024  # of a chunk's size and extensions
MAX_TRAILER_BYTES: Final = 256 * 1024

_HEX_DIGITS: Final = frozenset(b"0123456789abcdefABCDEF")


class BrokenBody(Exception):
    """What came cannot be the rest of this body."""


class Body(Protocol):
    """A body that is being received."""

    ends_with_connection: bool  # whether it is whole if the connection ends now

    def feed(self, data: bytes, at: int, into: bytearray) -> int | None:
        """Add what belongs to the body from ``at`` on; give where it ended, None when more is to come.

        Raises:
            BrokenBody: what came before the break was added.
        """
        ...


def body_of(framing: Framing) -> Body:
    """Make the body that a framing announces."""
    if framing.is_chunked:
        return ChunkedBody()
    return OpenBody() if framing.length is None else MeasuredBody(framing.length)


class MeasuredBody:
    """A body of a length known before."""

    __slots__ = ("_left_bytes", "ends_with_connection")

    def __init__(self, length: int) -> None:
        self._left_bytes = length
        self.ends_with_connection = length == 0

    def feed(self, data: bytes, at: int, into: bytearray) -> int | None:
        """Add as many bytes as are missing."""
        end = min(len(data), at + self._left_bytes)
        into += memoryview(data)[at:end]
        self._left_bytes -= end - at
        return None if self._left_bytes else end


class OpenBody:
    """A body that ends with its connection."""

    __slots__ = ("ends_with_connection",)

    def __init__(self) -> None:
        self.ends_with_connection = True

    def feed(self, data: bytes, at: int, into: bytearray) -> int | None:
        """Add all there is."""
        into += memoryview(data)[at:]
        return None


class ChunkedBody:
    """A body in chunks. Extensions and trailers are dropped; a bare line feed ends a line, too.

    Source: RFC 9112, 7.1.
    """

    __slots__ = ("_in_trailers", "_left_bytes", "_line", "_trailer_bytes", "ends_with_connection")

    def __init__(self) -> None:
        self.ends_with_connection = False
        self._left_bytes = -1  # of the chunk; 0: its line end comes next; -1: a line with a size does
        self._line = bytearray()  # the line that has begun
        self._in_trailers = False
        self._trailer_bytes = 0

    def feed(self, data: bytes, at: int, into: bytearray) -> int | None:
        """Add the contents of chunks."""
        view = memoryview(data)
        size = len(data)
        while at < size:
            if self._left_bytes > 0:
                end = min(size, at + self._left_bytes)
                into += view[at:end]
                self._left_bytes -= end - at
                at = end
                continue
            stop = data.find(b"\n", at)
            self._line += view[at : stop if stop >= 0 else size]
            if len(self._line) > MAX_LINE_BYTES:
                raise BrokenBody("a line of the chunked coding does not end")
            if stop < 0:
                return None
            at = stop + 1
            line = bytes(self._line).rstrip(b"\r")
            self._line.clear()
            if self._is_end(line):
                return at
        return None

    def _is_end(self, line: bytes) -> bool:
        if self._in_trailers:
            self._trailer_bytes += len(line)
            if self._trailer_bytes > MAX_TRAILER_BYTES:
                raise BrokenBody("trailers do not end")
            return not line
        if self._left_bytes == 0:
            if line:
                raise BrokenBody("a chunk is longer than it says")
            self._left_bytes = -1
        else:
            self._begin_chunk(line)
        return False

    def _begin_chunk(self, line: bytes) -> None:
        size = line.partition(b";")[0].strip()
        if not size or not _HEX_DIGITS.issuperset(size):
            raise BrokenBody(f"not the size of a chunk: {size[:20]!r}")
        self._left_bytes = int(size, 16)
        if self._left_bytes == 0:
            # Some servers leave without the empty line that comes last.
            self._in_trailers = self.ends_with_connection = True

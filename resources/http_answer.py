"""One answer, read from the bytes of a connection as they come: its head, its body within a limit, and what follows.

Pure: pieces in, an answer out; however the bytes are cut into pieces, the answer is the same.
"""

from dataclasses import dataclass
from typing import Final

from resources.http_body import Body, BrokenBody, body_of
from resources.http_failure import NotHttp
from resources.http_head import HEAD_END, Head, framing, parse_head, parse_status_line
from resources.http_inflation import InflationLimit
from resources.ports.fetching import Truncation

MAX_HEAD_BYTES: Final = 256 * 1024  # as Chrome; interim answers count too

_BEGINNING: Final = b"HTTP/"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: a head, and as much of the body as did."""

    head: Head
    body: bytes
    truncated: Truncation | None
    is_last: bool  # whether the connection must not be used again


class AnswerReader:
    """Reads one answer."""

    __slots__ = (
        "_body",
        "_content",
        "_head",
        "_head_bytes",
        "_inflation",
        "_keeps_open",
        "_looked_bytes",
        "_max_body_bytes",
        "_max_inflated_bytes",
        "_partial",
        "answer",
    )

    def __init__(self, max_body_bytes: int, max_inflated_bytes: int) -> None:
        self.answer: Answer | None = None  # set when it is all there
        self._max_body_bytes = max_body_bytes
        self._max_inflated_bytes = max_inflated_bytes
        self._partial = bytearray()  # of a head whose end has not come
        self._head_bytes = 0  # interim heads and what came after the head included
        self._looked_bytes: int | None = 0  # of the status line; None: it has been seen
        self._head: Head | None = None
        self._body: Body | None = None
        self._inflation: InflationLimit | None = None  # when the body is compressed
        self._content = bytearray()
        self._keeps_open = False

    def feed(self, data: bytes) -> None:
        """Take a piece, of at least one byte.

        Raises:
            NotHttp: this is not the head of an HTTP/1.x answer, or none of reasonable size.
        """
        at = 0
        if self._body is None:
            at = self._read_head(data)
            if self._body is None:
                return
        try:
            end = self._body.feed(data, at, self._content)
        except BrokenBody:
            self._keeps_open = False
            # After its last chunk a body is whole, whatever else is wrong.
            self.cut(None if self._body.ends_with_connection else Truncation.DISCONNECT)
            return
        if len(self._content) > self._max_body_bytes or self._is_inflated_too_far():
            self.cut(Truncation.LENGTH)
        elif end is not None:
            # What follows the promised end could pass for the answer to another request.
            self._keeps_open = self._keeps_open and end == len(data)
            self._finish(None)

    def end(self, *, cleanly: bool = True) -> None:
        """Take the end of the connection; not cleanly is by a reset or another error.

        Raises:
            NotHttp: the head has not ended.
        """
        if self._body is None:
            raise NotHttp("closed within the headers" if self._partial else "closed without response")
        self.cut(None if self._body.ends_with_connection and cleanly else Truncation.DISCONNECT)

    def cut(self, why: Truncation | None) -> bool:
        """End the answer here, if its head has come; say whether it had."""
        if self._body is None:
            return False
        self._keeps_open = False
        self._finish(Truncation.LENGTH if len(self._content) > self._max_body_bytes else why)
        return True

    def _is_inflated_too_far(self) -> bool:
        return self._inflation is not None and self._inflation.is_passed(self._content)

    def _finish(self, truncated: Truncation | None) -> None:
        assert self._head is not None, "there is a body only after a head"
        del self._content[self._max_body_bytes :]
        self.answer = Answer(self._head, bytes(self._content), truncated, is_last=not self._keeps_open)

    def _read_head(self, data: bytes) -> int:
        """Look for the end of the head; give where the body begins in the piece."""
        known = len(self._partial)
        self._partial += data
        self._head_bytes += len(data)
        begin, search_from = 0, max(0, known - 2)
        while found := HEAD_END.search(self._partial, search_from):
            self._check_size(self._head_bytes - len(self._partial) + found.end())
            head = parse_head(bytes(self._partial[begin : found.start()]))
            begin = search_from = found.end()
            if not head.is_interim:
                self._head, frame = head, framing(head)
                self._keeps_open, self._body = frame.keeps_open, body_of(frame)
                coding = next((value for name, value in head.fields if name.lower() == "content-encoding"), None)
                self._inflation = InflationLimit(coding, self._max_inflated_bytes) if coding else None
                self._partial.clear()
                return begin - known
            self._looked_bytes = 0
        del self._partial[:begin]
        self._check_size(self._head_bytes)
        self._check_beginning()
        return len(data)

    def _check_size(self, head_bytes: int) -> None:
        if head_bytes > MAX_HEAD_BYTES:
            raise NotHttp(f"headers longer than {MAX_HEAD_BYTES} bytes")

    def _check_beginning(self) -> None:
        """Refuse at once what is no status line: who speaks another protocol may wait for us to answer."""
        if self._looked_bytes is None:
            return
        stop = self._partial.find(b"\n", self._looked_bytes)
        self._looked_bytes = len(self._partial) if stop < 0 else None
        if stop >= 0 or self._partial[: len(_BEGINNING)] != _BEGINNING[: len(self._partial)]:
            parse_status_line(self._partial[: stop if stop >= 0 else None].decode("iso-8859-1"))

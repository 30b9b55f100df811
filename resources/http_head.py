"""Heads of answers: from bytes to a status line, fields and the framing of the body. Pure; nothing is asked or read.

A head is kept as it came: fields in order, duplicates and case included, bytes as ISO-8859-1. Nothing that a server may
write makes a head unreadable but a status line that is none, or lengths that contradict each other.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from resources.http_failure import NotHttp

SWITCHING_PROTOCOLS: Final = 101
HEAD_END: Final = re.compile(rb"\n\r?\n")  # the end of the last line, and the empty one

_MAX_SHOWN_CHARACTERS: Final = 100
_CONTROL_TO_SPACE: Final = str.maketrans("\0\r", "  ")
_BLANKS: Final = " \t"
_FRAMING: Final = frozenset({"connection", "content-length", "keep-alive", "proxy-connection", "transfer-encoding"})
_NO_BODY: Final = frozenset({SWITCHING_PROTOCOLS, 204, 304})


@dataclass(frozen=True, slots=True)
class Head:
    """A status line and the fields after it."""

    version: str  # HTTP/1.0 or HTTP/1.1: later minor versions count as 1.1, 0.9 as 1.0
    status: int
    reason: str
    fields: tuple[tuple[str, str], ...]

    @property
    def is_interim(self) -> bool:
        """Whether another head follows (100 Continue, 103 Early Hints). After 101 none does."""
        return self.status < 200 and self.status != SWITCHING_PROTOCOLS


@dataclass(frozen=True, slots=True)
class Framing:
    """Where a body ends: after ``length`` bytes, with its last chunk, or (neither) with the connection."""

    length: int | None
    is_chunked: bool
    keeps_open: bool  # whether the connection may carry another exchange


def parse_head(block: bytes) -> Head:
    r"""Read a head, given without its empty line.

    Raises:
        NotHttp: the first line is no status line of HTTP/1.x.

    >>> parse_head(b"HTTP/1.1 200 Fine\r\nA: 1\r\n  2\r\nnonsense\r\na:3\r")
    Head(version='HTTP/1.1', status=200, reason='Fine', fields=(('A', '1 2'), ('a', '3')))
    """
    text = block.decode("iso-8859-1").replace("\r\n", "\n")
    if "\r" in text or "\0" in text:  # become spaces: RFC 9110, 5.5
        text = text.translate(_CONTROL_TO_SPACE)
    lines = text.split("\n")
    version, status, reason = parse_status_line(lines[0])
    del lines[0]
    return Head(version, status, reason, _fields(lines))


def parse_status_line(line: str) -> tuple[str, int, str]:
    """Give version, status and reason.

    Raises:
        NotHttp: this is no status line of HTTP/1.x.

    >>> parse_status_line("HTTP/1.0   404")
    ('HTTP/1.0', 404, '')
    """
    version, status, reason = [*line.split(None, 2), "", "", ""][:3]
    if version == "HTTP/1.0" or version == "HTTP/0.9":
        version = "HTTP/1.0"
    elif version.startswith("HTTP/1."):
        version = "HTTP/1.1"
    else:
        raise NotHttp(f"not an HTTP/1.x answer: {line.strip()[:_MAX_SHOWN_CHARACTERS]!r}")
    try:
        number = int(status)
    except ValueError:
        number = 0
    if not 100 <= number <= 999:
        raise NotHttp(f"not a status line: {line.strip()[:_MAX_SHOWN_CHARACTERS]!r}")
    return version, number, reason.strip()


def _fields(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Read fields; folded lines are joined by one space, lines that are no field are left out."""
    fields: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t"):
            if fields:
                last_name, last_value = fields[-1]
                fields[-1] = last_name, f"{last_value} {line.strip(_BLANKS)}".strip(_BLANKS)
        elif colon and (name := name.strip(_BLANKS)):
            fields.append((name, value.strip(_BLANKS)))
    return tuple(fields)


def framing(head: Head) -> Framing:
    """Say where the body of an answer to GET ends, and whether the connection outlives it.

    Raises:
        NotHttp: it has two lengths.

    Source: RFC 9112, 6.3 and 9.3.
    """
    given: dict[str, list[str]] = {}
    for name, value in head.fields:
        if (known := name.lower()) in _FRAMING:
            given.setdefault(known, []).append(value)
    keeps_open = _keeps_open(head.version, given)
    if head.status in _NO_BODY:
        return Framing(0, is_chunked=False, keeps_open=keeps_open)
    # The last coding counts: "gzip, chunked", on one line or on two.
    if ",".join(given.get("transfer-encoding", ())).rpartition(",")[2].strip().lower() == "chunked":
        return Framing(None, is_chunked=True, keeps_open=keeps_open)
    length = _length(given.get("content-length", ()))
    return Framing(length, is_chunked=False, keeps_open=keeps_open and length is not None)


def _length(values: Iterable[str]) -> int | None:
    lengths: set[int] = set()
    for value in ",".join(values).split(","):
        try:
            length = int(value)
        except ValueError:
            continue
        if length >= 0:
            lengths.add(length)
    if len(lengths) > 1:
        raise NotHttp(
            f"Content-Length has several values: {', '.join(map(str, sorted(lengths)))[:_MAX_SHOWN_CHARACTERS]}"
        )
    return lengths.pop() if lengths else None


def _keeps_open(version: str, given: dict[str, list[str]]) -> bool:
    connection = ",".join(given.get("connection", ())).lower()
    if version == "HTTP/1.1":
        return "close" not in connection
    # Old servers and proxies say it in three ways.
    kept = connection + ",".join(given.get("proxy-connection", ())).lower()
    return "keep-alive" in given or "keep-alive" in kept

"""Gzip spans: the members of a gzip file one after the other, from pieces of it, each inflated whole.

What is inside a member does not matter here. A file that ends or breaks early gives a last span that says so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, cast

from isal import isal_zlib

MAX_SPAN_BYTES: Final = 1024 * 1024 * 1024  # inflated; more is refused, as nobody could hold it
_MAGIC: Final = b"\x1f\x8b"
_GZIP: Final = 31  # window bits: gzip header and trailer
# What follows a member in the same feed is copied for each member: small feeds keep that cheap.
_FEED_BYTES: Final = 64 * 1024
# Its stub declares an instance where the class stands.
_NOT_GZIP: Final = cast(type[Exception], isal_zlib.error)


@dataclass(frozen=True, slots=True)
class GzipSpan:
    """One gzip member: where it lies, what it holds, and what is wrong with it, if anything."""

    offset: int
    length: int  # bytes of the file that belong to it; to the end of what was read when it is damaged
    data: bytes  # inflated, as far as that went
    fault: str = ""
    is_cut: bool = False  # whether the fault is that the bytes end within it


def gzip_spans(pieces: Iterable[bytes], *, offset: int = 0, max_bytes: int = MAX_SPAN_BYTES) -> Iterator[GzipSpan]:
    """Give the members of a gzip file in order; nothing follows a damaged one.

    Args:
        pieces: the bytes of the file, cut anywhere, beginning with a member.
        offset: where in the file they begin.
        max_bytes: how much one member may inflate to.
    """
    inflater = isal_zlib.decompressobj(wbits=_GZIP)
    parts: list[bytes] = []
    begin = position = offset  # of the member; of the next byte to feed
    size_bytes, head = 0, b""  # inflated so far; how the member begins
    for feed in _feeds(pieces):
        rest = feed
        while rest:
            head = head or rest[:2]
            try:
                part = inflater.decompress(rest)
            except _NOT_GZIP as error:
                fault = f"damaged gzip member: {error}" if _MAGIC.startswith(head) else "not gzip"
                yield GzipSpan(begin, position + len(rest) - begin, b"".join(parts), fault)
                return
            parts.append(part)
            size_bytes += len(part)
            unused = inflater.unused_data if inflater.eof else b""
            position += len(rest) - len(unused)
            if size_bytes > max_bytes:
                yield GzipSpan(begin, position - begin, b"", f"the gzip member inflates to more than {max_bytes} bytes")
                return
            if inflater.eof:
                yield GzipSpan(begin, position - begin, b"".join(parts))
                inflater, parts = isal_zlib.decompressobj(wbits=_GZIP), []
                begin, size_bytes, head = position, 0, b""
            rest = unused
    if position > begin and not _MAGIC.startswith(head):
        yield GzipSpan(begin, position - begin, b"", "not gzip")
    elif position > begin:
        yield GzipSpan(begin, position - begin, b"".join(parts), "the gzip member is cut short", is_cut=True)


def _feeds(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), _FEED_BYTES):
            yield piece[start : start + _FEED_BYTES]

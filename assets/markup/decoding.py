"""Content codings: stored bodies back to the bytes that the author wrote, within a limit. No characters here."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import brotli
import zstandard

_PIECE_BYTES: Final = 16_384
# A Zstandard block of four bytes can say 128 KiB, so that the output of a piece this small stays small.
_ZSTD_PIECE_BYTES: Final = 512
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
# A header may name codings without end; no server stacks more than two on purpose.
_MAX_CODINGS: Final = 5


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body without its content codings; ``reason`` says what was wrong with it, and is empty when nothing was."""

    data: bytes
    reason: str  # decompression_limit, cut_short, damaged, not_<coding>, unknown_coding, too_many_codings


def decode_body(body: bytes, content_encoding: str | None, *, max_bytes: int) -> Decoded:
    """Undo the content codings of a body, last one first; never raises for what the web sent.

    What cannot be undone stays as it is: a header that lies is common, and the bytes are then often plain.

    >>> decode_body(b"plain", "gzip", max_bytes=100)
    Decoded(data=b'plain', reason='not_gzip')
    """
    codings = [coding.strip().lower() for coding in (content_encoding or "").split(",")]
    codings = [coding for coding in codings if coding not in ("", "identity")] if body else []
    if len(codings) > _MAX_CODINGS:
        return Decoded(body[:max_bytes], "too_many_codings")
    data, reason = body, ""
    for coding in reversed(codings):
        decode = _DECODERS.get(coding)
        if decode is None:
            reason = "unknown_coding"
            break
        decoded = decode(data, max_bytes)
        if decoded is None:
            reason = f"not_{coding}"
            break
        data, reason = decoded.data, decoded.reason or reason
    if len(data) > max_bytes:
        return Decoded(data[:max_bytes], "decompression_limit")
    return Decoded(data, reason)


def _gzip(data: bytes, max_bytes: int) -> Decoded | None:
    """Undo gzip, all members; what follows the last one is left out, as browsers do."""
    parts: list[bytes] = []
    left = max_bytes + 1
    while data.startswith(b"\x1f\x8b") and left > 0:
        member = _inflate(data, left, zlib.MAX_WBITS | 16)
        parts.append(member.output)
        left -= len(member.output)
        if member.reason:
            return Decoded(b"".join(parts), "" if left <= 0 else member.reason)
        data = member.rest
    return Decoded(b"".join(parts), "") if parts else None


def _deflate(data: bytes, max_bytes: int) -> Decoded | None:
    """Undo deflate: a zlib stream says RFC 9110, a raw one is what some servers send."""
    stream = _inflate(data, max_bytes + 1, zlib.MAX_WBITS)
    if stream.reason == "damaged" and not stream.output:
        stream = _inflate(data, max_bytes + 1, -zlib.MAX_WBITS)
        # A raw stream has no header to know it by: any text inflates to a few bytes before it breaks.
        if stream.reason == "damaged":
            return None
    return Decoded(stream.output, stream.reason if len(stream.output) <= max_bytes else "")


@dataclass(frozen=True, slots=True)
class _Stream:
    """What one zlib stream gave."""

    output: bytes
    rest: bytes  # what follows its end
    reason: str  # cut_short, damaged, or empty when it ended


def _inflate(data: bytes, limit: int, wbits: int) -> _Stream:
    """Inflate one stream up to ``limit`` bytes."""
    stream = zlib.decompressobj(wbits)
    output = bytearray()
    try:
        # Pieces, so that a stream which breaks in the middle keeps what came before.
        for start in range(0, len(data), _PIECE_BYTES):
            output += stream.decompress(data[start : start + _PIECE_BYTES], limit - len(output))
            if stream.eof:
                return _Stream(bytes(output), stream.unused_data + data[start + _PIECE_BYTES :], "")
            if len(output) >= limit:
                break
    except zlib.error:
        return _Stream(bytes(output), b"", "damaged")
    return _Stream(bytes(output), b"", "cut_short")


def _brotli(data: bytes, max_bytes: int) -> Decoded | None:
    """Undo Brotli."""
    stream = brotli.Decompressor()
    output = bytearray()
    try:
        output += stream.process(data, output_buffer_limit=max_bytes + 1)
        while len(output) <= max_bytes and not stream.is_finished() and not stream.can_accept_more_data():
            output += stream.process(b"", output_buffer_limit=max_bytes + 1 - len(output))
    except brotli.error:
        return Decoded(bytes(output), "damaged") if output else None
    if not output and not stream.is_finished():
        return None
    return Decoded(bytes(output), "" if stream.is_finished() or len(output) > max_bytes else "cut_short")


def _zstd(data: bytes, max_bytes: int) -> Decoded | None:
    """Undo Zstandard, all frames."""
    output = bytearray()
    if not data.startswith(_ZSTD_MAGIC):
        return None
    try:
        while data.startswith(_ZSTD_MAGIC) and len(output) <= max_bytes:
            frame = zstandard.ZstdDecompressor().decompressobj()
            for start in range(0, len(data), _ZSTD_PIECE_BYTES):
                output += frame.decompress(data[start : start + _ZSTD_PIECE_BYTES])
                if frame.eof or len(output) > max_bytes:
                    break
            if not frame.eof:
                return Decoded(bytes(output), "" if len(output) > max_bytes else "cut_short")
            data = frame.unused_data + data[start + _ZSTD_PIECE_BYTES :]
    except zstandard.ZstdError:
        return Decoded(bytes(output), "damaged")
    return Decoded(bytes(output), "")


_DECODERS: Final[dict[str, Callable[[bytes, int], Decoded | None]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}

"""The intake of a sitemap: its bytes, gzipped or not, in whatever encoding, as pieces of clean UTF-8.

A sitemap of 50 MB passes through in pieces and is never whole in memory. What it says is read elsewhere.
"""

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from assets.markup.encodings import encoding_name
from assets.seeds.sitemaps.entries import MAX_SITEMAP_BYTES, SitemapTrouble

PIECE_BYTES: Final = 64 * 1024
_GZIP: Final = b"\x1f\x8b"
_MAX_GZIP_LAYERS: Final = 3  # a .xml.gz that the server compressed once or twice more
_BLANK: Final = b" \t\r\n\x00"
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r"))
_DECLARATION: Final = re.compile(rb"<\?xml\b(?:[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+))?[^>]*>")
_HEAD_BYTES: Final = 1024  # in which a declaration may stand
# Where Python's codec of the same name knows fewer characters than the web's encoding.
_WIDER_CODECS: Final = {"shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs"}


class SitemapText:
    """The text of one sitemap, to be walked through once; ``trouble`` is known when the walk is over."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._source = pieces
        self.trouble: SitemapTrouble | None = None

    def pieces(self) -> Iterator[bytes]:
        """Give the text from its first mark on: UTF-8 in whole characters, no declaration, no control characters."""
        started = False
        for piece in self._decoded(self._unpacked(self._source, _MAX_GZIP_LAYERS)):
            clean = piece.translate(None, _CONTROLS)
            if not started:
                clean = clean.lstrip(_BLANK).removeprefix(codecs.BOM_UTF8).lstrip(_BLANK)
                declared = _DECLARATION.match(clean)
                clean = clean[declared.end() :].lstrip(_BLANK) if declared else clean
                started = bool(clean)
            if clean:
                yield clean

    def _note(self, trouble: SitemapTrouble) -> None:
        self.trouble = self.trouble or trouble

    def _unpacked(self, pieces: Iterable[bytes], layers: int) -> Iterator[bytes]:
        # Its own bytes say what it is; names, types and codings lie.
        head, rest = _at_least(len(_GZIP), pieces)
        whole = chain([head], rest)
        if layers and head.startswith(_GZIP):
            return self._unpacked(self._gunzipped(whole), layers - 1)
        return self._limited(whole)

    def _limited(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        left = MAX_SITEMAP_BYTES
        for piece in pieces:
            if len(piece) > left:
                self._note(SitemapTrouble.TOO_LARGE)
                yield piece[:left]
                return
            left -= len(piece)
            yield piece

    def _gunzipped(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Undo gzip, all members; what came before a fault is kept."""
        stream = None
        left = MAX_SITEMAP_BYTES
        for piece in pieces:
            rest, is_full = piece, False
            while rest or is_full:
                if stream is None and not rest.strip(b"\x00"):
                    break  # padding after the last member
                stream = stream or zlib.decompressobj(zlib.MAX_WBITS | 16)
                try:
                    plain = stream.decompress(rest, PIECE_BYTES)
                except zlib.error:
                    self._note(SitemapTrouble.BROKEN_GZIP)
                    return
                is_full = len(plain) == PIECE_BYTES
                if plain:
                    yield plain[:left]
                if len(plain) > left:
                    self._note(SitemapTrouble.TOO_LARGE)
                    return
                left -= len(plain)
                rest = stream.unconsumed_tail
                if stream.eof:
                    rest, is_full, stream = stream.unused_data, False, None
        if stream is not None:
            self._note(SitemapTrouble.TRUNCATED)

    def _decoded(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        head, rest = _at_least(_HEAD_BYTES, pieces, strip=_BLANK)
        decoder = codecs.getincrementaldecoder(_codec(head))("replace")
        for piece in chain([head], rest):
            yield decoder.decode(piece).encode("utf-8", "replace")
        yield decoder.decode(b"", True).encode("utf-8", "replace")


def sliced(body: bytes) -> Iterator[bytes]:
    """Cut a body that is whole in memory into pieces."""
    return (body[start : start + PIECE_BYTES] for start in range(0, len(body), PIECE_BYTES))


def _at_least(size: int, pieces: Iterable[bytes], *, strip: bytes = b"") -> tuple[bytes, Iterator[bytes]]:
    """Join the first pieces until there are ``size`` bytes, or all; give those and the rest."""
    left = iter(pieces)
    head = b""
    for piece in left:
        head = (head + piece).lstrip(strip) if strip else head + piece
        if len(head) >= size:
            break
    return head, left


def _codec(head: bytes) -> str:
    """Say how a text is decoded from its first bytes, leading blanks removed."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    declared = _DECLARATION.match(head)
    name = encoding_name(declared[1].decode()) if declared and declared[1] else None
    # Where the declaration can be read byte by byte, UTF-16 is a lie. A byte-order mark hides it: then it is UTF-8.
    if name is None or name.startswith("utf-16"):
        return "utf-8"
    codec = _WIDER_CODECS.get(name, name)
    try:
        return codecs.lookup(codec).name
    except LookupError:
        return "utf-8"

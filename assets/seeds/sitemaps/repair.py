"""Repairs of markup that is nearly XML, before libxml2 sees it: raw ampersands, and a file that was cut short."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

_MAX_HELD_BYTES: Final = 1024 * 1024
# CDATA, a reference that XML knows by itself, one that it does not know, or an ampersand that starts no reference.
_AMPERSANDS: Final = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?:(amp|lt|gt|quot|apos);|([A-Za-z_:][\w.:-]*;)|(?!#\d+;|#x[0-9A-Fa-f]+;))",
    re.DOTALL,
)
# After its first complaint, libxml2 drops "&amp;" without a word, but keeps "&#38;".
_NUMERIC: Final = {b"lt": b"&#60;", b"gt": b"&#62;", b"quot": b"&#34;", b"apos": b"&#39;"}
_CDATA_END: Final = b"]]>"
_ROOT: Final = re.compile(rb"<[A-Za-z_:]")
HOLE: Final = "\ufdd0"  # in the place of what a DTD would bring in; a code point that no text has


class RepairedMarkup:
    """A file for a parser to read from; ``has_entities`` tells, once it was read, of a DTD that brings its own text.

    Nothing of that text is ever expanded: a reference to it becomes a ``HOLE``.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = self._repaired(pieces)
        self.has_entities = False

    def read(self, _size: int = -1) -> bytes:
        """Give the next piece of any size; nothing at the end."""
        return next(self._pieces, b"")

    def _repaired(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        in_cdata, in_prolog = False, True
        for piece in _cut_at_marks(pieces):
            if in_prolog:
                root = _ROOT.search(piece)
                in_prolog = root is None
                self.has_entities = self.has_entities or b"<!ENTITY" in piece[: root.start() if root else None]
            start = 0
            if in_cdata:
                end = piece.find(_CDATA_END)
                start = len(piece) if end < 0 else end + len(_CDATA_END)
            rest = piece[start:]
            if b"&" in rest or b"<![CDATA[" in rest:
                rest = _AMPERSANDS.sub(self._reference, rest)
            opened = rest.rfind(b"<![CDATA[")
            if start < len(piece) or not in_cdata:
                in_cdata = opened >= 0 and _CDATA_END not in rest[opened:]
            yield piece[:start] + rest

    def _reference(self, found: re.Match[bytes]) -> bytes:
        cdata, known, unknown = found.groups()
        if unknown:
            return HOLE.encode() if self.has_entities else b"&#38;" + unknown
        return cdata or _NUMERIC.get(known, b"&#38;")


def _cut_at_marks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a text just before a ``<``, so that no tag, reference or CDATA mark falls apart.

    What follows the last ``>`` is left out: half of an address is another address.
    """
    held = b""
    for piece in pieces:
        held += piece
        cut = held.rfind(b"<")
        if cut > 0:
            yield held[:cut]
            held = held[cut:]
        elif len(held) > _MAX_HELD_BYTES:
            yield held
            held = b""
    held = held.rstrip()
    if held.endswith(b">"):
        yield held

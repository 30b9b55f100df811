"""How large a compressed body becomes, counted while it is received, so that reading can stop at a limit. Pure.

A body is only counted once it is large enough to pass the limit at all: nearly none is.
"""

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zlib import _Decompress

# Of deflate: 258 bytes for two bits. https://zlib.net/zlib_tech.html
MAX_RATIO: Final = 1032
_OUTPUT_BYTES: Final = 256 * 1024  # held at once, and dropped
_WINDOWS: Final = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class InflationLimit:
    """Counts what a gzip or deflate body inflates to. Other codings, and bodies that lie about theirs, are not counted.

    Brotli and Zstandard are never asked for; what is stored of them is unpacked within limits by those who read it.
    """

    __slots__ = ("_fed_bytes", "_inflater", "_left_bytes", "_window")

    def __init__(self, content_encoding: str, max_bytes: int) -> None:
        self._window = _WINDOWS.get(content_encoding.strip().lower())
        self._left_bytes = max_bytes
        self._fed_bytes = 0
        self._inflater: _Decompress | None = None if self._window is None else zlib.decompressobj(self._window)

    def is_passed(self, body: bytearray) -> bool:
        """Tell whether a body, as far as it has been received, is too large when inflated.

        Args:
            body: all of it that is there; each time what was there before, and more.
        """
        if self._inflater is None or len(body) * MAX_RATIO < self._left_bytes:
            return False
        piece = bytes(memoryview(body)[self._fed_bytes :])
        self._fed_bytes = len(body)
        try:
            while piece and self._inflater is not None and self._left_bytes >= 0:
                self._left_bytes -= len(self._inflater.decompress(piece, _OUTPUT_BYTES))
                piece = self._rest()
        except zlib.error:
            self._inflater = None
        return self._left_bytes < 0

    def _rest(self) -> bytes:
        assert self._inflater is not None
        assert self._window is not None
        if not self._inflater.eof:
            return self._inflater.unconsumed_tail
        # Another member follows, or rubbish, which ends the counting.
        rest = self._inflater.unused_data
        self._inflater = zlib.decompressobj(self._window)
        return rest

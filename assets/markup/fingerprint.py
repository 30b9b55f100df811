"""Fingerprints of a text: digest, shingles, simhash and bands. Whether two pages are duplicates, dedup decides."""

import hashlib
import re
import unicodedata
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from assets.markup.volatile import without_volatile

# Raise it with every change that gives other shingles, simhashes or bands: those of two versions are never compared.
FINGERPRINT_VERSION: Final = 2
# Chosen on manuals in many versions: with five tokens, texts of a similarity of 0.8 are versions of one page, and
# twelve bands of six rows find 99.9 % of them.
SHINGLE_TOKENS: Final = 5
BANDS: Final = 12
_BAND_ROWS: Final = 6

# Thai, Lao, Myanmar, Khmer, kana, Chinese characters, half-width kana: scripts that put no spaces between words.
_SPACELESS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_SPACELESS_RUN: Final = re.compile(f"[{_SPACELESS}]+")
_WORD_RUN: Final = re.compile(rf"[^\W{_SPACELESS}]+")
_TOKEN: Final = re.compile(rf"[{_SPACELESS}]|{_WORD_RUN.pattern}")
_SEPARATOR, _WORD, _ALONE = range(3)  # what a character is among tokens


def normalise(text: str) -> str:
    """Fold white space and compose characters (NFC); case is kept.

    >>> normalise("  Two\\n\\twords ")
    'Two words'
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def text_digest(text: str) -> str:
    """Give the SHA-256, in hex, of a normalised text without its volatile parts; empty when nothing is left."""
    stable = normalise(without_volatile(text))
    return hashlib.sha256(stable.encode("utf-8", "replace")).hexdigest() if stable else ""


def tokens(text: str) -> list[str]:
    """Give the words of a text, in lower case; in scripts without spaces each character is one.

    >>> tokens("Ab c, 図書")
    ['ab', 'c', '図', '書']
    """
    return _TOKEN.findall(unicodedata.normalize("NFC", text).lower())


def token_count(text: str) -> int:
    """Give the number of ``tokens`` of a text, in a fraction of their time."""
    return int(np.count_nonzero(_token_starts(_kinds_of(_codes(text)))))


def token_hashes(text: str) -> npt.NDArray[np.uint64]:
    """Give a hash of each of the ``tokens`` of a text, in order, without making a string of any."""
    codes = _codes(text)
    kinds = _kinds_of(codes)
    starts = np.flatnonzero(_token_starts(kinds))
    if not len(starts):
        return np.empty(0, dtype=np.uint64)
    # A polynomial in the places of the characters within their token; what follows a token up to the next adds zeros.
    places = np.arange(len(codes))
    places[starts[0] :] -= np.repeat(starts, np.diff(starts, append=len(codes)))
    terms = (codes + np.uint64(1)) * (kinds != _SEPARATOR) * _powers().take(places, mode="wrap")
    return _mix(np.add.reduceat(terms, starts))


def shingles(text: str) -> npt.NDArray[np.uint64]:
    """Give the distinct hashes of five tokens in a row, ascending, without volatile parts; the same in every process.

    A text of fewer tokens is one shingle, a text without any has none.
    """
    hashes = token_hashes(without_volatile(text))
    if not len(hashes):
        return hashes
    width = min(SHINGLE_TOKENS, len(hashes))
    count = len(hashes) - width + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for place, multiplier in enumerate(_multipliers(width)):
        mixed += hashes[place : place + count] * multiplier
    return np.unique(_mix(mixed))


def simhash(features: npt.NDArray[np.uint64]) -> int:
    """Give the 64-bit fingerprint of shingles, as a signed number: each bit is what most shingles have there.

    Source: Charikar, Similarity Estimation Techniques from Rounding Algorithms, 2002.
    """
    if len(features) == 0:
        return 0
    bits = np.unpackbits(features.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    majority = bits.sum(axis=0, dtype=np.int64) * 2 > len(features)
    return int(np.packbits(majority, bitorder="little").view("<i8")[0])


def bands(features: npt.NDArray[np.uint64]) -> list[int]:
    """Give the MinHash bands of shingles, as signed numbers; two texts that share one are likely alike.

    Each is a hash of the least values of its rows and of its place, so that those of two places never meet.

    Source: Broder, On the resemblance and containment of documents, 1997.
    """
    if not len(features):
        return []
    least = (features * _multipliers(BANDS * _BAND_ROWS)[:, np.newaxis]).min(axis=1)
    sums = (least.reshape(BANDS, _BAND_ROWS) * _multipliers(_BAND_ROWS)).sum(axis=1, dtype=np.uint64)
    found: list[int] = _mix(sums + np.arange(BANDS, dtype=np.uint64)).view(np.int64).tolist()
    return found


def _codes(text: str) -> npt.NDArray[np.uint32]:
    folded = unicodedata.normalize("NFC", text).lower()
    return np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _kinds_of(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    # Few texts hold a character beyond the first 65,536, and the table of all takes a moment to make.
    return _kinds(0x10000 if not len(codes) or codes.max() < 0x10000 else 0x110000).take(codes)


def _token_starts(kinds: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    starts: npt.NDArray[np.bool_] = kinds != _SEPARATOR
    starts[1:] &= (kinds[1:] == _ALONE) | (kinds[:-1] != _WORD)
    return starts


@cache
def _kinds(characters: int) -> npt.NDArray[np.uint8]:
    """Say of each character what it is among tokens."""
    text = "".join(map(chr, range(characters)))
    kinds = np.full(characters, _SEPARATOR, dtype=np.uint8)
    for runs, kind in ((_WORD_RUN, _WORD), (_SPACELESS_RUN, _ALONE)):
        for run in runs.finditer(text):
            kinds[run.start() : run.end()] = kind
    return kinds


@cache
def _powers() -> npt.NDArray[np.uint64]:
    return np.multiply.accumulate(np.full(1024, _multipliers(1)[0], dtype=np.uint64))


@cache
def _multipliers(count: int) -> npt.NDArray[np.uint64]:
    """Give odd numbers that look random; fewer are the first of more."""
    return _mix(np.arange(1, count + 1, dtype=np.uint64)) | np.uint64(1)


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread every input bit over all 64. Source: Steele, Lea and Flood, SplitMix64, 2014."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))

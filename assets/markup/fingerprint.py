"""Fingerprints of a text: its digest, its shingles, its simhash. Whether two pages are duplicates, dedup decides."""

import hashlib
import re
import unicodedata
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from assets.markup.volatile import without_volatile

SHINGLE_TOKENS: Final = 3

# Thai, Lao, Myanmar, Khmer, kana, Chinese characters, half-width kana: scripts that put no spaces between words.
_SPACELESS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_SPACELESS_RUN: Final = re.compile(f"[{_SPACELESS}]+")
_WORD_RUN: Final = re.compile(rf"[^\W{_SPACELESS}]+")
_TOKEN: Final = re.compile(rf"[{_SPACELESS}]|{_WORD_RUN.pattern}")
_SEPARATOR, _WORD, _ALONE, _MOVING = range(4)  # what a character is when tokens are counted
_MULTIPLIERS: Final = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


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
    if not text:
        return 0
    codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
    kinds = _kinds().take(codes)
    # Characters beyond 16 bits are two codes.
    if len(codes) != len(text) or kinds.max() == _MOVING:
        return len(tokens(text))
    in_word = kinds == _WORD
    starts = np.count_nonzero(in_word[1:] & ~in_word[:-1]) + np.count_nonzero(in_word[:1])
    return int(starts + np.count_nonzero(kinds == _ALONE))


def shingles(text: str) -> npt.NDArray[np.uint64]:
    """Give the distinct hashes of three tokens in a row, ascending, without volatile parts; the same in every process.

    A text of one or two tokens is one shingle, a text without any has none.
    """
    found = tokens(without_volatile(text))
    if not found:
        return np.empty(0, dtype=np.uint64)
    codes: dict[str, int] = {}
    order = np.fromiter((codes.setdefault(token, len(codes)) for token in found), dtype=np.int64, count=len(found))
    # One call a distinct token, all else in numpy: texts repeat their words.
    digests = b"".join(hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=8).digest() for token in codes)
    hashes = np.frombuffer(digests, dtype="<u8").astype(np.uint64)[order]
    width = min(SHINGLE_TOKENS, len(hashes))
    mixed = np.zeros(len(hashes) - width + 1, dtype=np.uint64)
    for place in range(width):
        mixed = _mix(mixed + hashes[place : len(hashes) - width + 1 + place] * _MULTIPLIERS[place])
    return np.unique(mixed)


def simhash(features: npt.NDArray[np.uint64]) -> int:
    """Give the 64-bit fingerprint of shingles, as a signed number: each bit is what most shingles have there.

    Source: Charikar, Similarity Estimation Techniques from Rounding Algorithms, 2002.
    """
    if len(features) == 0:
        return 0
    bits = np.unpackbits(features.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    majority = bits.sum(axis=0, dtype=np.int64) * 2 > len(features)
    return int(np.packbits(majority, bitorder="little").view("<i8")[0])


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """Say of each 16-bit character what it is among the tokens of a text, if NFC and lower case let it stand.

    Those that they change, alone or beside others, move: marks, conjoining Hangul, and the like.
    """
    characters = "".join(map(chr, range(0x10000)))
    kinds = np.full(len(characters), _SEPARATOR, dtype=np.uint8)
    for runs, kind in ((_WORD_RUN, _WORD), (_SPACELESS_RUN, _ALONE)):
        for run in runs.finditer(characters):
            kinds[run.start() : run.end()] = kind
    moves = (unicodedata.normalize("NFC", one) != one or unicodedata.category(one)[0] == "M" for one in characters)
    kinds[np.fromiter(moves, dtype=np.bool_, count=len(characters))] = _MOVING
    kinds[0x1100:0x1200] = kinds[0xA960:0xA980] = kinds[0xD7B0:0xD800] = _MOVING
    # The only letter whose lower case is another number of tokens.
    kinds[ord("\u0130")] = _MOVING
    return kinds


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread every input bit over all 64. Source: Steele, Lea and Flood, SplitMix64, 2014."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))

"""Moves: which new page has the text of which old one. Candidates by digest and fingerprint, verified on the texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assets.markup.fingerprint import shingles

MAX_DISTANCE: Final = 10  # differing bits of the fingerprints of a candidate
MIN_FEATURES: Final = 32  # texts of fewer shingles are alike by chance
MIN_SIMILARITY: Final = 0.6
_ROWS_AT_ONCE: Final = 256
_SAME_TEXTS_MAX: Final = 10_000  # pairs of pages with one text
_CANDIDATES: Final = 3  # texts are read of so many a page


@dataclass(frozen=True, slots=True)
class TextPrint:
    """What is known of the text of a page without reading it."""

    url: str
    url_key: str
    text_digest: str
    simhash: int | None
    features: int


@dataclass(frozen=True, slots=True)
class Move:
    """A text that was at one address and is at another."""

    before: TextPrint
    after: TextPrint
    similarity: float


def same_texts(before: Sequence[TextPrint], after: Sequence[TextPrint]) -> list[Move]:
    """Join pages of equal text, each once; of several the one whose address is most alike."""
    places: dict[str, tuple[list[TextPrint], list[TextPrint]]] = {}
    for side, pages in enumerate((before, after)):
        for page in pages:
            if page.text_digest:
                places.setdefault(page.text_digest, ([], []))[side].append(page)
    moves = []
    for old, new in places.values():
        # A text that stands at many addresses, as an empty page does, says of none where it went.
        if not 0 < len(old) * len(new) <= _SAME_TEXTS_MAX:
            continue
        pairs = [(_likeness(one.url, other.url), one, other) for one in old for other in new]
        taken: set[str] = set()
        for _, one, other in sorted(pairs, key=lambda pair: (pair[0], pair[1].url, pair[2].url), reverse=True):
            if taken.isdisjoint((f"0{one.url_key}", f"1{other.url_key}")):
                taken |= {f"0{one.url_key}", f"1{other.url_key}"}
                moves.append(Move(one, other, 1.0))
    return sorted(moves, key=lambda move: move.before.url)


def candidates(before: Sequence[TextPrint], after: Sequence[TextPrint]) -> list[tuple[TextPrint, TextPrint]]:
    """Give the pairs that may be one text edited: for each old page the new ones with the nearest fingerprints."""
    old = [page for page in before if page.simhash is not None and page.features >= MIN_FEATURES]
    new = [page for page in after if page.simhash is not None and page.features >= MIN_FEATURES]
    if not old or not new:
        return []
    prints = _prints(new)
    found = []
    for start in range(0, len(old), _ROWS_AT_ONCE):
        part = old[start : start + _ROWS_AT_ONCE]
        distances = np.bitwise_count(_prints(part)[:, None] ^ prints[None, :])
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :_CANDIDATES]
        found += [
            (page, new[place])
            for row, page in enumerate(part)
            for place in nearest[row].tolist()
            if distances[row, place] <= MAX_DISTANCE
        ]
    return found


def edited_texts(pairs: Sequence[tuple[TextPrint, TextPrint]], texts: Mapping[tuple[int, str], str]) -> list[Move]:
    """Keep the pairs whose texts are alike, the most alike first, each page once.

    Args:
        texts: (0 for before or 1 for after, url_key) -> text.
    """
    sets = {key: shingles(text) for key, text in texts.items()}
    measured = [
        Move(old, new, _jaccard(sets[0, old.url_key], sets[1, new.url_key]))
        for old, new in pairs
        if (0, old.url_key) in sets and (1, new.url_key) in sets
    ]
    taken_old, taken_new, moves = set(), set(), []
    for move in sorted(measured, key=lambda move: (-move.similarity, move.before.url, move.after.url)):
        is_free = move.before.url_key not in taken_old and move.after.url_key not in taken_new
        if move.similarity >= MIN_SIMILARITY and is_free:
            taken_old.add(move.before.url_key)
            taken_new.add(move.after.url_key)
            moves.append(move)
    return moves


def _prints(pages: Sequence[TextPrint]) -> NDArray[np.uint64]:
    return np.array([page.simhash for page in pages], np.int64).view(np.uint64)


def _jaccard(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    shared = len(np.intersect1d(one, other, assume_unique=True))
    together = len(one) + len(other) - shared
    return shared / together if together else 0.0


def _likeness(one: str, other: str) -> tuple[int, int]:
    """Give how many characters two addresses share at their ends, and at their beginnings."""
    return _shared(one[::-1], other[::-1]), _shared(one, other)


def _shared(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (first, second) in pairs if first != second), min(len(one), len(other)))

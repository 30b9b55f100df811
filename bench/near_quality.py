"""The quality of near-duplicate detection on pages of any language: the edited copies it finds, and finds wrongly.

Run ``python -m bench.near_quality FOLDER`` with a folder of HTML files, such as the Japanese or Chinese pages of
Debian's ``apache2-doc`` and ``debian-handbook``. Each page gets copies with words or sentences taken out, doubled or
moved. The truth is counted another way than ours: sets of five tokens in a row, as strings, 0.8 alike or more. Pairs of
two different pages of the folder count as well. It ends with 1 when precision or recall is under its floor.
"""

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final

from assets.dedup.similarity import jaccard
from assets.markup.charset import decode_text
from assets.markup.fingerprint import SHINGLE_TOKENS, bands, shingles, tokens
from assets.markup.tree import parse_html

PRECISION_FLOOR: Final = 0.98
RECALL_FLOOR: Final = 0.97
_ALIKE: Final = 0.8
_COPIES: Final = 4
_LEAST_TOKENS: Final = 100

Pair = tuple[int, int]


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and say by the exit code whether the floors hold."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.near_quality", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="a folder of HTML files, read with its subfolders")
    texts = [text for text in texts_of(parser.parse_args(arguments).folder) if len(tokens(text)) >= _LEAST_TOKENS]
    if not texts:
        parser.error(f"no page of {_LEAST_TOKENS} tokens in that folder")
    texts = [copy for place, text in enumerate(texts) for copy in (text, *edited(text, random.Random(place)))]
    true, found = truth(texts), detected(texts)
    right = len(true & found)
    precision, recall = right / max(len(found), 1), right / max(len(true), 1)
    print(f"{len(texts):,} texts, {len(true):,} pairs alike, {len(found):,} found")
    print(f"precision {precision:.4f}, recall {recall:.4f}")
    return 0 if precision >= PRECISION_FLOOR and recall >= RECALL_FLOOR else 1


def texts_of(folder: Path) -> Iterator[str]:
    """Give the text of each page of a folder."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".htm" in path.name):
        tree = parse_html(decode_text(path.read_bytes(), "text/html").text)
        if tree is not None:
            yield " ".join(
                " ".join(
                    part for element in tree.iter("h1", "h2", "h3", "p", "li", "pre", "td") for part in _own(element)
                ).split()
            )


def _own(element: object) -> Iterator[str]:
    yield from (str(part) for part in element.xpath("text()"))  # type: ignore[attr-defined]


def edited(text: str, dice: random.Random) -> Iterator[str]:
    """Give copies of a text with some of its pieces taken out, doubled or moved."""
    size = max(len(text) // 80, 8)
    for edits in range(1, _COPIES + 1):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        for _ in range(dice.randint(1, 2 * edits)):
            place = dice.randrange(len(pieces))
            piece = pieces.pop(place)
            match dice.randrange(3):
                case 0:
                    pieces[place:place] = [piece, piece]
                case 1:
                    pieces.insert(dice.randrange(len(pieces) + 1), piece)
                case _:
                    pieces[place:place] = [piece[: len(piece) // 2]]
        yield "".join(pieces)


def truth(texts: Sequence[str]) -> set[Pair]:
    """Find all pairs of texts that are alike, by sets of strings."""
    grams = []
    holders: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        found = tokens(text)
        grams.append(
            {" ".join(found[start : start + SHINGLE_TOKENS]) for start in range(len(found) - SHINGLE_TOKENS + 1)}
        )
        for gram in grams[-1]:
            holders[gram].append(place)
    # A phrase that half of all pages hold makes no pair that others do not make too.
    shared = {pair for held in holders.values() if len(held) <= 50 for pair in combinations(held, 2)}
    return {
        (one, other)
        for one, other in shared
        if len(grams[one] & grams[other]) >= _ALIKE * len(grams[one] | grams[other])
    }


def detected(texts: Sequence[str]) -> set[Pair]:
    """Find the pairs that share a band and whose shingles are alike."""
    features = [shingles(text) for text in texts]
    holders: dict[int, list[int]] = defaultdict(list)
    for place, found in enumerate(features):
        for band in bands(found):
            holders[band].append(place)
    candidates = {pair for held in holders.values() for pair in combinations(held, 2)}
    return {(one, other) for one, other in candidates if jaccard(features[one], features[other]) >= _ALIKE}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

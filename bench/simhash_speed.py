"""The speed of a page's fingerprints, beside the ``simhash`` package if that is installed.

Run ``python -m bench.simhash_speed``; it ends with 1 when ours makes fewer pages a second than its floor. The pages
are made up: 5 KB of words drawn as a language draws them, a few of them often. Ours are all that a page gets:
volatile parts out, five-token shingles, simhash and bands. The package gets the same shingles, as its manual has it.
"""

import argparse
import importlib
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from assets.markup.fingerprint import SHINGLE_TOKENS, bands, shingles, simhash, tokens

FLOOR_PAGES_PER_S: Final = 2_000
_PAGE_CHARACTERS: Final = 5_000
_PAGES: Final = 200
_ROUNDS: Final = 5


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table, and say by the exit code whether ours reaches its floor."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.simhash_speed", description=(__doc__ or "").partition("\n")[0]
    )
    parser.parse_args(arguments)
    pages = [page(seed) for seed in range(_PAGES)]
    ours = pages_per_s(_ours, pages)
    print(f"{'isobath: shingles, simhash and bands':40}{ours:10,.0f} pages/s")
    try:
        peer: Any = importlib.import_module("simhash")
    except ImportError:
        print("simhash is not installed")
    else:
        # It is slow: a part of the pages will do.
        theirs = pages_per_s(lambda text: peer.Simhash(_features(text)), pages[::10])
        print(f"{'simhash: the same shingles':40}{theirs:10,.0f} pages/s, ours is {ours / theirs:.1f} times as fast")
    if ours < FLOOR_PAGES_PER_S:
        print(f"under the floor of {FLOOR_PAGES_PER_S:,} pages/s")
        return 1
    return 0


def page(seed: int) -> str:
    """Make up a page of 5 KB."""
    dice = random.Random(seed)
    words = [f"{'aeiou'[n % 5]}{n:x}"[: 2 + n % 9] for n in range(20_000)]
    text: list[str] = []
    while sum(map(len, text)) + len(text) < _PAGE_CHARACTERS:
        text += (words[int(len(words) ** dice.random())] for _ in range(50))
    return " ".join(text)[:_PAGE_CHARACTERS]


def pages_per_s(make: Callable[[str], object], pages: Sequence[str]) -> float:
    """Give the median speed of some rounds over all pages, by processor time: others may use the cores too."""
    make(pages[0])
    speeds = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        for text in pages:
            make(text)
        speeds.append(len(pages) / (time.process_time() - started))
    return statistics.median(speeds)


def _ours(text: str) -> tuple[int, list[int]]:
    features = shingles(text)
    return simhash(features), bands(features)


def _features(text: str) -> list[str]:
    found = tokens(text)
    return [" ".join(found[place : place + SHINGLE_TOKENS]) for place in range(len(found) - SHINGLE_TOKENS + 1)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

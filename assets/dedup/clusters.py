"""Clusters of near-duplicates: which page stands for which, without chains.

A page joins a representative only if the two are alike themselves. Chaining (A is like B, B is like C, so all are one)
drifts: a row of small edits would merge pages that share nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AlikePair:
    """Two pages, by their rank: the better one has the lower number."""

    better: int
    worse: int
    distance: int
    similarity: float
    veto: str = ""

    def __post_init__(self) -> None:
        if self.better >= self.worse:
            raise ValueError(f"the better page comes first: {self.better=} {self.worse=}")


def representatives(pairs: Iterable[AlikePair]) -> Mapping[int, AlikePair]:
    """Give, for each page that another one stands for, its pair with that one. Vetoed pairs count for nothing.

    From the best page down: a page that is like a representative joins the one it is most like; the others represent
    themselves. So whom a page joins depends on better pages only.

    >>> chain = [AlikePair(0, 1, 2, 0.9), AlikePair(1, 2, 2, 0.9)]
    >>> sorted(representatives(chain))
    [1]
    """
    better_ones: dict[int, list[AlikePair]] = {}
    for pair in pairs:
        if not pair.veto:
            better_ones.setdefault(pair.worse, []).append(pair)
    joined: dict[int, AlikePair] = {}
    for page in sorted(better_ones):
        standing = [pair for pair in better_ones[page] if pair.better not in joined]
        if standing:
            joined[page] = max(standing, key=lambda pair: (pair.similarity, -pair.better))
    return joined

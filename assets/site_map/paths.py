"""Shortest paths: depth and parent of every page in a graph of numbered pages. Knows nothing of URLs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Paths:
    """Depth and parent by page number; -1 is none."""

    depth: Numbers
    parent: Numbers


def shortest_paths(pages: int, from_pages: Numbers, to_pages: Numbers, entries: Mapping[int, int]) -> Paths:
    """Walk from the entries of depth 0 in layers; then, for pages that no link reaches, from the other entries.

    Of several parents at the same depth the lowest number wins; a page that links reach from the entries of depth 0
    has a parent that they reach too.

    Args:
        pages: how many there are, numbered from 0.
        from_pages: where each edge starts.
        to_pages: where it ends.
        entries: page -> depth at which it was entered without a link.

    >>> edges = np.array([0, 1, 3]), np.array([1, 2, 4])
    >>> paths = shortest_paths(5, *edges, {0: 0, 2: 1, 3: 1})
    >>> paths.depth.tolist(), paths.parent.tolist()
    ([0, 1, 2, 1, 2], [-1, 0, 1, -1, 3])
    """
    order = np.argsort(from_pages, kind="stable")
    walk = _Walk(np.searchsorted(from_pages[order], np.arange(pages + 1)), to_pages[order], pages)
    walk.spread({0: [page for page, depth in sorted(entries.items()) if depth == 0]})
    later: dict[int, list[int]] = {}
    for page, depth in sorted(entries.items()):
        later.setdefault(depth, []).append(page)
    walk.spread(later)
    return Paths(walk.depth, walk.parent)


class _Walk:
    """A breadth-first walk over edges that are sorted by their start."""

    def __init__(self, starts: Numbers, to_pages: Numbers, pages: int) -> None:
        self._starts = starts
        self._to_pages = to_pages
        self.depth: Numbers = np.full(pages, -1, np.int64)
        self.parent: Numbers = np.full(pages, -1, np.int64)

    def spread(self, entries: Mapping[int, list[int]]) -> None:
        """Enter pages at their depths, where no shorter way was found, and go on from all that is new."""
        waiting = {depth: np.array(pages, np.int64) for depth, pages in entries.items() if pages}
        front: Numbers = np.array([], np.int64)
        depth = min(waiting, default=0)
        while front.size or waiting:
            entered = waiting.pop(depth, np.array([], np.int64))
            entered = entered[self.depth[entered] < 0]
            self.depth[entered] = depth
            front = np.sort(np.concatenate([front, entered]))
            front = self._step(front, depth + 1)
            depth = depth + 1 if front.size else min(waiting, default=0)

    def _step(self, front: Numbers, depth: int) -> Numbers:
        counts = self._starts[front + 1] - self._starts[front]
        before = np.cumsum(counts) - counts
        edges = np.repeat(self._starts[front] - before, counts) + np.arange(counts.sum())
        reached, parents = self._to_pages[edges], np.repeat(front, counts)
        new = self.depth[reached] < 0
        # The front is sorted, so the first edge to a page comes from its lowest parent.
        pages, first = np.unique(reached[new], return_index=True)
        self.depth[pages] = depth
        self.parent[pages] = parents[new][first]
        return pages

"""Shortest paths against a plain breadth-first search."""

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assets.site_map.paths import shortest_paths

Edges = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges, dict[int, int]]:
    pages = draw(st.integers(0, 12))
    if pages == 0:
        return 0, [], {}
    page = st.integers(0, pages - 1)
    return pages, draw(st.lists(st.tuples(page, page), max_size=40)), draw(st.dictionaries(page, st.integers(0, 4)))


def plain_depths(edges: Edges, entries: dict[int, int]) -> dict[int, int]:
    seeds = sorted(page for page, depth in entries.items() if depth == 0)
    depths = dict.fromkeys(seeds, 0)
    queue = deque(seeds)
    while queue:
        page = queue.popleft()
        for start, end in edges:
            if start == page and end not in depths:
                depths[end] = depths[page] + 1
                queue.append(end)
    return depths


@given(graphs())
def test_what_links_reach_has_the_depth_of_a_plain_search(graph: tuple[int, Edges, dict[int, int]]) -> None:
    pages, edges, entries = graph
    starts, ends = np.array(edges, np.int64).reshape(-1, 2).T
    paths = shortest_paths(pages, starts, ends, entries)
    expected = plain_depths(edges, entries)
    assert {page: int(paths.depth[page]) for page in expected} == expected
    for page, parent in enumerate(paths.parent.tolist()):
        if parent < 0:
            assert paths.depth[page] in (-1, entries.get(page))
        else:
            assert paths.depth[page] == paths.depth[parent] + 1
            # A page that links reach from the seeds has a parent that they reach too.
            before = [
                start
                for start, end in edges
                if end == page
                and paths.depth[start] == paths.depth[parent]
                and (page not in expected or start in expected)
            ]
            assert parent == min(before)
    assert all(paths.depth[page] >= 0 for page in entries)


def test_a_chain_of_many_pages_is_as_deep_as_it_is_long() -> None:
    numbers = np.arange(5_000)
    paths = shortest_paths(5_000, numbers[:-1], numbers[1:], {0: 0})
    assert paths.depth.tolist() == numbers.tolist()

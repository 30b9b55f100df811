"""Ranks: how central each page is in a graph of numbered pages. Knows nothing of URLs.

Links are joined and counted by the query engine; the many small steps over numbers are numpy's.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assets.site_map.paths import Numbers

Scores = NDArray[np.float64]
DAMPING: Final = 0.85
_STEPS_MAX: Final = 100
_ENOUGH: Final = 1e-9  # sum of the changes of a step at which more steps change nothing that is shown


def page_ranks(pages: int, from_pages: Numbers, to_pages: Numbers) -> Scores:
    """Give the PageRank of each page; together they are 1.

    A page without links passes its rank on to all. Source: Brin and Page, The Anatomy of a Search Engine, 1998.

    >>> page_ranks(3, np.array([0, 1]), np.array([2, 2])).round(3).tolist()
    [0.213, 0.213, 0.574]
    """
    if pages == 0:
        return np.zeros(0)
    out_links = np.bincount(from_pages, minlength=pages)
    is_end = out_links == 0
    ranks: Scores = np.full(pages, 1 / pages)
    for _ in range(_STEPS_MAX):
        passed = ranks[from_pages] / out_links[from_pages]
        received = _summed(to_pages, passed, pages) + ranks[is_end].sum() / pages
        after = (1 - DAMPING) / pages + DAMPING * received
        moved = np.abs(after - ranks).sum()
        ranks = after
        if moved < _ENOUGH:
            break
    return ranks


def hubs_and_authorities(pages: int, from_pages: Numbers, to_pages: Numbers) -> tuple[Scores, Scores]:
    """Give two scores of each page, 0..1: as a hub, which links good pages; as an authority, which good hubs link.

    The best page of each kind has 1. Source: Kleinberg, Authoritative Sources in a Hyperlinked Environment, 1999.

    >>> hubs, authorities = hubs_and_authorities(3, np.array([0, 0, 1]), np.array([1, 2, 2]))
    >>> hubs.round(2).tolist(), authorities.round(2).tolist()
    ([1.0, 0.62, 0.0], [0.0, 0.62, 1.0])
    """
    if len(from_pages) == 0:
        return np.zeros(pages), np.zeros(pages)
    hubs: Scores = np.ones(pages)
    authorities: Scores = np.ones(pages)
    for _ in range(_STEPS_MAX):
        authorities = _summed(to_pages, hubs[from_pages], pages)
        authorities /= authorities.max()
        after = _summed(from_pages, authorities[to_pages], pages)
        after /= after.max()
        moved = np.abs(after - hubs).sum()
        hubs = after
        if moved < _ENOUGH:
            break
    return hubs, authorities


def _summed(places: Numbers, scores: Scores, pages: int) -> Scores:
    return np.bincount(places, weights=scores, minlength=pages).astype(np.float64)

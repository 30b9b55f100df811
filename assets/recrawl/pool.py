"""Pooled change rates: what a page of a section, of a site, of the whole store is like before it was seen to change.

Means of what is known of single pages, section drawn to site, site to store, so that a section of two pages is
mostly its site, and one of a thousand is itself. Which page is in which section stands in ``sections``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assets.recrawl.columns import Floats, SmallFloats
from assets.recrawl.estimate import USUAL_RATE, posterior_rate

PARENT_PAGES: Final = 5.0  # pages that the mean of the level above is worth
SLOWEST_RATE: Final = 1e-4
FASTEST_RATE: Final = 50.0
_ROUNDS: Final = 6  # of expectation and maximisation; the start is near
_CHUNK: Final = 1 << 20  # rows at a time: scratch arrays stay small whatever the number of pages


@dataclass(frozen=True, slots=True)
class PooledRates:
    """Changes a day of a page, at each level."""

    section: Floats
    site: Floats
    store: float


def pool_rates(
    changes: SmallFloats,
    days: SmallFloats,
    section: NDArray[np.int32],
    section_site: NDArray[np.int32],
    sites: int,
    store_rate: float | None = None,
) -> PooledRates:
    """Give the mean change rates that the evidence of pages adds up to.

    Args:
        changes: evidence of the pages that live.
        days: likewise.
        section: of each page: a row of ``section_site``.
        section_site: site of each section.
        sites: how many there are.
        store_rate: mean over the whole store, when these pages are but some of it; None: they are all of it.
    """
    sections = len(section_site)
    pages, sum_changes, sum_days = np.zeros(sections), np.zeros(sections), np.zeros(sections)
    for some in _chunks(len(section)):
        pages += np.bincount(section[some], minlength=sections)
        sum_changes += np.bincount(section[some], changes[some], sections)
        sum_days += np.bincount(section[some], days[some], sections)
    site_pages = _by_site(section_site, pages, sites)
    # Where to start: changes over days at each level, which is near the mean and needs no prior of its own.
    usual = np.array([store_rate or USUAL_RATE])
    if store_rate is None:
        usual = _ratio(sum_changes.sum(keepdims=True), sum_days.sum(keepdims=True), usual)
    store = float(usual[0])
    site = _ratio(_by_site(section_site, sum_changes, sites), _by_site(section_site, sum_days, sites), usual)
    rate = _clipped(_ratio(sum_changes, sum_days, site[section_site]))
    for _ in range(_ROUNDS):
        sums = np.zeros(sections)
        for some in _chunks(len(section)):
            posterior = posterior_rate(changes[some].astype(float), days[some].astype(float), rate[section[some]])
            sums += np.bincount(section[some], posterior, sections)
        site_sums = _by_site(section_site, sums, sites)
        if store_rate is None and len(section):
            store = float(site_sums.sum() / len(section))
        site = (PARENT_PAGES * store + site_sums) / (PARENT_PAGES + site_pages)
        rate = _clipped((PARENT_PAGES * site[section_site] + sums) / (PARENT_PAGES + pages))
    return PooledRates(rate, _clipped(site), store)


def _chunks(rows: int) -> Iterator[slice]:
    return (slice(start, start + _CHUNK) for start in range(0, rows, _CHUNK))


def _by_site(section_site: NDArray[np.int32], values: Floats, sites: int) -> Floats:
    return np.bincount(section_site, values, sites).astype(float)


def _ratio(changes: Floats, days: Floats, above: Floats) -> Floats:
    return (PARENT_PAGES + changes) / (PARENT_PAGES / above + days)


def _clipped(rate: Floats) -> Floats:
    return np.clip(rate, SLOWEST_RATE, FASTEST_RATE)

"""The claim: which of the due pages a run takes when it may not take all."""

from math import ceil
from typing import Final

import numpy as np

from assets.recrawl.columns import Flags, Floats, PageStatus, PlanColumns, Rows

NEW_SHARE: Final = 0.3  # of a claim, while other pages are due


def is_urgent(pages: PlanColumns, day: float) -> Flags:
    """Say which pages go before all others once they are due: hubs, and those at their longest interval."""
    hub = ~np.isnan(pages.fixed_interval_days)
    return np.logical_or(hub, day - pages.read_day >= pages.max_interval_days)


def may_come_early(pages: PlanColumns, day: float, least_days: float) -> Flags:
    """Say which pages may be asked before they are due: those that live, and wait for nothing but their worth."""
    waits = (pages.fails > 0) | (pages.gone_visits > 0) | ~np.isnan(pages.fixed_interval_days)
    early: Flags = np.logical_and(pages.status == PageStatus.LIVE, ~waits & (day - pages.read_day >= least_days))
    return early


def claim(
    pages: PlanColumns,
    due_day: Floats,
    value_days: Floats,
    *,
    day: float,
    at_most: int,
    fill: bool = False,
    least_days: float = 0.0,
) -> Rows:
    """Give the rows of the pages to ask now.

    Urgent pages come first, the longest due before the others, so that none waits beyond its longest interval; then
    pages never read, up to a share; then the due pages with the highest index; then more of those never read. When
    asked to fill, the highest index among pages that may come early follows. Filling by what is due next would do
    worse: when theta is higher than the budget needs, that gives all that is left to the pages that change fastest.

    Args:
        pages: of a site, or of some sites that share a budget.
        due_day: of each page; infinite: not to be asked at all.
        value_days: its index.
        day: now.
        at_most: pages.
        fill: whether pages that are not due yet fill the rest: budget that nobody else needs is better used than not.
        least_days: between two visits of a page, also when it comes early.
    """
    due = due_day <= day
    new = np.flatnonzero(due & (pages.status == PageStatus.NEW))
    urgent = np.flatnonzero(due & (pages.status != PageStatus.NEW) & is_urgent(pages, day))
    others = np.flatnonzero(due & (pages.status != PageStatus.NEW) & ~is_urgent(pages, day))
    taken = urgent[_largest(-due_day[urgent], at_most)]
    room = at_most - len(taken)
    news = min(len(new), room, max(ceil(NEW_SHARE * at_most), room - len(others)))
    oldest_new = new[_largest(-due_day[new], news)]
    best = others[_largest(value_days[others], room - news)]
    claimed = np.concatenate([taken, oldest_new, best])
    if fill and len(claimed) < at_most:
        later = np.flatnonzero((due_day > day) & np.isfinite(due_day) & may_come_early(pages, day, least_days))
        claimed = np.concatenate([claimed, later[_largest(value_days[later], at_most - len(claimed))]])
    return np.sort(claimed)


def _largest(values: Floats, count: int) -> Rows:
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count] if count > 0 else np.zeros(0, np.int64)

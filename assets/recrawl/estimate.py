"""The change rate of a page from visits that only say "changed" or "not": a Gamma posterior in two floats.

A page's rate is held as evidence apart from the prior: posterior = Gamma(1 + changes, 1 / prior rate + days). A better
prior therefore corrects all pages at once, and costs nothing. Which prior that is stands in ``pool``.
"""

from typing import Final

import numpy as np

from assets.recrawl.columns import Flags, Floats

PRIOR_CHANGES: Final = 1.0  # shape of the prior; an unread page is an exponential mixture of rates
USUAL_RATE: Final = 1 / 30  # changes a day of a page of which nothing is known, not even its site
MEMORY_DAYS: Final = 360.0  # what was seen so long ago counts 1/e


def changed_posterior(shape: Floats, days: Floats, gap_days: Floats) -> tuple[Floats, Floats]:
    """Give the Gamma with the moments of what is known after a visit that found a change, date unknown.

    Args:
        shape: of the Gamma before the visit, > 0.
        days: its rate parameter, > 0.
        gap_days: since the visit before, > 0. One that tends to 0 adds a whole change, one that tends to infinity
            teaches nothing: the page was bound to have changed.

    Source: moment matching of Gamma(a, b) (1 - exp(-rate gap)), in closed form.
    """
    log_growth = np.log1p(gap_days / days)
    certain = -np.expm1(-shape * log_growth)
    mean = shape / days * -np.expm1(-(shape + 1) * log_growth) / certain
    square = shape * (shape + 1) / days**2 * -np.expm1(-(shape + 2) * log_growth) / certain
    variance = np.maximum(square - mean * mean, 1e-12 * mean * mean)
    return mean * mean / variance, mean / variance


def visited(
    changes: Floats,
    days: Floats,
    *,
    prior_rate: Floats,
    gap_days: Floats,
    changed: Flags,
    changed_days_ago: Floats,
) -> tuple[Floats, Floats]:
    """Give evidence after one more visit to each page.

    Args:
        changes: evidence before, in changes.
        days: evidence before, in days.
        prior_rate: changes a day that the evidence is weighed against, > 0.
        gap_days: since the visit before, > 0.
        changed: whether this one found a change.
        changed_days_ago: of the last change, where a trusted date tells; NaN elsewhere. Dates outside the gap are
            of no use.
    """
    kept = np.exp(-gap_days / MEMORY_DAYS)
    prior_days = PRIOR_CHANGES / prior_rate
    shape, rate_days = PRIOR_CHANGES + kept * changes, prior_days + kept * days
    dated = changed & (changed_days_ago >= 0) & (changed_days_ago <= gap_days)
    matched_shape, matched_days = changed_posterior(shape, rate_days, gap_days)
    new_shape = np.where(dated, shape + 1, np.where(changed, matched_shape, shape))
    new_days = np.where(
        dated, rate_days + np.where(dated, changed_days_ago, 0), np.where(changed, matched_days, rate_days + gap_days)
    )
    return new_shape - PRIOR_CHANGES, new_days - prior_days


def posterior_rate(changes: Floats, days: Floats, prior_rate: Floats) -> Floats:
    """Give the mean of the posterior: changes a day.

    >>> posterior_rate(np.array([0.0, 3.0]), np.array([0.0, 60.0]), np.array([0.1, 0.1])).tolist()
    [0.1, 0.05714285714285714]
    """
    return (PRIOR_CHANGES + changes) / (PRIOR_CHANGES / prior_rate + days)

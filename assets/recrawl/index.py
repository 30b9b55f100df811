"""What a visit is worth, and when it is worth enough: the harmonic index and its inverse.

The index of a page is its weight times the age that our copy is expected to have. A page is due when its index reaches
theta, in days: how old a copy of weight 1 may be expected to get. Pages change as a Poisson process in all of this.
"""

from typing import Final

import numpy as np

from assets.recrawl.columns import Floats

_NEWTON_STEPS: Final = 4
_SERIES_BELOW: Final = 1e-4  # x - 1 + exp(-x) loses digits to cancellation below


def expected_age_days(elapsed_days: Floats, rate: Floats) -> Floats:
    """Give the age our copy is expected to have: days since the first change that it misses.

    Source: Cho and Garcia-Molina, Effective Page Refresh Policies for Web Crawlers, 2003.

    >>> expected_age_days(np.array([0.0, 10.0]), np.array([0.1, 0.1])).round(3).tolist()
    [0.0, 3.679]
    """
    x = rate * elapsed_days
    return np.where(x < _SERIES_BELOW, x * x / 2 - x**3 / 6, x + np.expm1(-x)) / rate


def due_interval_days(theta_days: Floats, rate: Floats, weight: Floats) -> Floats:
    """Give the days after a visit at which weight times expected age reaches theta.

    Solves x - 1 + exp(-x) = q for x = rate times interval, q = theta rate / weight; off by less than 2e-13 (max(1, x)).
    Grows without bound with theta, but is finite for every page: none is starved.

    Source: Kolobov et al., Staying up to Date with Online Content Changes, 2019 (harmonic objective). In closed form
    x = q + 1 + W0(-exp(-(q + 1))).
    """
    q = theta_days * rate / weight
    root = np.sqrt(2 * q)
    x = root + q * (q + 0.33) / (q + 1)
    for _ in range(_NEWTON_STEPS):
        decay = np.expm1(-x)
        x -= (x + decay - q) / np.maximum(-decay, 1e-12)
    # Lambert's W around its branch point, in powers of sqrt(2q).
    series = root * (1 + root * (1 / 6 + root * (1 / 36 + root * (1 / 270 + root * (1 / 4320 - root / 17010)))))
    return np.where(q < _SERIES_BELOW, series, x) / rate


def mean_freshness(interval_days: Floats, rate: Floats) -> Floats:
    """Give the share of time that a copy is as the page, when it is visited at an even interval.

    >>> mean_freshness(np.array([10.0]), np.array([0.1])).round(3).tolist()
    [0.632]
    """
    x = np.maximum(rate * interval_days, 1e-12)
    return -np.expm1(-x) / x


def mean_age_days(interval_days: Floats, rate: Floats) -> Floats:
    """Give the age of a copy, as a mean over time, when it is visited at an even interval.

    >>> mean_age_days(np.array([10.0]), np.array([0.1])).round(3).tolist()
    [1.321]
    """
    x = rate * interval_days
    safe = np.maximum(x, 1e-2)
    exact = interval_days * (0.5 - 1 / safe - np.expm1(-safe) / (safe * safe))
    return np.where(x < 1e-2, interval_days * x * (1 / 6 - x * (1 / 24 - x / 120)), exact)

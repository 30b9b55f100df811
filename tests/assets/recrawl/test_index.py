"""The index and its inverse, held to forty digits; means over an interval, held to sums."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from assets.recrawl.index import due_interval_days, expected_age_days, mean_age_days, mean_freshness
from tests.assets.recrawl.test_estimate import NEEDS_SIMULATOR, simulator_function

ONE = np.ones(1)


def exact_root(q: float) -> float:
    """Solve x - 1 + exp(-x) = q by halving, in forty digits."""
    with localcontext() as context:
        context.prec = 40
        wanted = Decimal(q)
        low, high = Decimal(0), wanted + 1 + (2 * wanted).sqrt()
        for _ in range(110):
            middle = (low + high) / 2
            low, high = (middle, high) if middle - 1 + (-middle).exp() < wanted else (low, middle)
        return float(high)


@pytest.mark.parametrize("q", [1e-14, 3e-8, 9.9e-5, 1.01e-4, 0.003, 0.3, 1.0, 7.0, 300.0, 1e6])
def test_a_due_interval_is_exact(q: float) -> None:
    found = due_interval_days(np.array([q]), ONE, ONE)[0]
    assert abs(found - exact_root(q)) < 2e-13 * max(1.0, found)
    assert found == pytest.approx(exact_root(q), rel=1e-12)


def test_a_page_is_due_when_its_index_reaches_theta() -> None:
    rng = np.random.default_rng(2)
    rate = np.exp(rng.uniform(-9, 4, 2_000)).astype(float)
    weight = np.exp(rng.normal(0, 2, 2_000)).astype(float)
    for theta in (1 / 1_440, 1.0, 400.0):
        interval = due_interval_days(np.full(2_000, theta), rate, weight)
        np.testing.assert_allclose(weight * expected_age_days(interval, rate), theta, rtol=1e-9)


@NEEDS_SIMULATOR
def test_the_simulator_says_the_same_time() -> None:
    rng = np.random.default_rng(3)
    rate, weight = np.exp(rng.uniform(-9, 4, 5_000)), np.exp(rng.normal(0, 2, 5_000))
    theirs = simulator_function("theory.py", "due_harm_newton")
    for theta in (0.01, 2.0, 90.0):
        ours = due_interval_days(np.full(5_000, theta), rate, weight)
        np.testing.assert_allclose(ours, theirs(theta, rate, weight), rtol=1e-6)


@pytest.mark.parametrize(("interval_days", "rate"), [(0.1, 0.01), (1.0, 0.009), (10.0, 0.3), (50.0, 4.0)])
def test_means_over_an_interval_are_what_they_say(interval_days: float, rate: float) -> None:
    middles = (np.arange(200_000) + 0.5) * (interval_days / 200_000)
    rates = np.full(len(middles), rate)
    fresh, age = np.exp(-rate * middles).mean(), expected_age_days(middles.astype(float), rates).mean()
    assert mean_freshness(np.array([interval_days]), np.array([rate]))[0] == pytest.approx(fresh, rel=1e-6)
    assert mean_age_days(np.array([interval_days]), np.array([rate]))[0] == pytest.approx(age, rel=1e-6)

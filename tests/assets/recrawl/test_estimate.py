"""Evidence of change rates: pinned vectors, the simulator's own estimator, and what must hold for all visits."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.recrawl.estimate import MEMORY_DAYS, changed_posterior, posterior_rate, visited

SIMULATOR = Path(__file__).resolve().parents[4] / "shared/tools/recrawl_sim"
NEEDS_SIMULATOR = pytest.mark.skipif(not SIMULATOR.is_dir(), reason="the simulator (../shared) is not here")
NO_DATE = np.array([np.nan])


def simulator_function(module: str, name: str) -> Callable[..., Any]:
    """Take one function out of the simulator, whose modules need scipy."""
    tree = ast.parse((SIMULATOR / module).read_text())
    chosen: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    space: dict[str, Any] = {"np": np}
    exec(compile(ast.Module(chosen, []), module, "exec"), space)
    function: Callable[..., Any] = space[name]
    return function


@pytest.mark.parametrize(
    ("shape", "days", "gap_days", "expected"),
    [
        (1.0, 30.0, 30.0, (1.8, 36.0)),
        (0.5, 10.0, 3.0, (1.478906554561291, 11.177212109026527)),
        (4.0, 7.0, 0.2, (4.998018703800847, 7.094371555931365)),
        (1.0, 30.0, 1e-6, (2.0, 30.0000005)),
        (1.0, 5.0, 1e9, (1.0, 5.0)),
    ],
)
def test_a_change_of_unknown_date_is_matched_in_mean_and_variance(
    shape: float, days: float, gap_days: float, expected: tuple[float, float]
) -> None:
    found = changed_posterior(np.array([shape]), np.array([days]), np.array([gap_days]))
    assert (found[0][0], found[1][0]) == pytest.approx(expected, rel=1e-6)


@NEEDS_SIMULATOR
def test_the_simulator_estimates_the_same() -> None:
    rng = np.random.default_rng(1)
    changes, days = rng.gamma(1.0, 3.0, 5_000), rng.gamma(1.0, 60.0, 5_000)
    rate, gap = np.exp(rng.normal(-3, 2, 5_000)), np.exp(rng.normal(1, 2, 5_000))
    changed = rng.random(5_000) < 0.5
    ago = np.where(rng.random(5_000) < 0.5, gap * rng.random(5_000), np.nan)
    ours = visited(changes, days, prior_rate=rate, gap_days=gap, changed=changed, changed_days_ago=ago)
    kept = np.exp(-gap / MEMORY_DAYS)
    theirs = simulator_function("estimators.py", "adf_update")(
        1 + kept * changes, 1 / rate + kept * days, gap, changed, np.where(changed, ago, np.nan)
    )
    np.testing.assert_allclose(ours[0] + 1, theirs[0], rtol=1e-6)
    np.testing.assert_allclose(ours[1] + 1 / rate, theirs[1], rtol=1e-6)


@given(
    st.floats(0, 500), st.floats(0, 5_000), st.floats(1e-4, 50), st.floats(1e-3, 3_000), st.booleans(), st.booleans()
)
def test_a_change_raises_the_rate_and_none_lowers_it(
    changes: float, days: float, prior_rate: float, gap_days: float, changed: bool, dated: bool
) -> None:
    kept = np.exp(-gap_days / MEMORY_DAYS)
    prior = np.array([prior_rate])
    before = posterior_rate(np.array([changes * kept]), np.array([days * kept]), prior)
    after = posterior_rate(
        *visited(
            np.array([changes]),
            np.array([days]),
            prior_rate=prior,
            gap_days=np.array([gap_days]),
            changed=np.array([changed]),
            changed_days_ago=np.array([0.0]) if dated else NO_DATE,
        ),
        prior,
    )
    assert np.isfinite(after[0])
    assert after[0] >= before[0] * (1 - 1e-6) if changed else after[0] <= before[0] * (1 + 1e-12)


def test_many_visits_lead_to_the_true_rate() -> None:
    rng, rows, rate = np.random.default_rng(3), 2_000, 0.05
    changes = days = np.zeros(rows)
    for _ in range(40):
        gap = rng.exponential(15.0, rows)
        changes, days = visited(
            changes,
            days,
            prior_rate=np.full(rows, 0.2),
            gap_days=gap,
            changed=rng.random(rows) < -np.expm1(-rate * gap),
            changed_days_ago=np.full(rows, np.nan),
        )
    assert posterior_rate(changes, days, np.full(rows, 0.2)).mean() == pytest.approx(rate, rel=0.2)

"""Proof that the policy is fresher than others: on the worlds of ``bench.freshness``, and by the simulator's bounds."""

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from assets.recrawl.index import mean_age_days, mean_freshness
from bench.freshness.__main__ import CEILINGS, measured, too_high
from bench.freshness.peers import Uniform
from bench.freshness.picture import bars
from bench.freshness.simulator import simulate
from bench.freshness.worlds import gamma, steady_world
from tests.assets.recrawl.test_estimate import NEEDS_SIMULATOR, SIMULATOR

ROOT = Path(__file__).resolve().parents[3]
ACCEPTANCE_TIMEOUT_S = 3_600


@pytest.mark.slow
@pytest.mark.parametrize("world", CEILINGS)
def test_ours_is_below_its_ceilings(world: str) -> None:
    assert too_high(measured(world, 1_000, [1])) == []


def test_the_meter_agrees_with_theory() -> None:
    world = steady_world("steady", gamma, 1_500, 400.0, seed=3, zipf=False)
    budget_per_day = len(world.changes) / world.days
    interval = np.full(world.pages, world.pages / budget_per_day)
    rate = np.maximum(world.rate, 1e-9)
    found = simulate(world, Uniform(), budget_per_day)
    assert found.freshness == pytest.approx(mean_freshness(interval, rate).mean(), abs=0.01)
    assert found.age_days == pytest.approx(mean_age_days(interval, rate).mean(), rel=0.05)
    assert found.fetches == pytest.approx(budget_per_day * world.days, abs=1)


def test_a_picture_is_well_formed() -> None:
    drawn = bars("a < b", ["one", "other"], {"x & y": [0.5, 2.0], "z": [1.0, 0.25]})
    rectangles = [node for node in ElementTree.fromstring(drawn).iter() if node.tag.endswith("rect")]
    heights = [float(node.attrib["height"]) for node in rectangles[2:]]
    assert np.array(heights) / heights[2] == pytest.approx([0.5, 2.0, 1.0, 0.25], abs=0.01)


def scientific_python() -> str | None:
    """Find an interpreter that has what the simulator needs."""
    for candidate in (sys.executable, shutil.which("python3"), shutil.which("python")):
        if candidate and not subprocess.run([candidate, "-c", "import numpy, scipy"], capture_output=True).returncode:
            return candidate
    return None


@pytest.mark.slow
@pytest.mark.acceptance
@NEEDS_SIMULATOR
def test_ours_keeps_the_bounds_of_the_simulator() -> None:
    python = scientific_python()
    if python is None:
        pytest.skip("no Python here has numpy and scipy, which the simulator needs")
    done = subprocess.run(
        [python, str(SIMULATOR / "accept.py"), "--quick", "bench.freshness.ours:make"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=ACCEPTANCE_TIMEOUT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") == 12

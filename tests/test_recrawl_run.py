"""Recrawls end to end: on a site that changes, the sensor's runs keep copies fresher than uniform intervals would."""

from pathlib import Path

import numpy as np
import pytest

from bench.recrawl_run.ground import RunSettings
from bench.recrawl_run.measure import longest_wait_days, most_in_a_day, quality, uniform_quality
from bench.recrawl_run.outcome import editions_fed, editions_served, outcome_of
from bench.recrawl_run.run import recrawl
from bench.recrawl_run.world import Sitemap, WorldSettings, make_world

SMALL = RunSettings(WorldSettings(pages=120, sections=6, days=14), requests_per_day=24, step_hours=12, longest_days=8)


@pytest.mark.parametrize(
    ("changes", "visits", "freshness", "age_days"),
    [
        pytest.param([], [], 1.0, 0.0, id="never changes"),
        pytest.param([4.0], [], 0.4, 1.8, id="never visited"),
        pytest.param([4.0], [2.0], 0.4, 1.8, id="visited before"),
        pytest.param([4.0, 5.0], [6.0], 0.8, 0.2, id="the first change that is missed counts"),
        pytest.param([4.0, 7.0], [6.0, 9.0], 0.6, 0.4, id="missed twice"),
    ],
)
def test_copies_are_stale_from_the_first_change_to_the_next_visit(
    changes: list[float], visits: list[float], freshness: float, age_days: float
) -> None:
    found = quality([np.array(changes)], [np.array(visits)], 10.0)
    assert (found.freshness, found.age_days) == pytest.approx((freshness, age_days))


def test_uniform_visits_are_as_fresh_as_the_formula_says() -> None:
    rng = np.random.default_rng(5)
    days, rate, interval = 400.0, 0.1, 10.0
    changes = [np.sort(rng.random(rng.poisson(rate * days)) * days) for _ in range(300)]
    found = uniform_quality(changes, int(300 * days / interval), days)
    x = rate * interval
    assert found.freshness == pytest.approx((1 - np.exp(-x)) / x, abs=0.01)
    assert found.age_days == pytest.approx(interval / 2 - 1 / rate + (1 - np.exp(-x)) / (rate * x), rel=0.03)


def test_a_day_is_any_24_hours_and_waits_include_both_ends() -> None:
    assert most_in_a_day([0.9, 0.2, 1.1, 1.89, 5.0]) == 3
    assert most_in_a_day([]) == 0
    assert longest_wait_days([np.array([4.0]), np.array([1.0, 2.0])], 10.0) == 8.0


def test_a_seed_makes_one_world_whose_texts_say_their_edition() -> None:
    world, again = make_world(SMALL.world), make_world(SMALL.world)
    assert all(np.array_equal(*pair) for pair in zip(world.changes, again.changes, strict=True))
    assert set(world.sitemaps) == set(Sitemap)
    first, second, fifth = (world.paragraphs(7, edition) for edition in (0, 1, 4))
    assert sum(a == b for a, b in zip(first[1:], second[1:], strict=True)) == 2
    assert not set(first) & set(fifth)


@pytest.mark.slow
def test_recrawls_beat_uniform_intervals_within_the_budget_and_feed_each_text_once(tmp_path: Path) -> None:
    with recrawl(SMALL, tmp_path) as run:
        run.crawl()
        assert len(list(run.live())) == run.ticks == 27
        outcome = outcome_of(run)
        assert outcome.violations == ()
        assert editions_fed(run) == editions_served(run)
    assert 0 < outcome.most_in_a_day <= SMALL.requests_per_day
    assert outcome.longest_wait_days <= SMALL.longest_wait_days < SMALL.world.days
    assert outcome.found > 40
    assert outcome.ours.staleness < 0.85 * outcome.uniform.staleness
    assert outcome.ours.age_days < 0.85 * outcome.uniform.age_days

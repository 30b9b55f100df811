"""The simulator: a policy against a world at a fixed bandwidth, measured in continuous time.

A policy has ``start(info)``, ``pick(t, k, known)`` that chooses at most k pages, and ``seen(t, ids, changed, tau,
first, gone, lastmod)`` that is told what came of it. Each policy is offered exactly the same number of fetches.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from assets.recrawl.columns import Flags, Floats, Rows
from bench.freshness.worlds import World

TICK_DAYS: Final = 0.25


class Policy(Protocol):
    """What chooses pages."""

    def start(self, info: Mapping[str, Any]) -> None:
        """Begin: n, site, w, budget, rng, extra; and the world, which only an oracle may look at."""

    def pick(self, t: float, k: int, known: Flags) -> Rows:
        """Choose at most k of the known pages."""

    def seen(
        self, t: float, ids: Rows, changed: Flags, tau: Floats, first: Flags, gone: Flags, lastmod: Floats
    ) -> None:
        """Learn what visits found."""


@dataclass(frozen=True, slots=True)
class Measured:
    """How good copies were, as a mean over pages by weight and over time."""

    freshness: float  # share of time in which a copy was as its page
    age_days: float  # since the first change that it misses
    fetches: int

    @property
    def staleness(self) -> float:
        """Share of time in which it was not."""
        return 1 - self.freshness


def simulate(world: World, policy: Policy, budget_per_day: float, seed: int = 0) -> Measured:
    """Let a policy fetch for all of a world's days, and measure."""
    meter = _Meter(world)
    nobody = np.zeros(world.pages, bool)
    policy.start(
        {
            "n": world.pages,
            "site": world.site,
            "w": world.weight,
            "budget": budget_per_day,
            "rng": np.random.default_rng(seed),
            "extra": {"dir": world.directory},
            "world": world,
        }
    )
    everybody = np.arange(world.pages)
    policy.seen(0.0, everybody, nobody, np.zeros(world.pages), ~nobody, nobody, np.full(world.pages, np.nan))
    saved, fetches = 0.0, 0
    for tick in range(1, round(world.days / TICK_DAYS) + 1):
        day = tick * TICK_DAYS
        saved += budget_per_day * TICK_DAYS
        share = int(saved)
        saved -= share
        ids = policy.pick(day, share, ~nobody) if share else everybody[:0]
        if len(ids) > share or len(np.unique(ids)) != len(ids):
            raise ValueError(f"{type(policy).__name__} took {len(ids)} pages of {share}, or one of them twice")
        fetches += len(ids)
        gaps, changed = meter.visit(ids, day)
        nothing = np.zeros(len(ids), bool)
        policy.seen(day, ids, changed, gaps, nothing, nothing, np.full(len(ids), np.nan))
    meter.visit(everybody, world.days)
    return Measured(meter.fresh / meter.held, meter.aged / meter.held, fetches)


class _Meter:
    """What was fresh, and how old the rest was, up to each page's last visit."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._last = np.zeros(world.pages)
        self._next = world.starts[:-1].copy()  # first change that the copy misses
        # One sorted line of all changes, so that a page's changes up to a day are found by one search.
        self._length = world.days + 1.0
        self._line = world.changes + np.repeat(np.arange(world.pages), np.diff(world.starts)) * self._length
        self._changes = np.append(world.changes, np.inf)
        self.fresh = self.aged = self.held = 0.0

    def visit(self, ids: Rows, day: float) -> tuple[Floats, Flags]:
        """Close the books of some pages; give the days since their last visits, and whether they changed."""
        seen = np.maximum(np.searchsorted(self._line, ids * self._length + day, side="right"), self._world.starts[ids])
        changed = seen > self._next[ids]
        first_missed = np.where(changed, self._changes[self._next[ids]], day)
        gaps, weight = day - self._last[ids], self._world.weight[ids]
        self.fresh += float((weight * (first_missed - self._last[ids])).sum())
        self.aged += float((weight * (day - first_missed) ** 2 / 2).sum())
        self.held += float((weight * gaps).sum())
        self._next[ids], self._last[ids] = seen, day
        return gaps, changed

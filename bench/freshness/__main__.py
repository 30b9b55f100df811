"""Freshness benchmark: ``python -m bench.freshness [--pages 2000] [--seeds 3] [--picture freshness.svg]``.

Plays our policy, uniform, Nutch, StormCrawler and an oracle on each world with the same number of fetches, prints how
stale and how old copies were, and draws it. Ends with 1 when ours is above one of the ``CEILINGS``.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.freshness.ours import make
from bench.freshness.peers import KnownRates, Nutch, StormCrawler, Uniform
from bench.freshness.picture import bars
from bench.freshness.simulator import Measured, Policy, simulate
from bench.freshness.worlds import World, worlds

OURS: Final = "isobath"
UNIFORM: Final = "uniform"
NUTCH: Final = "Nutch"
POLICIES: Final[dict[str, Callable[[], Policy]]] = {
    UNIFORM: Uniform,
    NUTCH: Nutch,
    "StormCrawler": StormCrawler,
    OURS: make,
    "known rates": KnownRates,
}
DAYS_A_FETCH: Final = {"publishes": 30.0}  # of a page; on the other worlds there is a fetch for each change


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What our staleness and age may be, as a share of those of another policy."""

    stale_to_uniform: float
    stale_to_nutch: float
    age_to_uniform: float


CEILINGS: Final = {
    "gamma": Ceiling(0.945, 0.91, 0.86),
    "lognormal": Ceiling(0.945, 0.87, 0.86),
    "drifting": Ceiling(0.96, 0.88, 0.95),
    "web of 2000": Ceiling(0.82, 0.64, 0.60),
    "zipf weights": Ceiling(0.58, 0.54, 0.52),
    "publishes": Ceiling(0.96, 0.86, 0.93),
}


@dataclass(frozen=True, slots=True)
class Result:
    """One policy on one world, as means over seeds."""

    world: str
    policy: str
    staleness: float
    age_days: float
    fetches: float
    stale_to_uniform: float
    stale_to_nutch: float
    age_to_uniform: float


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table, draw, and say by the exit code whether ours is where it must be."""
    parser = argparse.ArgumentParser(prog="python -m bench.freshness", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--picture", type=Path, default=None, help="where to draw it, as SVG")
    asked = parser.parse_args(arguments)
    console = Console(width=100)  # the table is that wide, whatever the terminal
    results: list[Result] = []
    for name in CEILINGS:
        results += measured(name, asked.pages, range(1, asked.seeds + 1))
        console.print(f"[dim]{name} done[/dim]")
    console.print(table(results))
    if asked.picture is not None:
        rows = {name: [one.stale_to_uniform for one in results if one.world == name] for name in CEILINGS}
        title = "Staleness relative to uniform, same number of fetches (less is better)"
        asked.picture.write_text(bars(title, list(POLICIES), rows), encoding="utf-8")
        console.print(f"drawn in {asked.picture}")
    above = too_high(results)
    for sentence in above:
        console.print(f"[red]{sentence}[/red]")
    return 1 if above else 0


def measured(world_name: str, pages: int, seeds: Iterable[int]) -> list[Result]:
    """Let all policies play on a world, once for each seed."""
    played = [_played(worlds(pages, seed)[world_name](), seed) for seed in seeds]
    return [_result(world_name, policy, played) for policy in POLICIES]


def _result(world_name: str, policy: str, played: Sequence[Mapping[str, Measured]]) -> Result:
    def mean(value: Callable[[Mapping[str, Measured]], float]) -> float:
        return sum(value(one) for one in played) / len(played)

    return Result(
        world=world_name,
        policy=policy,
        staleness=mean(lambda one: one[policy].staleness),
        age_days=mean(lambda one: one[policy].age_days),
        fetches=mean(lambda one: one[policy].fetches),
        stale_to_uniform=mean(lambda one: one[policy].staleness / one[UNIFORM].staleness),
        stale_to_nutch=mean(lambda one: one[policy].staleness / one[NUTCH].staleness),
        age_to_uniform=mean(lambda one: one[policy].age_days / one[UNIFORM].age_days),
    )


def too_high(results: Iterable[Result]) -> list[str]:
    """Say which ceilings ours is above, and whether it fetched more than others."""
    found = []
    uniform = {one.world: one.fetches for one in results if one.policy == UNIFORM}
    for one in results:
        if one.policy != OURS:
            continue
        ceiling = CEILINGS[one.world]
        found += [
            f"{one.world}: {measure} {getattr(one, measure):.3f} > {getattr(ceiling, measure)}"
            for measure in Ceiling.__dataclass_fields__
            if getattr(one, measure) > getattr(ceiling, measure)
        ]
        if one.fetches > uniform[one.world]:
            found.append(f"{one.world}: {one.fetches:.0f} fetches, uniform {uniform[one.world]:.0f}")
    return found


def table(results: Iterable[Result]) -> Table:
    """Lay results out."""
    made = Table(title="Staleness is 1 - freshness; less is better everywhere; all fetch as often")
    for heading in ("world", "policy"):
        made.add_column(heading)
    for heading in ("staleness", "of uniform", "of Nutch", "age, days", "of uniform", "fetches"):
        made.add_column(heading, justify="right")
    before = ""
    for one in results:
        if before not in ("", one.world):
            made.add_section()
        made.add_row(
            one.world if one.world != before else "",
            one.policy,
            f"{one.staleness:.3f}",
            f"x{one.stale_to_uniform:.2f}",
            f"x{one.stale_to_nutch:.2f}",
            f"{one.age_days:.2f}",
            f"x{one.age_to_uniform:.2f}",
            f"{one.fetches:,.0f}",
            style="bold" if one.policy == OURS else None,
        )
        before = one.world
    return made


def _played(world: World, seed: int) -> dict[str, Measured]:
    days = DAYS_A_FETCH.get(world.name)
    budget_per_day = world.pages / days if days else len(world.changes) / world.days
    return {name: simulate(world, policy(), budget_per_day, seed) for name, policy in POLICIES.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Rounds of kills: a crawl is killed and carried on until it comes to its end; then it is looked at."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.kills.checks import Ends, ends_of_crawls, violations
from bench.kills.lives import Ground, Kill
from bench.kills.site import killing_site
from bench.kills.stores import FolderView, S3View, StoreView
from tests.support.loopback import LoopbackSite


@dataclass
class Tally:
    """What came of all kills on one kind of store."""

    rounds: int = 0
    kills: list[Kill] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Peace:
    """A crawl that was not killed."""

    ends: Ends
    walk_s: float


def crawl_in_peace(environment: Mapping[str, str], folder: Path, *, pages: int) -> Peace:
    """Crawl a site that others are compared with.

    Raises:
        SystemExit: what must hold does not hold even then.
    """
    with LoopbackSite(killing_site(pages)) as site:
        ground = Ground(site, store_view(environment, folder / "store"), folder / "peace")
        ground.live()
        found = ends_of_crawls(ground)
        ends = next(iter(found.values()), {})
        if wrong := violations(ground, ends):
            raise SystemExit(f"a crawl that was not killed: {wrong}")
    return Peace(ends, ground.walk_s)


def killed_crawls(
    environment: Mapping[str, str],
    folder: Path,
    peace: Peace,
    *,
    pages: int,
    kills: int,
    seed: int,
    told: Callable[[Kill], object] = lambda kill: None,
) -> Tally:
    """Kill crawls, as many as it takes.

    Args:
        environment: of an S3 server; empty for stores in folders.
        folder: where everything is kept.
        peace: a crawl of the same number of pages.
        pages: of the site, about.
        kills: how many.
        seed: of the moments.
        told: is given each kill.
    """
    tally, moments = Tally(), random.Random(seed)
    while len(tally.kills) < kills:
        tally.rounds += 1
        with LoopbackSite(killing_site(pages)) as site:
            place = folder / str(tally.rounds)
            ground = Ground(site, store_view(environment, place / "store"), place)
            # Once the crawl is through, the next command would begin another: one in peace, then all is looked at.
            while not ground.live(
                moments.uniform(0, peace.walk_s) if len(tally.kills) < kills and not ground.is_through else math.inf
            ):
                tally.kills.append(ground.kills[-1])
                told(tally.kills[-1])
            wrong = violations(ground, peace.ends)
        tally.violations += [f"round {tally.rounds}: {sentence}" for sentence in wrong]
    return tally


def store_view(environment: Mapping[str, str], folder: Path) -> StoreView:
    """Give a new store, on an S3 server if its environment is given."""
    return S3View(environment) if environment else FolderView(folder)

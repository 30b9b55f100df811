"""Worlds: pages with the times at which they truly change. Made from a seed, so that all know what the truth is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assets.recrawl.columns import Floats

MEAN_RATE: Final = 1 / 30  # changes a day of a page
SITES: Final = 40
# Shares of pages by their mean change interval, from at least to at most so many days.
# Source: Cho and Garcia-Molina, The Evolution of the Web and Implications for an Incremental Crawler, 2000.
_CHO_2000: Final = ((0.23, 0.25, 1), (0.15, 1, 7), (0.16, 7, 30), (0.16, 30, 120), (0.30, 120, 3000))


@dataclass(frozen=True, slots=True)
class World:
    """Pages that are there from the first day to the last."""

    name: str
    days: float
    site: NDArray[np.int64]
    directory: NDArray[np.int64]  # numbered over all sites
    weight: Floats  # mean 1
    changes: Floats  # times of changes, page after page, each page's in order
    starts: NDArray[np.int64]  # of each page in ``changes``, and where the last one ends

    @property
    def pages(self) -> int:
        """How many there are."""
        return len(self.site)

    @property
    def rate(self) -> Floats:
        """Changes a day of each page, as they came."""
        return np.diff(self.starts) / self.days


def gamma(rng: np.random.Generator, site_scale: Floats) -> Floats:
    """Give rates that are Gamma distributed within a site."""
    return site_scale * rng.gamma(0.5, 2.0, len(site_scale))


def lognormal(rng: np.random.Generator, site_scale: Floats) -> Floats:
    """Give rates that are lognormal within a site: most pages slow, few very fast."""
    return site_scale * np.exp(rng.normal(0, 1.5, len(site_scale)))


def cho2000(rng: np.random.Generator, site_scale: Floats) -> Floats:
    """Give rates with the shares that were measured on 720,000 pages; fast ones gather on some sites."""
    order = np.argsort(-(0.7 * np.log(site_scale) + rng.normal(0, 1, len(site_scale))))
    sizes = np.round(np.cumsum([share for share, _, _ in _CHO_2000]) * len(order)).astype(int)
    rates = np.empty(len(order))
    for start, end, (_, shortest, longest) in zip([0, *sizes[:-1]], sizes, _CHO_2000, strict=True):
        rates[order[start:end]] = 1 / np.exp(rng.uniform(np.log(shortest), np.log(longest), end - start))
    return rates


def _ground(rng: np.random.Generator, pages: int, zipf: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    site = np.sort(rng.integers(0, SITES, pages))
    directory = site * 8 + np.minimum(rng.geometric(0.35, pages) - 1, 7)
    weight = 1 / np.arange(1, pages + 1) if zipf else np.ones(pages)
    rng.shuffle(weight)
    return site, directory, weight / weight.mean()


def _scale(rng: np.random.Generator, site: NDArray[np.int64], directory: NDArray[np.int64]) -> Floats:
    return np.exp(rng.normal(0, 1.0, SITES))[site] * np.exp(rng.normal(0, 0.7, SITES * 8))[directory]


def _gathered(page: NDArray[np.int64], times: Floats, pages: int) -> tuple[Floats, NDArray[np.int64]]:
    order = np.lexsort((times, page))
    return times[order], np.concatenate([[0], np.cumsum(np.bincount(page, minlength=pages))])


def steady_world(
    name: str, rates: Callable[[np.random.Generator, Floats], Floats], pages: int, days: float, seed: int, zipf: bool
) -> World:
    """Make a world whose pages change as Poisson processes of constant rates."""
    rng = np.random.default_rng(seed)
    site, directory, weight = _ground(rng, pages, zipf)
    rate = rates(rng, _scale(rng, site, directory))
    if rates is not cho2000:
        rate = rate * (MEAN_RATE / rate.mean())
    page = np.repeat(np.arange(pages), rng.poisson(rate * days))
    return World(name, days, site, directory, weight, *_gathered(page, rng.random(len(page)) * days, pages))


def drifting_world(name: str, pages: int, days: float, seed: int) -> World:
    """Make a world whose pages take a new rate every half year or so."""
    rng = np.random.default_rng(seed)
    site, directory, weight = _ground(rng, pages, zipf=False)
    scale = _scale(rng, site, directory)
    spells = rng.poisson(days / 180, pages) + 1
    page = np.repeat(np.arange(pages), spells)
    begins = rng.random(len(page)) * days
    begins[np.cumsum(spells) - spells] = 0
    begins, starts = _gathered(page, begins, pages)
    ends = np.append(begins[1:], days)
    ends[starts[1:] - 1] = days
    rate = scale[page] * np.exp(rng.normal(0, 1.5, len(page)))
    rate *= MEAN_RATE * days * pages / (rate * (ends - begins)).sum()
    changes = rng.poisson(rate * (ends - begins))
    times = np.repeat(begins, changes) + rng.random(changes.sum()) * np.repeat(ends - begins, changes)
    return World(name, days, site, directory, weight, *_gathered(np.repeat(page, changes), times, pages))


def publishing_world(name: str, pages: int, days: float, seed: int) -> World:
    """Make a world where half of all changes come in publishes of a directory, and the others in bursts."""
    rng = np.random.default_rng(seed)
    site, directory, weight = _ground(rng, pages, zipf=False)
    scale = _scale(rng, site, directory)
    own = lognormal(rng, scale)
    own *= MEAN_RATE / own.mean() / 2
    # Bursts: a change is followed by others within days.
    first = np.repeat(np.arange(pages), rng.poisson(own * days / 3))
    sizes = rng.geometric(1 / 3, len(first))
    burst = np.repeat(rng.random(len(first)) * days, sizes) + rng.exponential(3.0, sizes.sum())
    page = np.repeat(first, sizes)
    times = [burst[burst < days]]
    changed = [page[burst < days]]
    for number in range(SITES * 8):
        members = np.flatnonzero(directory == number)
        publishes = rng.poisson(days * scale[members].mean() * MEAN_RATE / scale.mean()) if len(members) else 0
        for at in rng.random(publishes) * days:
            touched = members[rng.random(len(members)) < 0.5]
            changed.append(touched)
            times.append(np.full(len(touched), at))
    return World(name, days, site, directory, weight, *_gathered(np.concatenate(changed), np.concatenate(times), pages))


def worlds(pages: int = 2_000, seed: int = 1) -> Mapping[str, Callable[[], World]]:
    """Name the worlds of the benchmark; each is made when it is called."""
    return {
        "gamma": lambda: steady_world("gamma", gamma, pages, 360, seed, zipf=False),
        "lognormal": lambda: steady_world("lognormal", lognormal, pages, 360, seed, zipf=False),
        "drifting": lambda: drifting_world("drifting", pages, 360, seed),
        "web of 2000": lambda: steady_world("web of 2000", cho2000, pages, 120, seed, zipf=False),
        "zipf weights": lambda: steady_world("zipf weights", lognormal, pages, 360, seed, zipf=True),
        "publishes": lambda: publishing_world("publishes", pages, 720, seed),
    }

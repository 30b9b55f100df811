"""The pages of the changing site: when each one truly changes, what its publisher says of that, and what it reads."""

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from assets.recrawl.columns import Floats

CHANGES_PER_DAY: Final = 1 / 20  # of a page, as a mean over the site
SECTION_SPREAD: Final = 1.5  # of the logarithm of the rates of sections
PAGE_SPREAD: Final = 0.5  # within a section
PUBLISHED_SHARE: Final = 0.5  # of a section's pages, that a publish touches
JUNK_PER_DAY: Final = 1 / 7  # dates that a junk sitemap moves, of a page
PARAGRAPHS: Final = 4
_WORDS: Final = 30  # of a paragraph
_CYCLE: Final = 5  # kinds of sitemaps repeat over sections


class Sitemap(StrEnum):
    """What the sitemap says of a section's pages."""

    TRUTH = "truth"
    JUNK = "junk"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class WorldSettings:
    """How large the world is, and for how long it is looked at."""

    pages: int = 2_000
    sections: int = 40
    days: float = 60.0
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.sections <= self.pages or self.days <= 0:
            raise ValueError(f"need pages, sections and days, at least a page a section: {self}")


@dataclass(frozen=True, slots=True)
class World:
    """Pages by number, and their days: of changes, and of the dates that the sitemap moves to."""

    settings: WorldSettings
    sitemaps: tuple[Sitemap, ...]  # of each section
    changes: tuple[Floats, ...]  # of each page, in order
    stated: tuple[Floats, ...]  # of each page, in order

    def section(self, page: int) -> int:
        """Give the section of a page."""
        return page % self.settings.sections

    def path(self, page: int) -> str:
        """Give the path of a page."""
        return f"/s{self.section(page)}/p{page}"

    def edition(self, page: int, day: float) -> int:
        """Count the changes of a page up to a day."""
        return int(np.searchsorted(self.changes[page], day, side="right"))

    def lastmod_day(self, page: int, day: float) -> float | None:
        """Give the day that the sitemap states for a page on a day; None before the first."""
        before = int(np.searchsorted(self.stated[page], day, side="right"))
        return float(self.stated[page][before - 1]) if before else None

    def paragraphs(self, page: int, edition: int) -> list[str]:
        """Give the text of an edition of a page: it says which one it is, and shares most of it with the one before."""
        written = [edition - (edition - number) % PARAGRAPHS for number in range(PARAGRAPHS)]
        told = [self._paragraph(page, number, max(0, since)) for number, since in enumerate(written)]
        return [f"This is edition {edition} of page {page}. {told[0]}", *told[1:]]

    def _paragraph(self, page: int, number: int, edition: int) -> str:
        rng = random.Random(f"{self.settings.seed} {page} {number} {edition}")
        words = ("".join(rng.choices("bdfgklmnprstvz", k=1) + rng.choices("aeiou", k=1)) for _ in range(3 * _WORDS))
        return " ".join(a + b + c for a, b, c in zip(words, words, words, strict=True)).capitalize() + "."


def make_world(settings: WorldSettings) -> World:
    """Make the world of a seed: Poisson changes at rates that differ by section and page, and publishes of sections."""
    rng = np.random.default_rng(settings.seed)
    section = np.arange(settings.pages) % settings.sections
    section_rate = rng.lognormal(0, SECTION_SPREAD, settings.sections)
    page_scale = rng.lognormal(0, PAGE_SPREAD, settings.pages)
    rate = section_rate[section] * page_scale
    rate *= CHANGES_PER_DAY / rate.mean()
    # Every third section makes half of its changes in publishes.
    publishes = np.arange(settings.sections) % 3 == 2
    rate[publishes[section]] /= 2
    times = [_poisson(rng, one, settings.days) for one in rate.tolist()]
    for number in np.flatnonzero(publishes):
        members = np.flatnonzero(section == number)
        for at in _poisson(rng, float(rate[members].mean()) / PUBLISHED_SHARE, settings.days):
            for page in members[rng.random(len(members)) < PUBLISHED_SHARE].tolist():
                times[page] = np.sort(np.append(times[page], at))
    kinds = (Sitemap.TRUTH, Sitemap.NOTHING, Sitemap.JUNK, Sitemap.NOTHING, Sitemap.TRUTH)
    sitemaps = tuple(kinds[number % _CYCLE] for number in range(settings.sections))
    stated = []
    for page, changed in enumerate(times):
        kind = sitemaps[page % settings.sections]
        junk = _poisson(rng, JUNK_PER_DAY, settings.days) if kind is Sitemap.JUNK else np.empty(0)
        stated.append(changed if kind is Sitemap.TRUTH else junk)
    return World(settings, sitemaps, tuple(times), tuple(stated))


def _poisson(rng: np.random.Generator, rate_per_day: float, days: float) -> Floats:
    return np.sort(rng.random(rng.poisson(rate_per_day * days)) * days)

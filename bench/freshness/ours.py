"""The product's own policy as a simulator plays it: the real fold, the real plan, the real claim, and nothing else.

The form is that of a sensor: due times are stored, and what is due is asked. Needs numpy alone, so that any simulator
with the same interface (``bench.freshness.simulator``) can load it by ``bench.freshness.ours:make``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assets.recrawl.claim import claim
from assets.recrawl.columns import Answer, EventColumns, Flags, Floats, PageColumns, PageStatus, Rows, SiteColumns
from assets.recrawl.due import due_days, worth_of
from assets.recrawl.fold import fold
from assets.recrawl.plan import Plan, plan
from assets.recrawl.settings import BudgetSettings, SiteTerms, TermColumns

PLAN_EVERY_DAYS = 1.0


class OurPolicy:
    """Isobath. ``start``, ``pick``, ``seen``, ``signal``: what a simulator calls."""

    fill = True

    def start(self, info: Mapping[str, Any]) -> None:
        """Begin with pages of which only site, section and weight are known."""
        rows = info["n"]
        sites, site = np.unique(np.asarray(info["site"]), return_inverse=True)
        directories = np.asarray(info["extra"].get("dir", site))
        _, first, section = np.unique(directories, return_index=True, return_inverse=True)
        self._section_site = site.astype(np.int32)[first]
        self._pages = PageColumns.unread(
            site=site.astype(np.int32), section=section.astype(np.int32), known_day=np.zeros(rows)
        )
        self._pages.weight[:] = info["w"]
        # The plan keeps budget for pages that wait to be read; the simulator reads new ones by itself.
        self._pages.status[:] = PageStatus.RETIRED
        self._sites = SiteColumns.unseen(len(sites))
        self._terms = TermColumns.of([SiteTerms(cap_per_day=1e9)] * len(sites))
        self._budget = BudgetSettings(info["budget"])
        self._due: Floats = np.full(rows, np.inf)
        self._version = np.ones(rows, np.uint64)
        self._plan: Plan | None = None
        self._planned_day = -np.inf
        self._crawl = 0

    def pick(self, t: float, k: int, known: Flags) -> Rows:
        """Take what is due, the most valuable first, and fill up with what is next in value."""
        if t - self._planned_day >= PLAN_EVERY_DAYS:
            self._plan = plan(self._pages, self._sites, self._section_site, self._terms, self._budget)
            self._due = due_days(self._pages, self._sites, self._plan.prices)
            self._planned_day = t
        assert self._plan is not None
        rows = np.flatnonzero(known)
        pages = self._pages.take(rows)
        value = worth_of(pages, self._sites, self._plan.prices).value_days(pages, t)
        return rows[claim(pages, self._due[rows], value, day=t, at_most=k, fill=True)]

    def seen(
        self, t: float, ids: Rows, changed: Flags, tau: Floats, first: Flags, gone: Flags, lastmod: Floats
    ) -> None:
        """Fold what visits found."""
        self._crawl += 1
        self._version[ids] += changed
        answer = np.where(gone, Answer.GONE, Answer.CONTENT).astype(np.uint8)
        self._fold(t, ids, answer, self._version[ids], lastmod)

    def signal(self, t: float, ids: Rows) -> None:
        """Fold signals."""
        nothing = np.zeros(len(ids), np.uint64)
        self._fold(t, ids, np.full(len(ids), Answer.SIGNAL, np.uint8), nothing, np.full(len(ids), np.nan))

    def _fold(
        self, t: float, ids: Rows, answer: NDArray[np.uint8], hashes: NDArray[np.uint64], changed_days_ago: Floats
    ) -> None:
        events = EventColumns(
            page=np.arange(len(ids)),
            day=np.full(len(ids), float(t)),
            answer=answer,
            crawl=np.full(len(ids), self._crawl),
            text_hash=hashes,
            payload_hash=hashes,
            validator_hash=np.zeros(len(ids), np.uint64),
            changed_days_ago=changed_days_ago,
        )
        folded = fold(self._pages.take(ids), self._sites, events)
        self._pages.put(ids, folded.pages)
        self._sites = folded.sites
        if self._plan is not None:
            self._due[ids] = due_days(folded.pages, folded.sites, self._plan.prices)


def make() -> OurPolicy:
    """Make the policy, for a simulator that loads it by name."""
    return OurPolicy()

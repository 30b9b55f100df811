"""Scale of the recrawl room: ``python -m bench.recrawl_scale [--pages 10000000] [--sites 10000] [--results 100000]``.

Plans for all pages, and folds results into some of them. Ends with 1 when a limit is not kept.
"""

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from assets.recrawl.claim import claim
from assets.recrawl.columns import Answer, EventColumns, PageColumns, PageStatus, PlanColumns, SiteColumns
from assets.recrawl.due import due_days, worth_of
from assets.recrawl.fold import fold
from assets.recrawl.outlook import outlooks
from assets.recrawl.plan import plan
from assets.recrawl.settings import BudgetSettings, SiteTerms, TermColumns

PLAN_LIMIT_S: Final = 15.0
FOLD_LIMIT_S: Final = 0.5
MEMORY_LIMIT_BYTES: Final = 1_000_000_000
_SECTIONS_A_SITE: Final = 40
_TODAY: Final = 20_000.5


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and say by the exit code whether all limits are kept."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.recrawl_scale", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--results", type=int, default=100_000)
    asked = parser.parse_args(arguments)
    pages, sites = made_up(asked.pages, asked.sites)
    section_site = np.repeat(np.arange(asked.sites, dtype=np.int32), _SECTIONS_A_SITE)
    terms = TermColumns.of([SiteTerms(cap_per_day=3_000.0)] * asked.sites)

    start_s = time.process_time()
    made = plan(pages, sites, section_site, terms, BudgetSettings(asked.pages / 30))
    due = due_days(pages, sites, made.prices)
    outlook = outlooks(due, pages.site, asked.sites, _TODAY)
    plan_s = time.process_time() - start_s
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    rng = np.random.default_rng(1)
    rows = np.sort(rng.choice(asked.pages, min(asked.results, asked.pages), replace=False))
    touched = read_again(pages.take(rows))
    events = results(touched)
    start_s = time.process_time()
    folded = fold(touched, sites, events)
    due[rows] = due_days(folded.pages, folded.sites, made.prices)
    fold_s = time.process_time() - start_s

    largest = np.flatnonzero(pages.site == np.bincount(pages.site).argmax())
    start_s = time.process_time()
    some = pages.take(largest)
    value = worth_of(some, folded.sites, made.prices).value_days(some, _TODAY)
    claim(some, due[largest], value, day=_TODAY, at_most=1_000)
    claim_s = time.process_time() - start_s

    soon = sum(one.due_at(_TODAY + 1 / 24) for one in outlook)
    print(f"{asked.pages:,} pages of {asked.sites:,} sites; processor time of one core")
    print(f"plan, due times, outlooks  {plan_s:8.2f} s   limit {PLAN_LIMIT_S} s")
    print(f"memory at its peak         {peak_bytes / 1e6:8.0f} MB  limit {MEMORY_LIMIT_BYTES / 1e6:.0f} MB")
    print(f"{len(rows):,} results folded     {fold_s:8.2f} s   limit {FOLD_LIMIT_S} s")
    print(f"claim on the largest site  {claim_s:8.3f} s   ({len(largest):,} pages)")
    print(f"theta {np.median(made.prices.theta_days):.2f} d, {made.allotment.per_day.sum():,.0f} requests a day wanted")
    print(f"{soon:,} pages due within the hour")
    if plan_s > PLAN_LIMIT_S or fold_s > FOLD_LIMIT_S or peak_bytes > MEMORY_LIMIT_BYTES:
        print("a limit is not kept")
        return 1
    return 0


def made_up(pages: int, sites: int) -> tuple[PlanColumns, SiteColumns]:
    """Make pages with two years of visits behind them, on sites of very different sizes, in the order of sites."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, sites + 1) ** 0.8
    site = np.repeat(np.arange(sites, dtype=np.int32), rng.multinomial(pages, shares / shares.sum()))
    section = rng.integers(0, _SECTIONS_A_SITE, pages, dtype=np.int32)
    section += site * np.int32(_SECTIONS_A_SITE)
    filled = {"known_day": _TODAY - 730, "status": PageStatus.LIVE, "max_interval_days": 365}
    made = PlanColumns.filled(pages, {"site": site, "section": section}, filled | {"fixed_interval_days": float("nan")})
    for start in range(0, pages, 1 << 20):
        some = slice(start, min(start + (1 << 20), pages))
        rows = some.stop - some.start
        made.weight[some] = rng.pareto(2.0, rows) + 0.1
        made.evidence_days[some] = rng.random(rows) * 360
        made.evidence_changes[some] = made.evidence_days[some] * rng.lognormal(-5, 1.5, rows)
        made.read_day[some] = made.asked_day[some] = _TODAY - rng.random(rows) * 30
    return made, SiteColumns.unseen(sites)


def read_again(pages: PlanColumns) -> PageColumns:
    """Make the whole state of pages whose content is known."""
    known = {name: getattr(pages, name) for name in PlanColumns.dtypes()}
    seen = {"payload_hash": 1, "text_hash": 1, "gone_since_day": float("nan"), "whole_day": _TODAY - 30}
    return PageColumns.filled(len(pages), known, seen)


def results(pages: PageColumns) -> EventColumns:
    """Make what a visit to each page found: a fifth of them changed, some fail, some are 304."""
    rng, rows = np.random.default_rng(2), len(pages)
    answers = np.array([Answer.CONTENT, Answer.NOT_MODIFIED, Answer.FAILED, Answer.NOT_FOUND], np.uint8)
    hashes = 1 + (rng.random(rows) < 0.4).astype(np.uint64)
    return EventColumns(
        page=np.arange(rows),
        day=_TODAY + np.sort(rng.random(rows)) * 0.4,
        answer=rng.choice(answers, rows, p=[0.5, 0.45, 0.03, 0.02]),
        crawl=pages.site.astype(np.int64),
        text_hash=hashes,
        payload_hash=hashes,
        validator_hash=np.zeros(rows, np.uint64),
        changed_days_ago=np.full(rows, np.nan),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

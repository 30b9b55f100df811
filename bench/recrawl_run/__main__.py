"""Recrawl benchmark: ``python -m bench.recrawl_run [--pages 2000] [--sections 40] [--days 60] [--kill] ...``.

Crawls a site on this machine whose pages change, and recrawls it by the real sensor and the real runs on a clock that
is turned step by step. Measures how fresh the copies truly were by the site's log, beside copies that are visited at
uniform intervals with the same number of requests (computed exactly on the same changes). Ends with 1 when ours were
staler, the budget was exceeded, a text was fed twice or never, or a page was left alone for too long.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.recrawl_run.ground import RunSettings
from bench.recrawl_run.outcome import Outcome, outcome_of
from bench.recrawl_run.run import Recrawl, recrawl
from bench.recrawl_run.world import WorldSettings

_TOLD = 20  # violations that are printed


def main(arguments: Sequence[str]) -> int:
    """Recrawl, print what was measured, and say by the exit code whether all that must hold does."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.recrawl_run", description=(__doc__ or "").partition("\n\n")[2]
    )
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--sections", type=int, default=40)
    parser.add_argument("--days", type=float, default=60.0)
    parser.add_argument("--step-hours", type=float, default=6.1)
    parser.add_argument("--budget-per-day", type=int, default=None, help="requests; a tenth of the pages unless given")
    parser.add_argument("--longest-days", type=float, default=None, help="three rounds over all pages unless given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kill", action="store_true", help="kill the process of one run in its middle")
    asked = parser.parse_args(arguments)
    budget = asked.budget_per_day or max(1, asked.pages // 10)
    settings = RunSettings(
        WorldSettings(asked.pages, asked.sections, asked.days, asked.seed),
        requests_per_day=budget,
        longest_days=asked.longest_days or 3 * asked.pages / budget,
        step_hours=asked.step_hours,
        kill=asked.kill,
    )
    console = Console(soft_wrap=True)
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="recrawl-") as folder, recrawl(settings, Path(folder)) as run:
        run.crawl()
        console.print(f"crawled {run.crawled:,} addresses in {time.monotonic() - start_s:.0f} s")
        for day in run.live():
            if day % 5 < settings.step_hours / 24:
                console.print(f"[dim]day {day:.0f}: {run.runs} runs, {time.monotonic() - start_s:.0f} s[/dim]")
        outcome = outcome_of(run)
        console.print(table(run, outcome))
    for sentence in outcome.violations[:_TOLD]:
        console.print(sentence, style="red", markup=False)
    return 1 if outcome.violations else 0


def table(run: Recrawl, outcome: Outcome) -> Table:
    """Lay the outcome out."""
    settings = run.settings
    killed = "" if run.killed_on_day is None else f", one killed on day {run.killed_on_day:.1f}, {outcome.lost} lost"
    made = Table(
        title=f"{settings.world.pages:,} pages, {settings.world.days:g} days, seed {settings.world.seed}: "
        f"{run.runs} runs of {run.ticks} ticks{killed}\n"
        f"{outcome.requests:,} requests, at most {outcome.most_in_a_day} within 24 hours of "
        f"{settings.requests_per_day} allowed; {outcome.found:,} changed texts found\n"
        f"longest wait of a page {outcome.longest_wait_days:.1f} days of {settings.longest_wait_days:.1f} allowed",
        title_justify="left",
        caption="uniform: computed exactly, on the same changes, with as many requests, each at its exact moment",
        caption_justify="left",
    )
    made.add_column("copies")
    for heading in ("freshness", "staleness", "age, days"):
        made.add_column(heading, justify="right")
    for name, found in (("isobath", outcome.ours), ("uniform", outcome.uniform)):
        made.add_row(name, f"{found.freshness:.4f}", f"{found.staleness:.4f}", f"{found.age_days:.3f}")
    ratios = (outcome.ours.staleness / outcome.uniform.staleness, outcome.ours.age_days / outcome.uniform.age_days)
    made.add_section()
    made.add_row("ours / uniform", "", *(f"x{ratio:.2f}" for ratio in ratios))
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

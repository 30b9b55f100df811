"""Refresh cost: ``python -m bench.refresh_cost [--pages 3000 30000] [--due 100] [--changed 5] [--at-most-s 60]``.

Crawls made-up sites of different sizes with the real job, without a network, lets a year go by, and refreshes so many
pages of each, of which a few have changed. Prints what a refresh took, stage by stage, and what it wrote beside what
lies there: both should follow what was asked and what changed, not the size of the site. Ends with 1 when a refresh
took longer than it may, or did not find exactly what had changed.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import dagster as dg
from rich.console import Console
from rich.table import Table

from assets import names
from bench.recrawl_run.ground import QUIET
from bench.walks import Silent
from pipelines.build import build
from pipelines.deployments import deploy, settings_from
from pipelines.jobs import refresh_site
from resources.ports import FetchRequest, FetchResponse, SiteSettings
from tests.support.clocks import ShiftedClock
from tests.support.rig import DictCatalog

SITE: Final = "made-up.example.org"
PAGES_A_SECTION: Final = 100
WORDS: Final = 120  # of a page
LONG_DAYS: Final = 400.0  # beyond the longest interval: all pages are due, and the budget decides how many are asked


class MadeUpSite:
    """A ``Fetcher`` of a site that is made up as it is asked; what is asked first after ``change`` has changed."""

    user_agent = "Isobath/bench (+https://example.org/bench)"
    max_open = 64

    def __init__(self, pages: int) -> None:
        self._sections = pages // PAGES_A_SECTION
        self._versions: dict[str, int] = {}
        self._to_change = 0
        self.asked = 0

    def change(self, count: int) -> None:
        """Let the next pages that are asked have another text."""
        self._to_change, self.asked = count, 0

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Answer with a list of sections, a section or a page."""
        path = request.url.removeprefix(f"http://{SITE}")
        self.asked += path != "/robots.txt"  # which is not in the budget
        if path in ("/robots.txt", "/sitemap.xml"):
            return _answer(request, 404, "")
        if self._to_change:
            self._to_change -= 1
            self._versions[path] = self._versions.get(path, 0) + 1
        version = self._versions.get(path, 0)
        if path == "/":
            return _answer(request, 200, _list(f"Sections, {version}", [f"/s{n}/" for n in range(self._sections)]))
        if path.endswith("/"):
            pages = [f"{path}p{n}" for n in range(PAGES_A_SECTION)]
            return _answer(request, 200, _list(f"{path}, {version}", pages))
        return _answer(request, 200, _page(path, version))

    async def close(self) -> None:
        """Do nothing."""


def _list(title: str, paths: Sequence[str]) -> str:
    links = "".join(f'<li><a href="{path}">The page at {path}</a></li>' for path in paths)
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><ul>{links}</ul></body></html>"


def _page(path: str, version: int) -> str:
    name = path.replace("/", "x")
    words = " ".join(f"{name}w{version if n < WORDS // 2 else 0}n{n}" for n in range(WORDS))
    return (
        f"<html><head><title>{name}</title></head><body><article><h1>{name}</h1><p>{words}.</p></article></body></html>"
    )


def _answer(request: FetchRequest, status: int, body: str) -> FetchResponse:
    head = f"GET {request.url} HTTP/1.1\r\n\r\n".encode()
    headers = (("Content-Type", "text/html"), ("Content-Length", str(len(body))))
    return FetchResponse(
        request, datetime.now(UTC), 1, head, status=status, reason="OK", headers=headers, body=body.encode()
    )


def main(arguments: Sequence[str]) -> int:
    """Measure each size, print, and say by the exit code whether all bounds hold."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.refresh_cost", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--pages", type=int, nargs="+", default=[3_000, 30_000])
    parser.add_argument("--due", type=int, default=100)
    parser.add_argument("--changed", type=int, default=5)
    parser.add_argument("--at-most-s", type=float, default=60.0)
    asked = parser.parse_args(arguments)
    console = Console(soft_wrap=True)
    table = Table("pages", "crawl s", "refresh s", "asked", "fed", "written MiB", "of MiB", title_justify="left")
    violations = []
    for pages in asked.pages:
        with tempfile.TemporaryDirectory(prefix="refresh-") as folder:
            row, steps, found = measure(Path(folder), pages, due=asked.due, changed=asked.changed)
        table.add_row(*row)
        console.print(f"[dim]{pages} pages: " + ", ".join(f"{name} {s:.1f} s" for name, s in steps.items()) + "[/dim]")
        violations += found
        if sum(steps.values()) > asked.at_most_s:
            violations.append(f"{pages} pages: the refresh took {sum(steps.values()):.1f} s of {asked.at_most_s:g}")
    console.print(table)
    for sentence in violations:
        console.print(sentence, style="red", markup=False)
    return 1 if violations else 0


def measure(folder: Path, pages: int, *, due: int, changed: int) -> tuple[list[str], dict[str, float], list[str]]:
    """Crawl a site and refresh a part of it; give a row of the table, seconds by step, and what was wrong."""
    site, clock = MadeUpSite(pages), ShiftedClock()
    settings = SiteSettings(
        SITE, seeds=(f"http://{SITE}/",), min_delay_s=0, max_pages=10 * pages, requests_per_day=due, max_depth=2
    )
    made = deploy(settings_from({"ISOBATH_STORE": str(folder / "store"), "ISOBATH_MAX_DEPTH": "2"}), progress=Silent())
    parts = {**made.resources, "fetcher": site, "clock": clock, "catalog": DictCatalog({SITE: settings})}
    definitions = build(replace(made, resources=parts))
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("sites", [SITE])

        def run(job: str) -> dg.ExecuteInProcessResult:
            found = definitions.resolve_job_def(job)
            return found.execute_in_process(instance=instance, partition_key=SITE, run_config=QUIET)

        began = time.perf_counter()
        run("crawl_site")
        crawl_s = time.perf_counter() - began
        clock.advance(days=LONG_DAYS)
        # The first one finds all that is not as it was before: it pays for what is imported and compiled.
        run(refresh_site.name)
        clock.advance(days=2)
        before = _files(folder)
        site.change(changed)
        result = run(refresh_site.name)
        after = _files(folder)
    steps = {
        event.step_key or "": float(event.event_specific_data.duration_ms) / 1000  # type: ignore[union-attr]
        for event in result.all_events
        if event.is_step_success
    }
    fed = next(
        int(str(event.step_materialization_data.materialization.metadata["upserts"].value))
        for event in result.all_events
        if event.is_step_materialization and event.asset_key == names.INDEX_FEED
    )
    violations = []
    if site.asked != due:
        violations.append(f"{pages} pages: {site.asked} were asked, not {due}")
    if fed != changed:
        violations.append(f"{pages} pages: {fed} were fed, not {changed}")
    written = sum(size for path, size in after.items() if path not in before)
    sizes = [f"{bytes_ / 2**20:.1f}" for bytes_ in (written, sum(before.values()))]
    row = [f"{pages:,}", f"{crawl_s:.0f}", f"{sum(steps.values()):.1f}", str(site.asked), str(fed), *sizes]
    return row, steps, violations


def _files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

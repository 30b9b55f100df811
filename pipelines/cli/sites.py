"""The sites command: what is known of each site."""

import json
from collections import Counter, defaultdict
from typing import Any

import dagster as dg
from rich.console import Console
from rich.table import Table

from assets import names
from assets.crawl.crawl_log import CrawlState, latest_crawls
from assets.partitions import sites
from pipelines.cli.parts import deployment_for
from pipelines.deployments import Deployment


def print_sites(*, store: str | None, as_json: bool) -> int:
    """List the sites: those of the catalog, of the Dagster instance and of the store."""
    deployment = deployment_for(store)
    deployment.objects.check()
    rows = site_rows(deployment)
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps(rows))
        return 0
    if not rows:
        console.print("No sites yet. Begin with: isobath crawl https://docs.example.org/")
        return 0
    table = Table()
    for heading in ("site", "last crawl (UTC)", "state", "live pages", "gone", "why"):
        table.add_column(heading, justify="right" if heading in ("live pages", "gone") else "left")
    for row in rows:
        table.add_row(row["site"], row["last_crawl"], row["state"], str(row["live"]), str(row["gone"]), row["reason"])
    console.print(table)
    return 0


def site_rows(deployment: Deployment) -> list[dict[str, Any]]:
    """Give one row a site, sorted by name."""
    crawls = latest_crawls(deployment.tables)
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    state = deployment.tables.read(names.T_PAGE_STATE, columns=["site", "status"])
    for site, status in zip(state.column("site").to_pylist(), state.column("status").to_pylist(), strict=True):
        pages[site][status] += 1
    with dg.DagsterInstance.get() as instance:
        partitions = instance.get_dynamic_partitions(str(sites.name))
    known = {*deployment.resources["catalog"].listed(), *partitions, *crawls}
    return [_row(site, crawls.get(site), pages[site]) for site in sorted(known)]


def _row(site: str, crawl: CrawlState | None, pages: Counter[str]) -> dict[str, Any]:
    if crawl is None:
        last, state, reason = "", "never crawled", ""
    elif crawl.finished is None:
        last, state, reason = f"{crawl.started_at:%Y-%m-%d %H:%M}", "running or interrupted", ""
    else:
        last = f"{crawl.finished['at']:%Y-%m-%d %H:%M}"
        state, reason = crawl.finished["outcome"], crawl.finished["reason"]
    return {
        "site": site,
        "last_crawl": last,
        "state": state,
        "reason": reason,
        "live": pages["live"],
        "gone": pages["gone"],
    }

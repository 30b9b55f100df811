"""The sites commands: what is known of each site, and which sites have a partition."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assets import names
from assets.crawl.crawl_log import CrawlState, latest_crawls
from assets.partitions import sites
from assets.recrawl.serving import due_counts
from pipelines.cli.crawl import site_and_seeds
from pipelines.cli.instance import open_instance
from pipelines.cli.parts import deployment_for
from pipelines.deployments import Deployment
from resources.errors import BadSettings
from resources.ports import SiteSettings


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


def add_sites(names_or_urls: Sequence[str], *, as_json: bool) -> int:
    """Give sites a partition.

    Raises:
        BadSettings: one is no site; none was added.
    """
    wanted = list(dict.fromkeys(site_and_seeds(one)[0] for one in names_or_urls))
    with open_instance() as instance:
        known = set(instance.get_dynamic_partitions(str(sites.name)))
        instance.add_dynamic_partitions(str(sites.name), wanted)
    _say({site: "was there" if site in known else "added" for site in wanted}, as_json=as_json)
    return 0


def remove_sites(names_or_urls: Sequence[str], *, as_json: bool) -> int:
    """Take partitions away.

    Raises:
        BadSettings: there is no such partition; none was removed.
    """
    with open_instance() as instance:
        known = set(instance.get_dynamic_partitions(str(sites.name)))
        # Keys that were typed into the UI and are no site can be removed as well.
        wanted = list(dict.fromkeys(one if one in known else site_and_seeds(one)[0] for one in names_or_urls))
        strangers = [site for site in wanted if site not in known]
        if strangers:
            raise BadSettings(f"There is no partition {', '.join(strangers)}: isobath sites lists what there is")
        for site in wanted:
            instance.delete_dynamic_partition(str(sites.name), site)
    _say(dict.fromkeys(wanted, "removed; what is stored of it stays"), as_json=as_json)
    return 0


def show_site(name_or_url: str, *, store: str | None, as_json: bool) -> int:
    """Show one site.

    Raises:
        BadSettings: it is no site.
    """
    site = site_and_seeds(name_or_url)[0]
    deployment = deployment_for(store)
    deployment.objects.check()
    facts = _facts(site, deployment)
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps(facts))
        return 0
    table = Table("what", "value", title=escape(site), title_justify="left")
    for name, value in facts.items():
        shown = ", ".join(f"{key}: {one}" for key, one in value.items()) if isinstance(value, dict) else str(value)
        table.add_row(name.replace("_", " "), escape(shown))
    console.print(table)
    return 0


def _facts(site: str, deployment: Deployment) -> dict[str, Any]:
    catalog = deployment.resources["catalog"]
    settings, built_in = catalog.settings(site), SiteSettings(site)
    (row,) = [row for row in site_rows(deployment) if row["site"] == site] or [_row(site, None, Counter())]
    crawls = deployment.tables.read(names.T_CRAWLS, sites=[site], columns=["crawl_id"])
    warcs = [one.size_bytes for one in deployment.objects.list(f"raw/site={site}/") if one.key.endswith(".warc.gz")]
    schedule = deployment.tables.read(names.T_SITE_SCHEDULE, sites=[site])
    with open_instance() as instance:
        has_partition = instance.has_dynamic_partition(str(sites.name), site)
    return {
        **row,
        "has_partition": has_partition,
        "is_listed": site in catalog.listed(),
        "crawls": len(set(crawls["crawl_id"].to_pylist())),
        "warc_files": len(warcs),
        "warc_bytes": sum(warcs),
        "pages_due": sum(one.due for one in due_counts(schedule, deployment.resources["clock"].now())),
        "settings": {
            one.name: getattr(settings, one.name)
            for one in fields(SiteSettings)
            if getattr(settings, one.name) != getattr(built_in, one.name)
        },
    }


def _say(told: dict[str, str], *, as_json: bool) -> None:
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps([{"site": site, "done": done} for site, done in told.items()]))
        return
    for site, done in told.items():
        console.print(f"{escape(site)}: {done}", highlight=False)


def site_rows(deployment: Deployment) -> list[dict[str, Any]]:
    """Give one row a site, sorted by name."""
    crawls = latest_crawls(deployment.tables)
    pages: dict[str, Counter[str]] = defaultdict(Counter)
    state = deployment.tables.read(names.T_PAGE_STATE, columns=["site", "status"])
    for site, status in zip(state.column("site").to_pylist(), state.column("status").to_pylist(), strict=True):
        pages[site][status] += 1
    with open_instance() as instance:
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

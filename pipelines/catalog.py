"""Sensors that follow the site catalog: sites that are listed get a partition and their crawls, by their settings."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

import dagster as dg

from assets.crawl.crawl_log import CrawlState, latest_crawls
from assets.partitions import sites
from assets.url.host import site_key_problem
from pipelines.jobs import crawl_site
from pipelines.recrawl import RUNS_A_TICK, busy_sites
from resources.errors import BadSettings
from resources.ports import Clock, SiteCatalog, SiteLeases, SiteSettings, TableStore

_TAG: Final = "isobath/started_by"


@dg.sensor(
    name="watch_sites_file",
    job=crawl_site,
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description=(
        "Adds a partition for each site that is new in sites.yaml and starts its first crawl. A site that is taken out "
        "of the file loses its partition, and so its runs; what is stored of it stays."
    ),
)
def watch_sites_file(
    context: dg.SensorEvaluationContext, catalog: dg.ResourceParam[SiteCatalog], clock: dg.ResourceParam[Clock]
) -> dg.SensorResult | dg.SkipReason:
    """Bring partitions in line with the catalog."""
    try:
        listed = list(catalog.listed())
    except BadSettings as error:
        return dg.SkipReason(str(error))
    known = set(context.instance.get_dynamic_partitions(str(sites.name)))
    # What a person added by hand is not in the file, and is left alone: only what once was listed is taken away.
    listed_before: list[str] = json.loads(context.cursor) if context.cursor else []
    new = [site for site in listed if site not in known and not site_key_problem(site)]
    gone = [site for site in listed_before if site not in listed and site in known]
    if not new and not gone:
        return dg.SensorResult(cursor=json.dumps(listed))
    today = f"{clock.now():%Y-%m-%d}"
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(run_key=f"first crawl {site} {today}", partition_key=site, tags={_TAG: "sites.yaml"})
            for site in new
        ],
        dynamic_partitions_requests=[
            *([sites.build_add_request(new)] if new else []),
            *([sites.build_delete_request(gone)] if gone else []),
        ],
        cursor=json.dumps(listed),
    )


@dg.sensor(
    name="crawl_again",
    job=crawl_site,
    minimum_interval_seconds=600,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Crawls sites from their seeds again when their crawl_every_days (sites.yaml) have passed.",
)
def crawl_again(
    context: dg.SensorEvaluationContext,
    tables: dg.ResourceParam[TableStore],
    catalog: dg.ResourceParam[SiteCatalog],
    clock: dg.ResourceParam[Clock],
    leases: dg.ResourceParam[SiteLeases],
) -> dg.SensorResult | dg.SkipReason:
    """Ask for a crawl of each site whose last one is too long ago."""
    known = context.instance.get_dynamic_partitions(str(sites.name))
    busy, unclear = busy_sites(context.instance, clock.now(), leases)
    if unclear:
        return dg.SkipReason("a run over many sites is under way, and any of them may be among those that are due")
    try:
        settings = [catalog.settings(site) for site in known if site not in busy]
    except BadSettings as error:
        return dg.SkipReason(str(error))
    wanted = crawls_due(settings, latest_crawls(tables), clock.now())
    if not wanted:
        return dg.SkipReason(f"of {len(known)} sites none is due for a crawl")
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                run_key=f"crawl {site} after {crawl.crawl_id}", partition_key=site, tags={_TAG: "crawl_every_days"}
            )
            for site, crawl in list(wanted.items())[:RUNS_A_TICK]
        ]
    )


def crawls_due(
    settings: Iterable[SiteSettings], latest: Mapping[str, CrawlState], now: datetime
) -> dict[str, CrawlState]:
    """Give the sites whose last crawl began so long ago that the next one is due, the longest first.

    A site that was never crawled is none: its first crawl is started by a person or by ``watch_sites_file``.
    """
    due = {
        one.site: latest[one.site]
        for one in settings
        if one.crawl_every_days is not None
        and one.site in latest
        and now - latest[one.site].started_at >= timedelta(days=one.crawl_every_days)
    }
    return dict(sorted(due.items(), key=lambda pair: (pair[1].started_at, pair[0])))

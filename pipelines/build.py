"""Building the definitions from a deployment."""

import logging
from collections.abc import Iterator
from typing import Final

import dagster as dg

from assets.crawl.asset import crawl_asset, refresh_asset
from assets.crawl.background import BACKGROUND, run_background
from assets.dedup.asset import exact_duplicates, near_duplicates
from assets.extract.asset import pages
from assets.feed.asset import index_feed
from assets.feed.chunks import chunks_asset
from assets.recrawl.asset import page_schedule_asset
from assets.site_map.asset import map_changes, map_report, site_map
from assets.url.scope import seeds_outside_scope
from pipelines.alerts import alert_of_failures
from pipelines.automation import derive_after_crawl, with_automation
from pipelines.catalog import crawl_again, watch_sites_file
from pipelines.deployments import Deployment
from pipelines.forget import forget_site_job
from pipelines.jobs import PLAN_SITES, REFRESH_SITES, crawl_site, map_only, plan_site, refresh_site, reprocess
from pipelines.maintenance import maintain_weekly, maintenance_job
from pipelines.pings import hear_pings
from pipelines.recrawl import plan_daily, recrawl_sensor
from pipelines.refresh_batch import batch_job
from pipelines.typed_keys import replace_typed_keys
from resources.ports import DocumentWorkers, SiteCatalog

WORKERS: Final = "workers"
LOGGER: Final = logging.getLogger("isobath")


def build(deployment: Deployment) -> dg.Definitions:
    """Wire assets, jobs and sensors to the parts of a deployment."""
    warn_of_seeds_outside_scope(deployment.resources["catalog"])
    crawl, refresh = crawl_asset(deployment.settings.max_depth), refresh_asset()
    page_schedule = page_schedule_asset(deployment.settings.requests_per_day)
    feeds = [index_feed, *([chunks_asset(deployment.settings.chunks)] if deployment.settings.chunks else [])]
    maps = [site_map, map_changes, map_report]
    derived = [pages, exact_duplicates, near_duplicates, *feeds, *maps, page_schedule]
    resources = {
        **deployment.resources,
        BACKGROUND: run_background,
        WORKERS: closed_after_run(deployment.resources[WORKERS]),
    }
    refresh_sites = batch_job(
        REFRESH_SITES,
        [refresh, pages, exact_duplicates, near_duplicates, *feeds, page_schedule],
        resources,
        description="As refresh_site, for many sites in one run.",
    )
    plan_sites = batch_job(
        PLAN_SITES, [page_schedule], resources, description="As plan_site, for many sites in one run."
    )
    maintenance = maintenance_job(
        keep_versions_days=deployment.settings.keep_versions_days, keep_runs_days=deployment.settings.keep_runs_days
    )
    return dg.Definitions(
        assets=dg.map_asset_specs(with_automation, [crawl, refresh, *derived]),
        jobs=[
            crawl_site,
            refresh_site,
            refresh_sites,
            plan_site,
            plan_sites,
            reprocess,
            map_only,
            maintenance,
            forget_site_job,
        ],
        schedules=[plan_daily(plan_sites), maintain_weekly(maintenance)],
        sensors=[
            derive_after_crawl,
            recrawl_sensor(refresh_sites),
            hear_pings,
            watch_sites_file,
            crawl_again,
            alert_of_failures(deployment.alerts, deployment.settings.alerts.rules),
            replace_typed_keys,
        ],
        resources=resources,
        # A run is one process that walks many sites; a process a step would only cost start-up time.
        executor=dg.in_process_executor,
    )


def closed_after_run(workers: DocumentWorkers) -> dg.ResourceDefinition:
    """Stop the worker processes when a run ends, in whatever way: a process that has some does not end by itself."""

    @dg.resource
    def of_run(_: dg.InitResourceContext) -> Iterator[DocumentWorkers]:
        try:
            yield workers
        finally:
            workers.close()

    return of_run


def warn_of_seeds_outside_scope(catalog: SiteCatalog) -> list[str]:
    """Say at load which listed seeds and hubs their own site's scope refuses; give the sentences."""
    sentences = [sentence for site in catalog.listed() for sentence in seeds_outside_scope(catalog.settings(site))]
    for sentence in sentences:
        LOGGER.warning("%s", sentence)
    return sentences

"""Building the definitions from a deployment."""

import logging
from typing import Final

import dagster as dg

from assets.crawl.asset import crawl_asset
from assets.dedup.asset import exact_duplicates, near_duplicates
from assets.extract.asset import pages
from assets.feed.asset import index_feed
from assets.site_map.asset import site_map
from assets.url.scope import seeds_outside_scope
from pipelines.automation import derive_after_crawl, with_automation
from pipelines.deployments import Deployment
from pipelines.jobs import crawl_site, reprocess
from resources.ports import SiteCatalog

LOGGER: Final = logging.getLogger("isobath")


def build(deployment: Deployment) -> dg.Definitions:
    """Wire assets, jobs and sensors to the parts of a deployment."""
    warn_of_seeds_outside_scope(deployment.resources["catalog"])
    derived = [pages, exact_duplicates, near_duplicates, index_feed, site_map]
    return dg.Definitions(
        assets=dg.map_asset_specs(with_automation, [crawl_asset(deployment.settings.max_depth), *derived]),
        jobs=[crawl_site, reprocess],
        sensors=[derive_after_crawl],
        resources=dict(deployment.resources),
        # A run is one process that walks many sites; a process a step would only cost start-up time.
        executor=dg.in_process_executor,
    )


def warn_of_seeds_outside_scope(catalog: SiteCatalog) -> list[str]:
    """Say at load which listed seeds and hubs their own site's scope refuses; give the sentences."""
    sentences = [sentence for site in catalog.listed() for sentence in seeds_outside_scope(catalog.settings(site))]
    for sentence in sentences:
        LOGGER.warning("%s", sentence)
    return sentences

"""Building the definitions from a deployment."""

import dagster as dg

from assets.crawl.asset import crawl_asset
from assets.dedup.asset import exact_duplicates, near_duplicates
from assets.extract.asset import pages
from assets.feed.asset import index_feed
from assets.site_map.asset import site_map
from pipelines.automation import derive_after_crawl, with_automation
from pipelines.deployments import Deployment
from pipelines.jobs import crawl_site, reprocess


def build(deployment: Deployment) -> dg.Definitions:
    """Wire assets, jobs and sensors to the parts of a deployment."""
    derived = [pages, exact_duplicates, near_duplicates, index_feed, site_map]
    return dg.Definitions(
        assets=dg.map_asset_specs(with_automation, [crawl_asset(deployment.settings.max_depth), *derived]),
        jobs=[crawl_site, reprocess],
        sensors=[derive_after_crawl],
        resources=dict(deployment.resources),
        # A run is one process that walks many sites; a process a step would only cost start-up time.
        executor=dg.in_process_executor,
    )

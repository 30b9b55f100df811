"""Jobs: what can be started by name."""

from typing import Final

import dagster as dg

from assets import names

CRAWL_SITE: Final = "crawl_site"

crawl_site = dg.define_asset_job(
    CRAWL_SITE,
    selection=dg.AssetSelection.all(),
    executor_def=dg.in_process_executor,
    description="Crawl one site and derive everything from it: seed check to index feed and site map.",
)
reprocess = dg.define_asset_job(
    "reprocess",
    selection=dg.AssetSelection.assets(
        names.PAGES, names.EXACT_DUPLICATES, names.NEAR_DUPLICATES, names.INDEX_FEED, names.SITE_MAP
    ),
    executor_def=dg.in_process_executor,
    description="Derive everything again from what is stored; no request goes out.",
)

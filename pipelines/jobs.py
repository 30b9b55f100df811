"""Jobs: what can be started by name."""

from typing import Final

import dagster as dg

from assets import names

CRAWL_SITE: Final = "crawl_site"
REFRESH_SITES: Final = "refresh_sites"
PLAN_SITES: Final = "plan_sites"

REFRESH: Final = dg.AssetSelection.assets(
    names.REFRESH_REPORT, *(key for layer in names.REFRESH_LAYERS for key in layer.stages)
)

FEED: Final = dg.AssetSelection.groups("feed")  # with chunks, if they are wanted

crawl_site = dg.define_asset_job(
    CRAWL_SITE,
    selection=dg.AssetSelection.all() - REFRESH,
    executor_def=dg.in_process_executor,
    description="Crawl one site and derive everything from it: seed check to index feed and site map.",
)
refresh_site = dg.define_asset_job(
    "refresh_site",
    selection=REFRESH
    | FEED
    | dg.AssetSelection.assets(names.PAGES, names.EXACT_DUPLICATES, names.NEAR_DUPLICATES, names.PAGE_SCHEDULE),
    executor_def=dg.in_process_executor,
    description="Ask a site for the pages that are due, and derive what changed: texts, duplicates, feed, schedule.",
)
plan_site = dg.define_asset_job(
    "plan_site",
    selection=dg.AssetSelection.assets(names.PAGE_SCHEDULE),
    executor_def=dg.in_process_executor,
    description="Make the schedule of a site anew from what is stored; no request goes out.",
)
reprocess = dg.define_asset_job(
    "reprocess",
    selection=dg.AssetSelection.assets(
        names.PAGES,
        names.EXACT_DUPLICATES,
        names.NEAR_DUPLICATES,
        names.SITE_MAP,
        names.MAP_CHANGES,
        names.MAP_REPORT,
        names.PAGE_SCHEDULE,
    )
    | FEED,
    executor_def=dg.in_process_executor,
    description="Derive everything again from what is stored; no request goes out.",
)
map_only = dg.define_asset_job(
    "map_only",
    selection=dg.AssetSelection.groups("map"),
    executor_def=dg.in_process_executor,
    description="Draw the map of a site again from what is stored: structure, findings, exports; no request goes out.",
)

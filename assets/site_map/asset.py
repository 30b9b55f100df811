"""The site map as a Dagster asset."""

from collections.abc import Iterator

import dagster as dg

from assets import names
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.site_map.site_map import site_map_of_site
from resources.ports import ObjectStore, QueryEngine, TableStore


@derived_asset(
    key=names.SITE_MAP,
    deps=[names.CRAWL_REPORT],
    group="map",
    description=(
        "The structure of a site as its last crawl saw it. A row of the table `site_map` is one page with depth, "
        "parent, section and links; a row of `findings` is a dead link, redirect chain, orphan, or the like. "
        "Exported as CSV and as a tree for mind maps. Read by recrawl/page_schedule."
    ),
    kinds={"python", "duckdb", "deltalake"},
    code_version="1",
    tables=(names.T_SITE_MAP, names.T_FINDINGS),
)
def site_map(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    engine: dg.ResourceParam[QueryEngine],
) -> Iterator[SiteEvent]:
    """Map each site."""

    def work(site: str) -> SiteResult:
        result = site_map_of_site(site, tables, objects, engine)
        summary = dg.MetadataValue.md(str(result.metadata["summary"]))
        return SiteResult(metadata={**result.metadata, "summary": summary}, data_version=result.digest)

    yield from per_site(context, names.SITE_MAP, work)

"""The site map as a Dagster asset."""

from collections.abc import Iterator

import dagster as dg

from assets import names
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.site_map.site_map import site_map_of_site
from resources.ports import ObjectStore, QueryEngine, SiteCatalog, TableStore
from resources.ports.catalog import MapLimits


@derived_asset(
    key=names.SITE_MAP,
    deps=[names.CRAWL_REPORT, names.PAGES, names.EXACT_DUPLICATES, names.NEAR_DUPLICATES],
    group="map",
    description=(
        "The structure of a site as its last crawl saw it. A row of the table `site_map` is one page with depth, "
        "parent, section, links and ranks; a row of `findings` is a dead link, redirect chain, orphan, or the like. "
        "Beside them `map_resources`, `map_redirects`, `map_sections`, and a row a crawl in `map_history`. "
        "Exported as CSV and as a tree for mind maps."
    ),
    kinds={"python", "duckdb", "deltalake"},
    code_version="2",
)
def site_map(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    engine: dg.ResourceParam[QueryEngine],
    catalog: dg.ResourceParam[SiteCatalog],
) -> Iterator[SiteEvent]:
    """Map each site."""

    def work(site: str) -> SiteResult:
        limits = MapLimits(**dict(catalog.settings(site).map_limits))
        result = site_map_of_site(site, tables, objects, engine, limits)
        summary = dg.MetadataValue.md(str(result.metadata["summary"]))
        return SiteResult(metadata={**result.metadata, "summary": summary}, data_version=result.digest)

    yield from per_site(context, names.SITE_MAP, work)

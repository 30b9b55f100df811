"""The site map as Dagster assets: the map itself, and what changed since the crawl before."""

from collections.abc import Iterator

import dagster as dg

from assets import names
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.site_map.checks import CHANGE_CHECKS, MAP_CHECKS, change_checks, map_checks
from assets.site_map.metadata import report_metadata
from assets.site_map.report import report_of_site
from assets.site_map.site_changes import changes_of_site
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
        "Exported as CSV and as a tree for mind maps. Read by map/changes, map/report and recrawl/page_schedule."
    ),
    kinds={"python", "duckdb", "deltalake"},
    code_version="2",
    tables=(
        names.T_SITE_MAP,
        names.T_FINDINGS,
        names.T_MAP_RESOURCES,
        names.T_MAP_REDIRECTS,
        names.T_MAP_SECTIONS,
        names.T_MAP_HISTORY,
    ),
    checks=MAP_CHECKS,
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
        limits = limits_of(catalog, site)
        result = site_map_of_site(site, tables, objects, engine, limits)
        summary = dg.MetadataValue.md(str(result.metadata["summary"]))
        metadata = {**result.metadata, "summary": summary}
        checks = map_checks(result.history, limits)
        return SiteResult(metadata, result.digest, checks, catalog.settings(site).check_severity)

    yield from per_site(context, names.SITE_MAP, work)


@derived_asset(
    key=names.MAP_CHANGES,
    deps=[names.SITE_MAP],
    group="map",
    description=(
        "What differs between the last two crawls of a site. A row of the table `map_changes` is a page that was "
        "added, removed, moved, changed (with a diff of its text), has another status or title, or a newly dead link. "
        "Read by map/report."
    ),
    kinds={"python", "duckdb", "deltalake"},
    code_version="1",
    tables=(names.T_MAP_CHANGES,),
    checks=CHANGE_CHECKS,
)
def map_changes(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    engine: dg.ResourceParam[QueryEngine],
    catalog: dg.ResourceParam[SiteCatalog],
) -> Iterator[SiteEvent]:
    """Compare the last two crawls of each site."""

    def work(site: str) -> SiteResult:
        result = changes_of_site(site, tables, objects, engine)
        checks = change_checks(result.counts, result.before, result.after, limits_of(catalog, site))
        metadata = {
            "crawl_id": result.crawl_id,
            "before_crawl_id": result.before_crawl_id or "there is none",
            **result.counts,
            "changes": dg.MetadataValue.path(result.location),
        }
        return SiteResult(metadata, result.digest, checks, catalog.settings(site).check_severity)

    yield from per_site(context, names.MAP_CHANGES, work)


@derived_asset(
    key=names.MAP_REPORT,
    deps=[names.SITE_MAP, names.MAP_CHANGES],
    group="map",
    description=(
        "A page to look at for each crawl: summary, charts, findings, changes, a tree of the site, politeness in "
        "numbers. One HTML file that needs no network, with CSV files beside it. Read by people."
    ),
    kinds={"python", "html"},
    code_version="1",
)
def map_report(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    engine: dg.ResourceParam[QueryEngine],
    reports_url: dg.ResourceParam[str],
) -> Iterator[SiteEvent]:
    """Write the report of each site."""

    def work(site: str) -> SiteResult:
        report = report_of_site(site, tables, objects, engine)
        return SiteResult(report_metadata(report, reports_url), report.digest)

    yield from per_site(context, names.MAP_REPORT, work)


def limits_of(catalog: SiteCatalog, site: str) -> MapLimits:
    """Give what counts as too much at a site."""
    return MapLimits(**dict(catalog.settings(site).map_limits))

"""The asset of the schedule."""

from collections.abc import Iterator

import dagster as dg

from assets import names
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.partitions import sites
from assets.recrawl.checks import DESCRIPTIONS, starved_check, target_check
from assets.recrawl.ping_intake import take_in_pings
from assets.recrawl.report import metadata_of
from assets.recrawl.schedule import schedule_of_site
from resources.ports import Clock, ObjectStore, SiteCatalog, TableStore


class ScheduleConfig(dg.Config):
    """What can be asked of one materialization."""

    full_refresh: bool = False  # fold all history again, also the crawls that are folded


def page_schedule_asset(requests_per_day: float | None) -> dg.AssetsDefinition:
    """Make the asset.

    Args:
        requests_per_day: the global budget; None: each site has only its own.
    """

    @derived_asset(
        key=names.PAGE_SCHEDULE,
        deps=[names.PAGES, names.SITE_MAP],
        group="recrawl",
        description="When each page is worth a visit: by how often visits found it changed, what it is worth, and what "
        "the budget allows. A row of `page_schedule` is one page, of `site_schedule` one site, of `pings` one word "
        "that a page changed. Read by refresh_0/frontier and the recrawl sensor.",
        kinds={"python", "deltalake"},
        code_version="1",
        tables=(names.T_PAGE_SCHEDULE, names.T_SITE_SCHEDULE, names.T_PINGS),
        checks=DESCRIPTIONS,
    )
    def page_schedule(
        context: dg.AssetExecutionContext,
        config: ScheduleConfig,
        tables: dg.ResourceParam[TableStore],
        objects: dg.ResourceParam[ObjectStore],
        catalog: dg.ResourceParam[SiteCatalog],
        clock: dg.ResourceParam[Clock],
    ) -> Iterator[SiteEvent]:
        """Bring the schedule of each site up to date."""
        take_in_pings(tables, objects, catalog, clock.now())
        sharing = frozenset(context.instance.get_dynamic_partitions(str(sites.name)))

        def work(site: str) -> SiteResult:
            now, settings = clock.now(), catalog.settings(site)
            result = schedule_of_site(
                settings,
                tables,
                now=now,
                requests_per_day=requests_per_day,
                sharing=sharing,
                full_refresh=config.full_refresh,
            )
            checks = (
                target_check(result.site, result.target, result.over_per_day),
                starved_check(result.pages, result.site["hub_stretch"], now),
            )
            metadata = {**metadata_of(result, now), "table": tables.location(names.T_PAGE_SCHEDULE)}
            return SiteResult(metadata, result.digest, checks, settings.check_severity)

        yield from per_site(context, names.PAGE_SCHEDULE, work)

    return page_schedule

"""The crawl and the refresh, each one Dagster multi_asset: the walk does the work, this shell tells Dagster."""

import hashlib
from collections.abc import Iterator

import dagster as dg

from assets.crawl.background import Background
from assets.crawl.config import CrawlConfig, RefreshConfig
from assets.crawl.crawl_log import CrawlKind
from assets.crawl.observation import observation_of
from assets.crawl.ports import CrawlPorts
from assets.crawl.specs import crawl_check_specs, crawl_specs, refresh_check_specs, refresh_specs
from assets.crawl.walk import SiteFailed, StageDone, WalkPlan, walk_sites
from assets.derived import SiteContext, SiteEvent, SiteResult, end_of_range, failure_of_sites, site_events
from assets.partitions import CRAWL_POLICY
from resources.errors import TransientError
from resources.ports import (
    Clock,
    DocumentWorkers,
    Fetcher,
    ObjectStore,
    Progress,
    QueryEngine,
    RunNote,
    SiteCatalog,
    SiteLeases,
    TableStore,
)
from resources.ports.catalog import MAX_DEPTH_LIMIT


def crawl_asset(depth_limit: int) -> dg.AssetsDefinition:
    """Make the multi_asset that walks sites down to ``depth_limit`` layers."""

    @dg.multi_asset(
        name="crawl",
        specs=crawl_specs(depth_limit),
        check_specs=crawl_check_specs(depth_limit),
        can_subset=True,
        backfill_policy=CRAWL_POLICY,
    )
    def crawl(
        context: dg.AssetExecutionContext,
        config: CrawlConfig,
        tables: dg.ResourceParam[TableStore],
        objects: dg.ResourceParam[ObjectStore],
        engine: dg.ResourceParam[QueryEngine],
        fetcher: dg.ResourceParam[Fetcher],
        workers: dg.ResourceParam[DocumentWorkers],
        clock: dg.ResourceParam[Clock],
        catalog: dg.ResourceParam[SiteCatalog],
        leases: dg.ResourceParam[SiteLeases],
        progress: dg.ResourceParam[Progress],
        background: dg.ResourceParam[Background],
    ) -> Iterator[SiteEvent | dg.AssetObservation]:
        """Walk all sites of the run at once; log each stage of each site when it is done."""
        ports = CrawlPorts(tables, objects, engine, fetcher, workers, clock, catalog, leases, progress)
        yield from _walked(context, _plan(context, config, depth_limit, CrawlKind.CRAWL), ports, background)

    return crawl


def refresh_asset() -> dg.AssetsDefinition:
    """Make the multi_asset that asks sites for the pages that are due."""

    @dg.multi_asset(
        name="refresh",
        specs=refresh_specs(),
        check_specs=refresh_check_specs(),
        can_subset=True,
        backfill_policy=CRAWL_POLICY,
    )
    def refresh(
        context: dg.AssetExecutionContext,
        config: RefreshConfig,
        tables: dg.ResourceParam[TableStore],
        objects: dg.ResourceParam[ObjectStore],
        engine: dg.ResourceParam[QueryEngine],
        fetcher: dg.ResourceParam[Fetcher],
        workers: dg.ResourceParam[DocumentWorkers],
        clock: dg.ResourceParam[Clock],
        catalog: dg.ResourceParam[SiteCatalog],
        leases: dg.ResourceParam[SiteLeases],
        progress: dg.ResourceParam[Progress],
        background: dg.ResourceParam[Background],
    ) -> Iterator[SiteEvent | dg.AssetObservation]:
        """Ask all sites of the run for what is due; log each stage of each site when it is done."""
        ports = CrawlPorts(tables, objects, engine, fetcher, workers, clock, catalog, leases, progress)
        plan = _plan(context, config.as_crawl_config(), MAX_DEPTH_LIMIT, CrawlKind.REFRESH)
        yield from _walked(context, plan, ports, background)

    return refresh


def _plan(context: SiteContext, config: CrawlConfig, depth_limit: int, kind: CrawlKind) -> WalkPlan:
    return WalkPlan(
        sites=list(context.partition_keys),
        selected=context.selected_asset_keys,
        config=config,
        depth_limit=depth_limit,
        run_id=context.run.run_id,
        kind=kind,
    )


def _walked(
    context: SiteContext, plan: WalkPlan, ports: CrawlPorts, background: Background
) -> Iterator[SiteEvent | dg.AssetObservation]:
    """Tell Dagster what the walk does.

    Raises:
        Failure: sites failed in a way that is not data; the others are materialized.
    """
    ports.objects.check()
    failed: dict[str, SiteFailed] = {}
    for event in background.run(lambda: walk_sites(plan, ports)):
        if isinstance(event, SiteFailed):
            context.log.error("%s failed: %s\n%s", event.site, event.reason, event.trace)
            failed[event.site] = event
        elif isinstance(event, RunNote):
            observed = observation_of(event, partition=plan.sites[0] if len(plan.sites) == 1 else None)
            if observed is not None:
                yield observed
        else:
            if "leftovers_swept" in event.result.metadata:
                context.log.info(
                    "%s: removed %s unfinished files of killed runs, %s bytes",
                    event.site,
                    event.result.metadata["leftovers_swept"],
                    event.result.metadata["leftovers_swept_bytes"],
                )
            yield from site_events(context, event.key, event.site, site_result(event, ports.catalog))
    if failed:
        may_retry = context.has_partition_key and all(isinstance(f.error, TransientError) for f in failed.values())
        failure = failure_of_sites({site: f.reason for site, f in failed.items()}, len(plan.sites))
        failure.allow_retries = may_retry
        raise failure
    yield from end_of_range(context)


def site_result(event: StageDone, catalog: SiteCatalog) -> SiteResult:
    """Turn what a stage did into what Dagster is told."""
    result = event.result
    version = f"{event.crawl_id} {event.key.to_user_string()} {result.outcome} {result.rows_in} {result.rows_out}"
    return SiteResult(
        metadata={
            "crawl_id": event.crawl_id,
            "outcome": result.outcome,
            **({"reason": result.reason} if result.reason else {}),
            "rows_in": result.rows_in,
            "rows_out": result.rows_out,
            **result.metadata,
        },
        data_version=hashlib.sha256(version.encode()).hexdigest()[:16],
        checks=result.checks,
        severities=catalog.settings(event.site).check_severity,
    )

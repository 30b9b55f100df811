"""The walk over many sites: one task a site, one scheduler for all, events in the order in which they happen.

A site that goes wrong in a way that nobody expects ends its own task; the others go on.
"""

import asyncio
import tempfile
import traceback
from collections.abc import AsyncIterator, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import dagster as dg

from assets import names
from assets.crawl import crawl_log
from assets.crawl.blocking import in_thread
from assets.crawl.config import CrawlConfig, with_config
from assets.crawl.crawl_log import CrawlKind, CrawlState
from assets.crawl.frontier_stage import start_engine
from assets.crawl.layer_files import take_up_files
from assets.crawl.link_readers import LinkReaders
from assets.crawl.links_stage import start_workers
from assets.crawl.ports import CrawlPorts
from assets.crawl.scheduler import FetchScheduler
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.crawl.site_stages import Stage, crawl_stages, refresh_stages
from assets.crawl.sweep import Sweeper, scratch_folder, swept_metadata
from assets.crawl.watch import Watch
from assets.seeds.check import SeedGroup, seed_groups
from assets.url.host import site_key_problem
from assets.url.key import KeyRules
from assets.url.scope import Scope
from resources.errors import BadSettings, IsobathError, StageMissing
from resources.ports import RunNote, TableStore

BLOCKING_THREADS: Final = 64  # for what blocks: tables, objects, leases; of all sites of a run


@dataclass(frozen=True, slots=True)
class StageDone:
    """A stage of a site is done."""

    site: str
    key: dg.AssetKey
    crawl_id: str
    result: StageResult


@dataclass(frozen=True, slots=True)
class SiteFailed:
    """A site's walk ended in a way that is not data."""

    site: str
    reason: str  # one sentence
    error: BaseException
    trace: str


WalkEvent = StageDone | SiteFailed | RunNote


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the sites of a run share."""

    plan: "WalkPlan"
    ports: CrawlPorts
    scheduler: FetchScheduler
    readers: LinkReaders
    watch: Watch
    scratch: Path
    sweeper: Sweeper
    events: "asyncio.Queue[WalkEvent | None]"


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """What a run is asked to do."""

    sites: Sequence[str]
    selected: Collection[dg.AssetKey]
    config: CrawlConfig
    depth_limit: int  # of the asset graph
    run_id: str
    kind: CrawlKind = CrawlKind.CRAWL


async def walk_sites(plan: WalkPlan, ports: CrawlPorts) -> AsyncIterator[WalkEvent]:
    """Walk all sites at once; give what is done at the moment it is done.

    When it is cancelled, each site publishes and commits what it has fetched and gives its lease back.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(BLOCKING_THREADS, thread_name_prefix="walk"))
    # Worker processes and the query engine take a second to start: let them, while the first pages are fetched.
    warming = asyncio.gather(
        asyncio.to_thread(start_workers, ports.workers), asyncio.to_thread(start_engine, ports.engine)
    )
    readers = LinkReaders(ports.workers)
    temporary = Path(tempfile.gettempdir())
    with scratch_folder(temporary) as scratch:
        async with FetchScheduler(ports.fetcher, ports.clock) as scheduler:
            events: asyncio.Queue[WalkEvent | None] = asyncio.Queue()
            watch = Watch(
                scheduler.plan,
                ports.clock,
                ports.progress,
                run_id=plan.run_id,
                sites=plan.sites,
                backlog=scheduler.backlog,
                tell=events.put_nowait,
            )
            watching = asyncio.create_task(watch.keep_looking())
            shared = _Shared(plan, ports, scheduler, readers, watch, scratch, Sweeper(ports.objects, temporary), events)

            async def walk(site: str) -> None:
                try:
                    await _walk_site(site, shared)
                except Exception as error:  # noqa: BLE001 - one site's bug must not take the others with it
                    sentence = str(error) if isinstance(error, IsobathError) else f"{type(error).__name__}: {error}"
                    await events.put(SiteFailed(site, sentence, error, traceback.format_exc()))
                finally:
                    watch.leave(site)
                    await events.put(None)

            tasks = [asyncio.create_task(walk(site)) for site in plan.sites]
            ended = 0
            try:
                while ended < len(tasks):
                    event = await events.get()
                    if event is None:
                        ended += 1
                    else:
                        yield event
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, warming, return_exceptions=True)
                readers.close()
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)


async def _walk_site(site: str, shared: _Shared) -> None:
    problem = site_key_problem(site)
    if problem:
        raise BadSettings(problem)
    lease = shared.ports.leases.hold(site, shared.plan.run_id)
    taking = asyncio.ensure_future(asyncio.to_thread(lease.__enter__))
    try:
        await asyncio.shield(taking)
        # Told once, with the first stage.
        swept = swept_metadata(await in_thread(shared.sweeper.sweep_leftovers, site))
        crawl, groups = await in_thread(_begin, site, shared)
        async for key, result in _stages(crawl, groups, shared.plan):
            result, swept = replace(result, metadata={**result.metadata, **swept}), {}
            await shared.events.put(StageDone(site, key, crawl.crawl_id, result))
    finally:
        await asyncio.wait([taking])
        if taking.exception() is None:
            await asyncio.shield(asyncio.to_thread(lease.__exit__, None, None, None))


def _stages(crawl: SiteCrawl, groups: Sequence[SeedGroup], plan: WalkPlan) -> AsyncIterator[Stage]:
    if plan.kind is CrawlKind.REFRESH:
        return refresh_stages(crawl, plan.selected)
    return crawl_stages(crawl, groups, plan.selected, depth_limit=plan.depth_limit)


def _begin(site: str, shared: _Shared) -> tuple[SiteCrawl, list[SeedGroup]]:
    """Find the crawl to carry on, or start one."""
    plan, ports = shared.plan, shared.ports
    settings = with_config(ports.catalog.settings(site), plan.config, depth_limit=plan.depth_limit)
    now = ports.clock.now()
    latest = crawl_log.latest_crawl(ports.tables, site, plan.kind)
    state = _to_carry_on(site, latest, plan, now)
    crawl_id = state.crawl_id if state is not None else crawl_log.new_crawl_id(now)
    if state is None and latest is not None and not latest.is_finished:
        take_up_files(ports, site, latest.crawl_id)  # it is not carried on, so nobody else will
    if state is None:
        crawl_log.mark(
            ports.tables,
            site=site,
            crawl_id=crawl_id,
            stages=[plan.kind],
            at=now,
            run_id=plan.run_id,
            max_depth=settings.max_depth,
        )
    groups = seed_groups(site, settings.seeds, remembered_seeds(ports.tables, site))
    crawl = SiteCrawl(
        site=site,
        crawl_id=crawl_id,
        run_id=plan.run_id,
        settings=settings,
        scope=Scope.of(settings, [url for group in groups for url in group.urls]),
        key_rules=KeyRules.of(settings),
        ports=ports,
        kind=plan.kind,
        scheduler=shared.scheduler,
        watch=shared.watch,
        scratch=shared.scratch,
        readers=shared.readers,
    )
    return crawl, groups


def _to_carry_on(site: str, latest: CrawlState | None, plan: WalkPlan, now: datetime) -> CrawlState | None:
    """Give the crawl that a run goes on with; None when it begins one.

    Raises:
        StageMissing: the run begins in the middle, and there is no crawl.
    """
    is_refresh = plan.kind is CrawlKind.REFRESH
    first = {names.refresh(0).frontier} if is_refresh else {names.SEED_CHECK, names.depth(0).frontier}
    if not first & set(plan.selected):
        if latest is None:
            shown = " or ".join(sorted(key.to_user_string() for key in first))
            raise StageMissing(f"{site} has nothing to go on with: materialize {shown} first")
        return latest
    if is_refresh:
        return crawl_log.refresh_to_carry_on(latest, now=now)
    return crawl_log.crawl_to_carry_on(latest, now=now, new_crawl=plan.config.new_crawl)


def remembered_seeds(tables: TableStore, site: str) -> list[str]:
    """Give the usable seeds of a site's last seed check that found any."""
    rows = tables.read(names.T_SEEDS, sites=[site], columns=["crawl_id", "seed_url", "usable"]).to_pylist()
    newest = max((row["crawl_id"] for row in rows if row["usable"]), default="")
    return [row["seed_url"] for row in rows if row["usable"] and row["crawl_id"] == newest]

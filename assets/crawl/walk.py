"""The walk over many sites: one task a site, one scheduler for all, events in the order in which they happen.

A site that goes wrong in a way that nobody expects ends its own task; the others go on.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import dagster as dg

from assets import names
from assets.crawl import crawl_log
from assets.crawl.blocking import in_thread
from assets.crawl.config import CrawlConfig, with_config
from assets.crawl.crawl_log import CrawlState
from assets.crawl.frontier_stage import frontier, start_engine
from assets.crawl.layer_files import take_up_files
from assets.crawl.link_readers import LinkReaders
from assets.crawl.links_stage import links, start_workers
from assets.crawl.ports import CrawlPorts
from assets.crawl.raw_stage import raw_batches
from assets.crawl.report_stage import crawl_report
from assets.crawl.scheduler import FetchScheduler
from assets.crawl.seed_stage import seed_check
from assets.crawl.site_crawl import SiteCrawl, StageResult
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
    with scratch_folder() as scratch:
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
            shared = _Shared(plan, ports, scheduler, readers, watch, scratch, Sweeper(ports.objects), events)

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


def _begin(site: str, shared: _Shared) -> tuple[SiteCrawl, list[SeedGroup]]:
    """Find the crawl to carry on, or start one."""
    plan, ports = shared.plan, shared.ports
    settings = with_config(ports.catalog.settings(site), plan.config, depth_limit=plan.depth_limit)
    now = ports.clock.now()
    latest = crawl_log.latest_crawl(ports.tables, site)
    from_start = bool({names.SEED_CHECK, names.depth(0).frontier} & set(plan.selected))
    state: CrawlState | None = latest
    if from_start:
        state = crawl_log.crawl_to_carry_on(latest, now=now, new_crawl=plan.config.new_crawl)
    elif latest is None:
        raise StageMissing(f"{site} has no crawl yet: materialize seeds/seed_check and depth_0/frontier first")
    crawl_id = state.crawl_id if state is not None else crawl_log.new_crawl_id(now)
    if state is None and latest is not None and not latest.is_finished:
        take_up_files(ports, site, latest.crawl_id)  # it is not carried on, so nobody else will
    if state is None:
        crawl_log.mark(
            ports.tables,
            site=site,
            crawl_id=crawl_id,
            stages=[crawl_log.STARTED],
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
        scheduler=shared.scheduler,
        watch=shared.watch,
        scratch=shared.scratch,
        readers=shared.readers,
    )
    return crawl, groups


def remembered_seeds(tables: TableStore, site: str) -> list[str]:
    """Give the usable seeds of a site's last seed check that found any."""
    rows = tables.read(names.T_SEEDS, sites=[site], columns=["crawl_id", "seed_url", "usable"]).to_pylist()
    newest = max((row["crawl_id"] for row in rows if row["usable"]), default="")
    return [row["seed_url"] for row in rows if row["usable"] and row["crawl_id"] == newest]


async def _stages(
    crawl: SiteCrawl, groups: list[SeedGroup], plan: WalkPlan
) -> AsyncIterator[tuple[dg.AssetKey, StageResult]]:
    """Go through the selected stages in order."""
    selected = set(plan.selected)
    stopped: StageResult | None = None
    if names.SEED_CHECK in selected:
        crawl.watch.enter(crawl.site, names.SEED_CHECK)
        result = await seed_check(crawl, groups)
        yield names.SEED_CHECK, result
        stopped = result if result.outcome != "ok" else None
    else:
        stopped = await in_thread(_earlier_refusal, crawl)
    for layer in map(names.depth, range(plan.depth_limit + 1)):
        beyond = layer.number > crawl.settings.max_depth
        for key, needs in (
            (layer.frontier, layer.before.links if layer.before else None),
            (layer.raw_batches, layer.frontier),
            (layer.links, layer.raw_batches),
        ):
            if key not in selected:
                continue
            if stopped is not None:
                yield key, StageResult(outcome=stopped.outcome, reason=stopped.reason)
            elif beyond:
                yield key, StageResult(outcome="beyond_max_depth", reason=f"max_depth is {crawl.settings.max_depth}")
            else:
                if needs is not None:
                    await in_thread(_require, crawl, needs, key)
                crawl.watch.enter(crawl.site, key)
                if key == layer.frontier:
                    yield key, await in_thread(frontier, crawl, layer)
                elif key == layer.raw_batches:
                    yield key, await raw_batches(crawl, layer, reads_links=layer.links in selected)
                else:
                    yield key, await in_thread(links, crawl, layer)
    if names.CRAWL_REPORT in selected:
        if stopped is None:
            last = names.depth(min(crawl.settings.max_depth, plan.depth_limit)).links
            await in_thread(_require, crawl, last, names.CRAWL_REPORT)
        crawl.watch.enter(crawl.site, names.CRAWL_REPORT)
        outcome, reason = (stopped.outcome, stopped.reason) if stopped else ("ok", "")
        yield names.CRAWL_REPORT, await in_thread(crawl_report, crawl, outcome=outcome, reason=reason)


def _earlier_refusal(crawl: SiteCrawl) -> StageResult | None:
    """Give the verdict of this crawl's seed check when it stopped the crawl."""
    stage = names.SEED_CHECK.to_user_string()
    marks = [row for row in crawl.rows(names.T_CRAWLS).to_pylist() if row["stage"] == stage]
    if marks and marks[-1]["outcome"] != "ok":
        return StageResult(outcome=marks[-1]["outcome"], reason=marks[-1]["reason"])
    return None


def _require(crawl: SiteCrawl, needed: dg.AssetKey, for_key: dg.AssetKey) -> None:
    if not crawl.is_done(needed):
        raise StageMissing(
            f"{for_key.to_user_string()} of {crawl.site} needs {needed.to_user_string()} of crawl {crawl.crawl_id}: "
            "materialize that first"
        )

"""The stages of one site, in order: of a crawl, and of a refresh. Which crawl that is, ``beginning`` has decided."""

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Final

import dagster as dg

from assets import names
from assets.crawl.blocking import in_thread
from assets.crawl.frontier_stage import frontier
from assets.crawl.links_stage import links
from assets.crawl.raw_stage import raw_batches
from assets.crawl.report_stage import crawl_report, refresh_report
from assets.crawl.seed_stage import seed_check
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.seeds.check import SeedGroup
from resources.errors import StageMissing

NO_SCHEDULE: Final = "no_schedule"

Stage = tuple[dg.AssetKey, StageResult]


async def crawl_stages(
    crawl: SiteCrawl, groups: Sequence[SeedGroup], selected: Collection[dg.AssetKey], *, depth_limit: int
) -> AsyncIterator[Stage]:
    """Go through the selected stages of a crawl."""
    stopped: StageResult | None = None
    if names.SEED_CHECK in selected:
        crawl.watch.enter(crawl.site, names.SEED_CHECK)
        result = await seed_check(crawl, groups)
        yield names.SEED_CHECK, result
        stopped = result if result.outcome != "ok" else None
    else:
        stopped = await in_thread(_earlier_refusal, crawl)
    beyond = StageResult("beyond_max_depth", f"max_depth is {crawl.settings.max_depth}")
    for layer in map(names.depth, range(depth_limit + 1)):
        ended = stopped or (beyond if layer.number > crawl.settings.max_depth else None)
        async for stage in _layer_stages(crawl, layer, selected, ended):
            yield stage
    if names.CRAWL_REPORT in selected:
        if stopped is None:
            last = names.depth(min(crawl.settings.max_depth, depth_limit)).links
            await in_thread(_require, crawl, last, names.CRAWL_REPORT)
        crawl.watch.enter(crawl.site, names.CRAWL_REPORT)
        outcome, reason = (stopped.outcome, stopped.reason) if stopped else ("ok", "")
        yield names.CRAWL_REPORT, await in_thread(crawl_report, crawl, outcome=outcome, reason=reason)


async def refresh_stages(crawl: SiteCrawl, selected: Collection[dg.AssetKey]) -> AsyncIterator[Stage]:
    """Go through the selected stages of a refresh; a site without a schedule has nothing to do."""
    stopped: StageResult | None = None
    if not await in_thread(_has_schedule, crawl):
        stopped = StageResult(NO_SCHEDULE, f"{crawl.site} has no schedule yet: crawl it, and materialize what follows")
    for layer in names.REFRESH_LAYERS:
        async for stage in _layer_stages(crawl, layer, selected, stopped):
            yield stage
    if names.REFRESH_REPORT in selected:
        if stopped is None:
            await in_thread(_require, crawl, names.REFRESH_LAYERS[-1].links, names.REFRESH_REPORT)
        crawl.watch.enter(crawl.site, names.REFRESH_REPORT)
        outcome, reason = (stopped.outcome, stopped.reason) if stopped else ("ok", "")
        yield names.REFRESH_REPORT, await in_thread(refresh_report, crawl, outcome=outcome, reason=reason)


async def _layer_stages(
    crawl: SiteCrawl, layer: names.Layer, selected: Collection[dg.AssetKey], stopped: StageResult | None
) -> AsyncIterator[Stage]:
    """Go through the selected stages of a layer, or say of each why nothing is done."""
    needed = {
        layer.frontier: layer.before.links if layer.before else None,
        layer.raw_batches: layer.frontier,
        layer.links: layer.raw_batches,
    }
    for key in layer.stages:
        if key not in selected:
            continue
        if stopped is not None:
            yield key, StageResult(stopped.outcome, stopped.reason)
            continue
        needs = needed[key]
        if needs is not None:
            await in_thread(_require, crawl, needs, key)
        crawl.watch.enter(crawl.site, key)
        if key == layer.frontier:
            yield key, await in_thread(frontier, crawl, layer)
        elif key == layer.raw_batches:
            yield key, await raw_batches(crawl, layer, reads_links=layer.links in selected)
        else:
            yield key, await in_thread(links, crawl, layer)


def _has_schedule(crawl: SiteCrawl) -> bool:
    rows = crawl.ports.tables.read(names.T_SITE_SCHEDULE, sites=[crawl.site], columns=["site"])
    return bool(rows.num_rows)


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

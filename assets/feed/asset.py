"""The asset of the index feed."""

from collections.abc import Iterator, Sequence

import dagster as dg
from pydantic import Field

from assets import names
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.feed.checks import DESCRIPTIONS, VANISHED, replay_check, sinks_check, vanished_check
from assets.feed.documents import DOCUMENT_VERSION
from assets.feed.index_feed import SINK_LIMIT_S, FeedRules, index_feed_of_site
from resources.ports import IndexSink, ObjectStore, SiteCatalog, TableStore


class FeedConfig(dg.Config):
    """What can be asked of one materialization."""

    let_vanish: bool = Field(
        default=False, description="Feed it though more documents vanish than max_vanished_share allows."
    )
    make_all: bool = Field(default=False, description="Make every document anew, also of pages that are as they were.")
    read_whole_log: bool = Field(default=False, description="Check all batches, not only those since the last time.")
    sink_limit_s: float = Field(default=SINK_LIMIT_S, gt=0, description="Longest that all sinks together may take.")


@derived_asset(
    key=names.INDEX_FEED,
    deps=[names.PAGES, names.EXACT_DUPLICATES, names.NEAR_DUPLICATES],
    group="feed",
    description="Numbered differences of what a search index must hold: upserts and tombstones since the last batch, "
    "as NDJSON in the store and in every index sink. A row of the table `feed_state` is one document that the index "
    "holds: a live page that no other page stands for. Read by the index sinks.",
    kinds={"python", "json"},
    code_version=DOCUMENT_VERSION,
    tables=(names.T_FEED_STATE,),
    checks=DESCRIPTIONS,
    severe=[VANISHED],
)
def index_feed(
    context: dg.AssetExecutionContext,
    config: FeedConfig,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    sinks: dg.ResourceParam[Sequence[IndexSink]],
    catalog: dg.ResourceParam[SiteCatalog],
) -> Iterator[SiteEvent]:
    """Feed what changed on each site."""

    def work(site: str) -> SiteResult:
        settings = catalog.settings(site)
        share = settings.max_vanished_share
        rules = FeedRules(share, config.let_vanish, config.make_all, config.read_whole_log, config.sink_limit_s)
        result = index_feed_of_site(site, tables, objects, sinks, rules)
        checks = (replay_check(result), vanished_check(result, share), sinks_check(result.sink_errors))
        metadata = {**result.metadata, "batches": objects.location(names.feed_prefix(site))}
        return SiteResult(metadata, result.digest, checks, settings.check_severity)

    yield from per_site(context, names.INDEX_FEED, work)

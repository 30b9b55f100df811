"""The asset of the index feed."""

from collections.abc import Iterator, Sequence

import dagster as dg

from assets import names
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.feed.checks import DESCRIPTIONS, replay, replay_check, sinks_check
from assets.feed.difference import fed_of_rows
from assets.feed.index_feed import index_feed_of_site
from assets.feed.log import BatchLog
from resources.ports import IndexSink, ObjectStore, TableStore


@derived_asset(
    key=names.INDEX_FEED,
    deps=[names.PAGES, names.EXACT_DUPLICATES, names.NEAR_DUPLICATES],
    group="feed",
    description="Numbered differences of what a search index must hold: upserts and tombstones since the last batch, "
    "as NDJSON in the store and in every index sink. A row of the table `feed_state` is one document that the index "
    "holds: a live page that no other page stands for. Read by the index sinks.",
    kinds={"python", "json"},
    code_version="1",
    tables=(names.T_FEED_STATE,),
    checks=DESCRIPTIONS,
)
def index_feed(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    sinks: dg.ResourceParam[Sequence[IndexSink]],
) -> Iterator[SiteEvent]:
    """Feed what changed on each site."""

    def work(site: str) -> SiteResult:
        result = index_feed_of_site(site, tables, objects, sinks)
        fed = fed_of_rows(tables.read(names.T_FEED_STATE, sites=[site]))
        remembered = {document_id: document.document_digest for document_id, document in fed.items()}
        checks = (
            replay_check(replay(BatchLog(objects, site).since(0)), remembered, result.wanted),
            sinks_check(result.sink_errors),
        )
        metadata = {**result.metadata, "batches": objects.location(names.feed_prefix(site))}
        return SiteResult(metadata, result.digest, checks)

    yield from per_site(context, names.INDEX_FEED, work)

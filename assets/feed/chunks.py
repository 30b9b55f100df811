"""The asset of the chunks."""

from collections.abc import Iterator

import dagster as dg

from assets import names
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.feed.chunk_feed import chunk_feed_of_site
from assets.feed.chunking import CHUNKER_VERSION, ChunkSize
from resources.ports import ObjectStore, TableStore


def chunks_asset(size: ChunkSize) -> dg.AssetsDefinition:
    """Make the asset for chunks of a size."""

    @derived_asset(
        key=names.CHUNKS,
        deps=[names.INDEX_FEED],
        group="feed",
        description="The documents of the index feed cut into pieces for retrieval, along their headings: numbered "
        "upserts and tombstones with stable ids and offsets, as NDJSON in the store. A row of the table `chunk_state` "
        "is one piece that was fed. Read by whoever keeps a vector index.",
        kinds={"python", "json"},
        code_version=f"{CHUNKER_VERSION}-{size.most}-{size.unit}",
        tables=(names.T_CHUNK_STATE,),
    )
    def chunks(
        context: dg.AssetExecutionContext,
        tables: dg.ResourceParam[TableStore],
        objects: dg.ResourceParam[ObjectStore],
    ) -> Iterator[SiteEvent]:
        """Cut what changed on each site."""

        def work(site: str) -> SiteResult:
            result = chunk_feed_of_site(site, tables, objects, size)
            metadata = {**result.metadata, "batches": objects.location(names.chunks_prefix(site))}
            return SiteResult(metadata, result.digest)

        yield from per_site(context, names.CHUNKS, work)

    return chunks

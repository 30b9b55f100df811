"""The chunk feed of a site: follows the index feed, and writes how the chunks of its documents differ from before."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from assets import names
from assets.feed.chunk_log import ChunkBatch, ChunkHead, ChunkLog
from assets.feed.chunking import CHUNKER_VERSION, Chunk, ChunkSize, chunks_of
from assets.feed.difference import CHANGES_PER_BATCH
from assets.feed.log import BatchLog
from assets.schemas import CHUNK_STATE
from resources.errors import StoreBusy
from resources.ports import IndexDocument, ObjectStore, TableStore


@dataclass(frozen=True, slots=True)
class FedChunk:
    """A chunk that the log says is there."""

    document_id: str
    chunk_digest: str


Fed = Mapping[str, FedChunk]  # by chunk id


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """What a materialization fed."""

    metadata: Mapping[str, Any]
    digest: str  # of the chunks: equal when nothing changed


def chunk_feed_of_site(site: str, tables: TableStore, objects: ObjectStore, size: ChunkSize) -> ChunkResult:
    """Cut the documents that changed since the last time and write the difference.

    Batches go first, the table last: a run that dies between is carried on by replaying what the table does not know.
    The batch that reaches the end of the feed is the last one, so that a run that dies before it begins again.

    Raises:
        StoreBusy: another run fed this site's chunks at the same time.
    """
    log, feed = ChunkLog(objects, site), BatchLog(objects, site)
    stored, known = _state(tables, site)
    if known > log.last():  # the log was emptied; it is the truth
        stored, known = {}, 0
    fed, head = stored, _head(log, known)
    for batch in log.since(known):
        fed, head = after(fed, batch), batch.head
    rules = f"{CHUNKER_VERSION} {size.most} {size.unit}"
    is_new = head is None or head.rules != rules or head.feed_sequence > feed.last()
    reached = 0 if is_new or head is None else head.feed_sequence
    last = feed.last()
    changed = _changed(feed, reached)
    if is_new:
        changed = {**{chunk.document_id: None for chunk in fed.values()}, **changed}
    wanted = [chunk for document in changed.values() if document for chunk in chunks_of(document, size)]
    first = head.sequence if head else 0
    batches = difference(ChunkHead(site, first, last, rules), wanted, fed, changed, reached=reached)
    for batch in batches if is_new or last > reached else []:
        if not log.append(batch):
            raise StoreBusy(f"batch {batch.head.sequence} of the chunks of {site} was written by another run meanwhile")
        fed, head = after(fed, batch), batch.head
    if fed != stored or (head and head.sequence != known):
        tables.replace(names.T_CHUNK_STATE, sites=[site], rows=_rows(site, fed, head.sequence if head else 0))
    digest = hashlib.sha256(repr(sorted((one, fed[one].chunk_digest) for one in fed)).encode()).hexdigest()
    metadata = {
        "documents_cut": len(changed),
        "chunks": len(fed),
        "upserts": sum(len(batch.upserts) for batch in batches),
        "tombstones": sum(len(batch.tombstones) for batch in batches),
        "last_batch": head.sequence if head else 0,
    }
    return ChunkResult(metadata, digest)


def after(fed: Fed, batch: ChunkBatch) -> dict[str, FedChunk]:
    """Give what is there once a batch is applied."""
    put = {chunk.chunk_id: FedChunk(chunk.document_id, chunk_digest(chunk)) for chunk in batch.upserts}
    gone = frozenset(batch.tombstones)
    return {chunk_id: chunk for chunk_id, chunk in (dict(fed) | put).items() if chunk_id not in gone}


def chunk_digest(chunk: Chunk) -> str:
    """Give the SHA-256 of all that a chunk says."""
    return hashlib.sha256(json.dumps(asdict(chunk), sort_keys=True).encode()).hexdigest()


def difference(
    head: ChunkHead, wanted: Iterable[Chunk], fed: Fed, changed: Mapping[str, Any], *, reached: int
) -> list[ChunkBatch]:
    """Give the batches that bring the chunks of changed documents to what they should be.

    Args:
        head: of the last one: its number is that of the batch before the first.
        wanted: the chunks of the changed documents.
        fed: all chunks that are there.
        changed: the documents, by id.
        reached: the batch of the feed that all but the last one say they follow.
    """
    new = {chunk.chunk_id: chunk for chunk in wanted}
    put = [one for one, chunk in sorted(new.items()) if one not in fed or fed[one].chunk_digest != chunk_digest(chunk)]
    gone = sorted(one for one, chunk in fed.items() if chunk.document_id in changed and one not in new)
    batches: list[ChunkBatch] = []
    for start in range(0, max(1, len(put) + len(gone)), CHANGES_PER_BATCH):
        stop = start + CHANGES_PER_BATCH
        is_last = stop >= len(put) + len(gone)
        batches.append(
            ChunkBatch(
                replace(
                    head,
                    sequence=head.sequence + len(batches) + 1,
                    feed_sequence=head.feed_sequence if is_last else reached,
                    rules=head.rules if is_last or reached else "",
                ),
                tuple(new[one] for one in put[start:stop]),
                tuple(gone[max(0, start - len(put)) : max(0, stop - len(put))]),
            )
        )
    return batches


def _changed(feed: BatchLog, reached: int) -> dict[str, IndexDocument | None]:
    """Give the documents that changed after a batch of the feed, as they are now; None for those that are gone."""
    changed: dict[str, IndexDocument | None] = {}
    for batch in feed.since(reached):
        changed |= {document.document_id: document for document in batch.upserts}
        changed |= dict.fromkeys(batch.tombstones)
    return changed


def _head(log: ChunkLog, sequence: int) -> ChunkHead | None:
    return next(log.since(sequence - 1)).head if sequence else None


def _state(tables: TableStore, site: str) -> tuple[dict[str, FedChunk], int]:
    """Give the chunks that the table knows, and the batch up to which it knows them."""
    rows = tables.read(names.T_CHUNK_STATE, sites=[site]).to_pylist()
    fed = {row["chunk_id"]: FedChunk(row["document_id"], row["chunk_digest"]) for row in rows if row["chunk_id"]}
    return fed, max((row["sequence"] for row in rows), default=0)


def _rows(site: str, fed: Fed, sequence: int) -> pa.Table:
    """Give the rows of ``chunk_state``; one without an id remembers the batch of a site that has no chunks."""
    rows = [
        {"site": site, "document_id": chunk.document_id, "chunk_id": one, "chunk_digest": chunk.chunk_digest}
        for one, chunk in sorted(fed.items())
    ] or [{"site": site, "document_id": "", "chunk_id": "", "chunk_digest": ""}]
    return pa.Table.from_pylist([{**row, "sequence": sequence} for row in rows], schema=CHUNK_STATE)

"""What was fed, and how it differs from what is wanted. Nothing here reads or writes."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa

from assets.feed.documents import document_digest
from assets.schemas import FEED_STATE
from resources.ports import FeedBatch, IndexDocument

# A site's first feed would else be one object that nobody can hold in memory.
CHANGES_PER_BATCH: Final = 2_000


@dataclass(frozen=True, slots=True)
class FedDocument:
    """A document that the feed says is in the index."""

    url_key: str
    document_digest: str
    sequence: int  # of the batch that fed it
    source: str = ""  # digest of what it was made of; empty when that is not known


Fed = Mapping[str, FedDocument]  # by document id


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a site's index must hold, by document id. Only documents that may differ from what was fed are there."""

    digests: Mapping[str, str]
    sources: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, IndexDocument] = field(default_factory=dict)


def after(fed: Fed, batch: FeedBatch) -> dict[str, FedDocument]:
    """Give what is fed once a batch is applied. Applying a batch again changes nothing."""
    put = {
        document.document_id: FedDocument(document.url_key, document_digest(document), batch.sequence)
        for document in batch.upserts
    }
    gone = frozenset(batch.tombstones)
    return {document_id: document for document_id, document in (dict(fed) | put).items() if document_id not in gone}


def difference(site: str, wanted: Wanted, fed: Fed, *, last: int) -> list[FeedBatch]:
    """Give the batches that turn what is fed into what is wanted, ordered by document id; none when nothing changed.

    Args:
        site: whose documents.
        wanted: what must be.
        fed: what is.
        last: number of the last batch.
    """
    put = sorted(
        document_id
        for document_id, digest in wanted.digests.items()
        if document_id not in fed or fed[document_id].document_digest != digest
    )
    gone = sorted(fed.keys() - wanted.digests.keys())
    batches: list[FeedBatch] = []
    for start in range(0, len(put) + len(gone), CHANGES_PER_BATCH):
        stop = start + CHANGES_PER_BATCH
        batches.append(
            FeedBatch(
                site=site,
                sequence=last + len(batches) + 1,
                upserts=tuple(wanted.documents[document_id] for document_id in put[start:stop]),
                tombstones=tuple(gone[max(0, start - len(put)) : max(0, stop - len(put))]),
            )
        )
    return batches


def with_sources(fed: Fed, wanted: Wanted) -> dict[str, FedDocument]:
    """Remember what documents were made of: those that are fed as they are wanted."""
    return {
        document_id: replace(document, source=wanted.sources.get(document_id, ""))
        if wanted.digests.get(document_id) == document.document_digest
        else document
        for document_id, document in fed.items()
    }


def set_digest(digests: Mapping[str, str]) -> str:
    """Give the SHA-256 of a set of documents, told as id -> digest: equal for equal sets."""
    lines = (f"{document_id} {digest}\n" for document_id, digest in sorted(digests.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def digests_of(fed: Fed) -> dict[str, str]:
    """Give the digest of each document, by id."""
    return {document_id: document.document_digest for document_id, document in fed.items()}


def fed_of_rows(rows: pa.Table) -> dict[str, FedDocument]:
    """Read rows of ``feed_state``."""
    return {
        row["document_id"]: FedDocument(row["url_key"], row["document_digest"], row["sequence"], row["source"])
        for row in rows.to_pylist()
    }


def rows_of_fed(site: str, fed: Fed) -> pa.Table:
    """Give the rows of ``feed_state`` of a site, ordered by document id."""
    rows: Iterable[dict[str, object]] = (
        {
            "site": site,
            "url_key": document.url_key,
            "document_id": document_id,
            "document_digest": document.document_digest,
            "sequence": document.sequence,
            "source": document.source,
        }
        for document_id, document in sorted(fed.items())
    )
    return pa.Table.from_pylist(list(rows), schema=FEED_STATE)

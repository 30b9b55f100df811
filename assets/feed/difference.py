"""What was fed, and how it differs from what is wanted. Nothing here reads or writes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from assets.feed.documents import document_digest
from assets.schemas import FEED_STATE
from resources.ports import FeedBatch, IndexDocument


@dataclass(frozen=True, slots=True)
class FedDocument:
    """A document that the feed says is in the index."""

    url_key: str
    document_digest: str
    sequence: int  # of the batch that fed it


Fed = Mapping[str, FedDocument]  # by document id


def after(fed: Fed, batch: FeedBatch) -> dict[str, FedDocument]:
    """Give what is fed once a batch is applied. Applying a batch again changes nothing."""
    put = {
        document.document_id: FedDocument(document.url_key, document_digest(document), batch.sequence)
        for document in batch.upserts
    }
    gone = frozenset(batch.tombstones)
    return {document_id: document for document_id, document in (dict(fed) | put).items() if document_id not in gone}


def difference(site: str, wanted: Mapping[str, IndexDocument], fed: Fed, *, sequence: int) -> FeedBatch | None:
    """Give the batch that turns what is fed into what is wanted, ordered by document id; None when nothing changed."""
    upserts = tuple(
        document
        for document_id, document in sorted(wanted.items())
        if document_id not in fed or fed[document_id].document_digest != document_digest(document)
    )
    tombstones = tuple(sorted(fed.keys() - wanted.keys()))
    if not upserts and not tombstones:
        return None
    return FeedBatch(site=site, sequence=sequence, upserts=upserts, tombstones=tombstones)


def fed_of_rows(rows: pa.Table) -> dict[str, FedDocument]:
    """Read rows of ``feed_state``."""
    return {
        row["document_id"]: FedDocument(row["url_key"], row["document_digest"], row["sequence"])
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
        }
        for document_id, document in sorted(fed.items())
    )
    return pa.Table.from_pylist(list(rows), schema=FEED_STATE)

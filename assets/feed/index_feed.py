"""The index feed of a site: brings the log, the table that remembers it, and the sinks up to what is wanted."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.dataset as ds

from assets import names
from assets.feed.difference import Fed, after, difference, fed_of_rows, rows_of_fed
from assets.feed.documents import (
    CAPTURE_COLUMNS,
    PAGE_COLUMNS,
    STATE_COLUMNS,
    captures_of,
    document_digest,
    documents_to_be,
    wanted_documents,
)
from assets.feed.log import BatchLog
from assets.feed.standing import stood_for_of_site
from resources.errors import StoreBusy
from resources.ports import IndexDocument, IndexSink, ObjectStore, TableStore


@dataclass(frozen=True, slots=True)
class FeedResult:
    """What a materialization fed."""

    metadata: Mapping[str, int]
    digest: str  # of the fed set: equal when nothing changed
    wanted: Mapping[str, str]  # document id -> document digest
    sink_errors: Mapping[str, str]  # by name of the sink


def index_feed_of_site(site: str, tables: TableStore, objects: ObjectStore, sinks: Sequence[IndexSink]) -> FeedResult:
    """Feed what changed on a site since its last batch, then bring every sink up to date.

    The batch is written before the table that remembers it; a crash between the two is healed here by replaying the
    batches that the table does not know. A sink that fails does not hold back the others: its error is in the result.

    Raises:
        StoreBusy: another run fed this site at the same time.
    """
    state = tables.read(names.T_PAGE_STATE, sites=[site], columns=STATE_COLUMNS)
    return _fed(site, _wanted(site, tables, state), state.num_rows, tables, objects, sinks)


def withdraw_site(site: str, tables: TableStore, objects: ObjectStore, sinks: Sequence[IndexSink]) -> FeedResult:
    """Take every document of a site out of the index, whatever its pages are; as ``index_feed_of_site`` otherwise.

    Raises:
        StoreBusy: another run fed this site at the same time.
    """
    return _fed(site, {}, 0, tables, objects, sinks)


def _fed(
    site: str,
    wanted: Mapping[str, IndexDocument],
    pages: int,
    tables: TableStore,
    objects: ObjectStore,
    sinks: Sequence[IndexSink],
) -> FeedResult:
    """Feed what turns what was fed into what is wanted."""
    log = BatchLog(objects, site)
    stored = tables.read(names.T_FEED_STATE, sites=[site])
    fed = _healed(fed_of_rows(stored), log)
    last = log.last()
    batch = difference(site, wanted, fed, sequence=last + 1)
    if batch is not None:
        if not log.append(batch):
            raise StoreBusy(f"batch {batch.sequence} of {site} was written by another run meanwhile")
        fed = after(fed, batch)
    if fed != fed_of_rows(stored):
        tables.replace(names.T_FEED_STATE, sites=[site], rows=rows_of_fed(site, fed))
    return FeedResult(
        metadata={
            "pages": pages,
            "documents": len(wanted),
            "upserts": len(batch.upserts) if batch else 0,
            "tombstones": len(batch.tombstones) if batch else 0,
            "last_batch": batch.sequence if batch else last,
        },
        digest=_fed_digest(fed),
        wanted={document_id: document_digest(document) for document_id, document in wanted.items()},
        sink_errors=catch_up(log, sinks),
    )


def catch_up(log: BatchLog, sinks: Sequence[IndexSink]) -> dict[str, str]:
    """Apply to each sink the batches it has not seen; give the errors of those that failed, by name."""
    errors: dict[str, str] = {}
    last = log.last()
    for sink in sinks:
        try:
            cursor = sink.cursor(log.site)
            if cursor > last:
                errors[sink.name] = f"is at batch {cursor} of {log.site}, but the log ends at {last}: empty the sink"
                continue
            # One batch at a time: a sink that was down for long does not need all of them in memory.
            for batch in log.since(cursor):
                sink.apply([batch])
        except Exception as error:  # noqa: BLE001  # a sink may raise anything, and must not hold back the others
            errors[sink.name] = f"{type(error).__name__}: {error}"
    return errors


def _healed(fed: Fed, log: BatchLog) -> Fed:
    """Replay what the table may have missed. Batches it has seen change nothing when they are replayed."""
    known = max((document.sequence for document in fed.values()), default=0)
    if known > log.last():  # the log was emptied; it is the truth, the table only its memory
        fed, known = {}, 0
    for batch in log.since(known):
        fed = after(fed, batch)
    return fed


def _wanted(site: str, tables: TableStore, state: pa.Table) -> dict[str, IndexDocument]:
    """Read all that documents are made of."""
    rows = documents_to_be(state, stood_for_of_site(tables, site, state))
    crawls = sorted({row["page_crawl_id"] for row in rows.values()})
    pages = tables.read(
        names.T_PAGES,
        sites=[site],
        columns=PAGE_COLUMNS,
        where=ds.field("crawl_id").isin(pa.array(crawls, pa.string())),
    )
    fetches = tables.read(
        names.T_FETCHES,
        sites=[site],
        columns=CAPTURE_COLUMNS,
        where=(ds.field("purpose") == "page") & ds.field("body_warc_file").is_valid(),
    )
    return wanted_documents(site, rows, pages, captures_of(fetches))


def _fed_digest(fed: Fed) -> str:
    lines = (f"{document_id} {document.document_digest}\n" for document_id, document in sorted(fed.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()

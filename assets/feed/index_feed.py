"""The index feed of a site: brings the log, the table that remembers it, and the sinks up to what is wanted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assets import names
from assets.feed.catch_up import catch_up
from assets.feed.compaction import compact, is_due
from assets.feed.difference import (
    Fed,
    Wanted,
    after,
    difference,
    digests_of,
    fed_of_rows,
    rows_of_fed,
    set_digest,
    with_sources,
)
from assets.feed.documents import STATE_COLUMNS
from assets.feed.log import BatchLog, Bounds, Head
from assets.feed.wanted import wanted_of_site
from resources.errors import PermanentError, StoreBusy
from resources.ports import FeedBatch, IndexSink, ObjectStore, TableStore

SINK_LIMIT_S: Final = 300.0
# So few documents may vanish from any site at once: half of five pages is no sign of anything.
HELD_FROM_DOCUMENTS: Final = 10


@dataclass(frozen=True, slots=True)
class FeedRules:
    """What a materialization may do."""

    max_vanished_share: float = 0.5  # of what was fed; when more would vanish at once, nothing is fed
    let_vanish: bool = False  # a person has looked: feed it all the same
    make_all: bool = False  # make every document anew, also those whose pages are as they were
    read_whole_log: bool = False  # check all batches, not only those since the last time
    sink_limit_s: float = SINK_LIMIT_S


@dataclass(frozen=True, slots=True)
class FeedResult:
    """What a materialization fed."""

    metadata: Mapping[str, Any]
    digest: str  # of the fed set: equal when nothing changed
    wanted: Mapping[str, str]  # document id -> document digest; when held back, what was fed before
    replayed: Mapping[str, str]  # the same, as the log tells it
    remembered: Mapping[str, str]  # the same, as feed_state tells it
    missing: tuple[int, ...]  # batches that are gone from the log
    held_back: int  # documents that would have vanished, too many to go unseen; 0 when all was fed
    sink_errors: Mapping[str, str]  # by name of the sink


def index_feed_of_site(
    site: str,
    tables: TableStore,
    objects: ObjectStore,
    sinks: Sequence[IndexSink],
    rules: FeedRules = FeedRules(),  # frozen
) -> FeedResult:
    """Feed what changed on a site since its last batch, then bring every sink up to date.

    Batches are written before the table that remembers them; a crash between the two is healed here by replaying what
    the table does not know. A sink that fails or is slow does not hold back the others: its error is in the result.

    Raises:
        StoreBusy: another run fed this site at the same time.
    """
    log = BatchLog(objects, site)
    bounds = log.bounds()
    stored = fed_of_rows(tables.read(names.T_FEED_STATE, sites=[site]))
    before = healed(stored, log, bounds, read_whole_log=rules.read_whole_log)
    state = tables.read(names.T_PAGE_STATE, sites=[site], columns=STATE_COLUMNS)
    wanted = wanted_of_site(site, tables, state, {} if rules.make_all else before)
    vanished = len(before.keys() - wanted.digests.keys())
    is_held = (
        not rules.let_vanish and vanished >= HELD_FROM_DOCUMENTS and vanished > rules.max_vanished_share * len(before)
    )
    batches = [] if is_held else difference(site, wanted, before, last=bounds.last)
    fed = with_sources(append_all(log, before, batches, log.head(bounds)), wanted)
    if fed != stored:
        tables.replace(names.T_FEED_STATE, sites=[site], rows=rows_of_fed(site, fed))
    errors = catch_up(log, sinks, limit_s=rules.sink_limit_s)
    replayed = _read_back(log, before, bounds.last)
    now = log.bounds()
    if not now.missing and is_due(log.head(now), now):
        compact(log)
    return FeedResult(
        metadata={
            "pages": state.num_rows,
            "documents": len(fed),
            "upserts": sum(len(batch.upserts) for batch in batches),
            "tombstones": sum(len(batch.tombstones) for batch in batches),
            "made": len(wanted.documents),
            "held_back": vanished if is_held else 0,
            "last_batch": now.last,
        },
        digest=set_digest(digests_of(fed)),
        wanted=digests_of(before) if is_held else wanted.digests,
        replayed=digests_of(replayed),
        remembered=digests_of(fed_of_rows(tables.read(names.T_FEED_STATE, sites=[site]))),
        missing=now.missing,
        held_back=vanished if is_held else 0,
        sink_errors=errors,
    )


def withdraw_site(site: str, tables: TableStore, objects: ObjectStore, sinks: Sequence[IndexSink]) -> FeedResult:
    """Take all documents of a site out of every index; they come back when the site is fed again.

    Raises:
        StoreBusy: another run fed this site at the same time.
    """
    log = BatchLog(objects, site)
    bounds = log.bounds()
    before = healed(fed_of_rows(tables.read(names.T_FEED_STATE, sites=[site])), log, bounds)
    batches = difference(site, Wanted({}), before, last=bounds.last)
    append_all(log, before, batches, log.head(bounds))
    tables.replace(names.T_FEED_STATE, sites=[site], rows=rows_of_fed(site, {}))
    return FeedResult(
        metadata={"documents": 0, "tombstones": len(before), "last_batch": bounds.last + len(batches)},
        digest=set_digest({}),
        wanted={},
        replayed=digests_of(_read_back(log, before, bounds.last)),
        remembered={},
        missing=bounds.missing,
        held_back=0,
        sink_errors=catch_up(log, sinks, limit_s=SINK_LIMIT_S),
    )


def append_all(log: BatchLog, fed: Fed, batches: Sequence[FeedBatch], head: Head | None) -> Fed:
    """Write batches; give what is fed after them.

    Raises:
        StoreBusy: another run took a number.
    """
    changes = head.changes if head else 0
    for batch in batches:
        fed = after(fed, batch)
        changes += len(batch.upserts) + len(batch.tombstones)
        told = Head(log.site, batch.sequence, False, len(fed), set_digest(digests_of(fed)), changes)
        if not log.append(batch, told):
            raise StoreBusy(f"batch {batch.sequence} of {log.site} was written by another run meanwhile")
    return fed


def healed(stored: Fed, log: BatchLog, bounds: Bounds, *, read_whole_log: bool = False) -> Fed:
    """Give what the log adds up to, reading as little of it as will do. The log is the truth, the table its memory."""
    head = log.head(bounds)
    if not read_whole_log and head is not None and head.set_digest == set_digest(digests_of(stored)):
        return stored
    known = max((document.sequence for document in stored.values()), default=0)
    if head is not None and known <= bounds.last and not read_whole_log:
        fed = _read_back(log, stored, known)
        if set_digest(digests_of(fed)) == head.set_digest:
            return fed
    sources = {document_id: document.source for document_id, document in stored.items()}
    fed = _read_back(log, {}, 0)
    # What a document was made of is known only of the very document.
    same = {one for one in fed if one in stored and fed[one].document_digest == stored[one].document_digest}
    return {one: replace(document, source=sources[one] if one in same else "") for one, document in fed.items()}


def _read_back(log: BatchLog, fed: Fed, sequence: int) -> Fed:
    """Apply what the log holds after a number."""
    try:
        for batch in log.since(sequence):
            fed = after(fed, batch)
    except (ValueError, OSError, EOFError) as error:
        raise PermanentError(f"a batch of the feed log of {log.site} cannot be read: {error}") from error
    return fed

"""Batches as bytes, and the log they lie in."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.feed.compaction import compact
from assets.feed.difference import set_digest
from assets.feed.log import BatchLog, Bounds, Head, decoded, encoded
from resources.errors import ObjectMissing
from resources.ports import FeedBatch, IndexDocument
from tests.support.memory import MemoryObjects

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
WORDS = st.lists(TEXT, max_size=2).map(tuple)
DOCUMENTS = st.builds(IndexDocument, *[TEXT] * 12, st.integers(0, 2**40), headings=WORDS, anchor_texts=WORDS)


def head(batch: FeedBatch) -> Head:
    return Head(batch.site, batch.sequence, batch.is_snapshot, 0, set_digest({}), 0)


def append(log: BatchLog, *batches: FeedBatch) -> list[bool]:
    return [log.append(batch, head(batch)) for batch in batches]


@given(upserts=st.lists(DOCUMENTS, max_size=3), tombstones=st.lists(TEXT, max_size=3))
def test_a_batch_survives_being_written_and_is_always_the_same_bytes(
    upserts: list[IndexDocument], tombstones: list[str]
) -> None:
    batch = FeedBatch("a", 7, tuple(upserts), tuple(tombstones))

    assert decoded("a", 7, encoded(batch, head(batch))) == batch
    assert encoded(batch, head(batch)) == encoded(batch, head(batch))


def test_a_change_of_an_unknown_kind_is_not_passed_over() -> None:
    with pytest.raises(ValueError, match="unknown change 'patch' in batch 1 of a"):
        decoded("a", 1, gzip.compress(b'{"op": "patch"}\n'))


def test_the_log_gives_what_came_after_a_number_and_takes_no_number_twice() -> None:
    log = BatchLog(MemoryObjects(), "a")
    batches = [FeedBatch("a", number, (), (f"id{number}",)) for number in (1, 2, 3)]

    assert (log.last(), list(log.since(0))) == (0, [])
    assert append(log, *batches, batches[1]) == [True, True, True, False]
    assert log.head(log.bounds()) == head(batches[2])
    assert (log.last(), list(log.since(1))) == (3, batches[1:])


def test_a_batch_lost_from_the_middle_is_an_error() -> None:
    objects = MemoryObjects()
    log = BatchLog(objects, "a")
    append(log, *(FeedBatch("a", number, (), ("x",)) for number in (1, 2, 3)))
    objects.delete(log.key(2))

    assert log.bounds() == Bounds(snapshot=0, last=3, missing=(2,))
    with pytest.raises(ObjectMissing):
        list(log.since(0))


def test_a_batch_that_is_older_than_heads_is_read_and_has_none() -> None:
    objects = MemoryObjects()
    log = BatchLog(objects, "a")
    line = '{"op":"upsert","document":{"document_id":"1","site":"a","url":"u","url_key":"u","title":"","markdown":"",'
    line += (
        '"text":"t","language":"","published_on":"","fetched_at":"","text_digest":"","warc_file":"","warc_offset":0}}'
    )
    objects.put(log.key(1), gzip.compress(f"{line}\n".encode()))

    (batch,) = log.since(0)
    assert [document.text for document in batch.upserts] == ["t"]
    assert log.head(log.bounds()) is None


def test_a_reader_who_is_overtaken_by_a_snapshot_goes_on_from_it() -> None:
    objects = MemoryObjects()
    log = BatchLog(objects, "a")
    append(log, *(FeedBatch("a", number, (), (f"id{number}",)) for number in (1, 2, 3)))
    reader = log.since(0)
    assert next(reader).sequence == 1
    compact(log)

    assert [(batch.sequence, batch.is_snapshot) for batch in reader] == [(3, True)]

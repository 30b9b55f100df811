"""Batches as bytes, and the log they lie in."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.feed.log import BatchLog, decoded, encoded
from resources.errors import ObjectMissing
from resources.ports import FeedBatch, IndexDocument
from tests.support.memory import MemoryObjects

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
DOCUMENTS = st.builds(IndexDocument, *[TEXT] * 12, st.integers(0, 2**40))


@given(upserts=st.lists(DOCUMENTS, max_size=3), tombstones=st.lists(TEXT, max_size=3))
def test_a_batch_survives_being_written_and_is_always_the_same_bytes(
    upserts: list[IndexDocument], tombstones: list[str]
) -> None:
    batch = FeedBatch("a", 7, tuple(upserts), tuple(tombstones))

    assert decoded("a", 7, encoded(batch)) == batch
    assert encoded(batch) == encoded(batch)


def test_a_change_of_an_unknown_kind_is_not_passed_over() -> None:
    with pytest.raises(ValueError, match="unknown change 'patch' in batch 1 of a"):
        decoded("a", 1, gzip.compress(b'{"op": "patch"}\n'))


def test_the_log_gives_what_came_after_a_number_and_takes_no_number_twice() -> None:
    log = BatchLog(MemoryObjects(), "a")
    batches = [FeedBatch("a", number, (), (f"id{number}",)) for number in (1, 2, 3)]

    assert (log.last(), list(log.since(0))) == (0, [])
    assert [log.append(batch) for batch in [*batches, batches[1]]] == [True, True, True, False]
    assert (log.last(), list(log.since(1))) == (3, batches[1:])


def test_a_batch_lost_from_the_middle_is_an_error() -> None:
    objects = MemoryObjects()
    log = BatchLog(objects, "a")
    for number in (1, 2, 3):
        log.append(FeedBatch("a", number, (), ("x",)))
    objects.delete(log.key(2))

    with pytest.raises(ObjectMissing):
        list(log.since(0))

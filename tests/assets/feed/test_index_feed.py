"""The index feed of a site, materialization by materialization."""

from dataclasses import replace
from datetime import timedelta

import pytest

from assets.feed.checks import replay, replay_check, sinks_check
from assets.feed.index_feed import index_feed_of_site
from assets.feed.log import BatchLog
from resources.errors import StoreBusy
from tests.support.content import DAY_ONE, StoredPage, store
from tests.support.feeding import SITE, DyingTables, ListingSink, PowerCut, fed_ids, ids, mark_near, page
from tests.support.memory import MemoryObjects, MemoryTables


def test_only_differences_are_fed_and_no_batch_is_empty() -> None:
    tables, objects, sink = MemoryTables(), MemoryObjects(), ListingSink()
    store(tables, [page("1"), page("2")])

    first = index_feed_of_site(SITE, tables, objects, [sink])
    again = index_feed_of_site(SITE, tables, objects, [sink])
    store(tables, [page("1"), page("2", "changed", crawl_id="20260102T000000Z"), page("3")])
    third = index_feed_of_site(SITE, tables, objects, [sink])

    assert [first.metadata["upserts"], again.metadata["upserts"], third.metadata["upserts"]] == [2, 0, 2]
    assert [first.metadata["last_batch"], again.metadata["last_batch"], third.metadata["last_batch"]] == [1, 1, 2]
    assert first.digest == again.digest != third.digest
    assert sorted(sink.held[SITE].values()) == ["changed", "some text", "some text"]


def test_a_page_that_was_fetched_again_and_says_the_same_is_not_fed_again() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    store(tables, [page("1")])
    index_feed_of_site(SITE, tables, objects, [])
    later = DAY_ONE + timedelta(days=9)
    store(tables, [page("1", crawl_id="20260110T000000Z", fetched_at=later, warc_file="raw/b.warc.gz")])

    assert index_feed_of_site(SITE, tables, objects, []).metadata["upserts"] == 0


def test_a_document_says_where_its_capture_lies() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    store(tables, [page("1")])
    index_feed_of_site(SITE, tables, objects, [])
    (batch,) = BatchLog(objects, SITE).since(0)

    (document,) = batch.upserts
    assert (document.warc_file, document.warc_offset) == ("raw/a.warc.gz", 7)
    assert (document.fetched_at, document.text) == ("2026-01-01T00:00:00Z", "some text")


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(page("1", status="gone"), id="gone"),
        pytest.param(page("1", flags=("noindex",)), id="noindex"),
        pytest.param(page("1", flags=("needs_js",)), id="a shell of scripts"),
        pytest.param(page("1", flags=("soft_404",)), id="an error page with status 200"),
        pytest.param(page("1", ""), id="without text"),
        pytest.param(page("other"), id="unknown"),
    ],
)
def test_a_page_that_is_no_document_any_more_is_taken_out(later: StoredPage) -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    store(tables, [page("1"), page("2")])
    index_feed_of_site(SITE, tables, objects, [])
    store(tables, [replace(later, crawl_id="20260102T000000Z"), page("2")])

    assert index_feed_of_site(SITE, tables, objects, []).metadata["tombstones"] == 1
    assert ids("2") <= fed_ids(objects)
    assert not ids("1") & fed_ids(objects)


def test_a_near_duplicate_is_taken_out_and_comes_back_when_it_is_none_any_more() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    store(tables, [page("1"), page("2")])
    found = []
    for duplicates in ([], ["2"], []):
        mark_near(tables, duplicates, "1")
        index_feed_of_site(SITE, tables, objects, [])
        found.append(fed_ids(objects))

    assert found == [ids("1", "2"), ids("1"), ids("1", "2")]


def test_a_crash_between_file_and_table_is_healed() -> None:
    tables, objects = DyingTables(), MemoryObjects()
    store(tables, [page("1"), page("2")])
    tables.dies = True
    with pytest.raises(PowerCut):
        index_feed_of_site(SITE, tables, objects, [])
    tables.dies = False
    store(tables, [page("1")])  # page 2 was fed, and no table knows it

    result = index_feed_of_site(SITE, tables, objects, [])

    assert (result.metadata["upserts"], result.metadata["tombstones"], result.metadata["last_batch"]) == (0, 1, 2)
    assert fed_ids(objects) == ids("1")


def test_a_log_that_was_emptied_is_filled_again() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    store(tables, [page("1")])
    index_feed_of_site(SITE, tables, objects, [])
    objects.data.clear()

    assert index_feed_of_site(SITE, tables, objects, []).metadata["upserts"] == 1
    assert fed_ids(objects) == ids("1")


def test_a_sink_that_is_down_holds_back_nobody_and_catches_up() -> None:
    tables, objects, down, up = MemoryTables(), MemoryObjects(), ListingSink("down", down=True), ListingSink("up")
    store(tables, [page("1")])

    result = index_feed_of_site(SITE, tables, objects, [down, up])
    store(tables, [page("1"), page("2")])
    down.down = False
    healed = index_feed_of_site(SITE, tables, objects, [down, up])

    assert result.sink_errors == {"down": "ConnectionError: nobody there"}
    assert not sinks_check(result.sink_errors).passed
    assert (healed.sink_errors, down.held, down.cursors) == ({}, up.held, up.cursors)


def test_a_sink_that_is_ahead_of_the_log_is_told_so() -> None:
    sink = ListingSink(cursors={SITE: 9})

    assert "empty the sink" in index_feed_of_site(SITE, MemoryTables(), MemoryObjects(), [sink]).sink_errors["listing"]


def test_a_run_that_loses_the_race_for_a_number_can_try_again() -> None:
    class RacingObjects(MemoryObjects):
        def create(self, key: str, data: bytes) -> str | None:
            super().create(key, b"the batch of another run")
            return super().create(key, data)

    tables = MemoryTables()
    store(tables, [page("1")])

    with pytest.raises(StoreBusy, match="written by another run"):
        index_feed_of_site(SITE, tables, RacingObjects(), [])


def test_a_changed_log_fails_the_check() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    store(tables, [page("1"), page("2")])
    result = index_feed_of_site(SITE, tables, objects, [])
    whole = replay(BatchLog(objects, SITE).since(0))
    part = dict(list(whole.items())[1:])

    assert replay_check(whole, whole, result.wanted).passed
    assert not replay_check(part, whole, result.wanted).passed
    assert not replay_check(whole, part, result.wanted).passed

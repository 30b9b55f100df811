"""The index feed of a site, materialization by materialization."""

import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from assets import names
from assets.feed.checks import replay_check, sinks_check, vanished_check
from assets.feed.index_feed import FeedRules, index_feed_of_site, withdraw_site
from assets.feed.log import BatchLog, encoded, replay
from resources.errors import StoreBusy
from tests.support.content import DAY_ONE, StoredPage, store
from tests.support.feeding import SITE, DyingTables, ListingSink, PowerCut, fed_ids, ids, link, mark_near, page
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
        pytest.param(page("1", forbidden_since=DAY_ONE), id="forbidden by robots.txt"),
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
    tables.power.writes_left = 0
    with pytest.raises(PowerCut):
        index_feed_of_site(SITE, tables, objects, [])
    tables.power.writes_left = None
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


def test_a_changed_log_fails_the_check_and_the_next_batch_mends_it() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    store(tables, [page("1"), page("2")])
    index_feed_of_site(SITE, tables, objects, [])
    log = BatchLog(objects, SITE)
    (batch,) = log.since(0)
    head = log.head(log.bounds())
    assert head is not None
    objects.put(log.key(1), encoded(replace(batch, upserts=batch.upserts[:1]), head))
    whole = FeedRules(read_whole_log=True)

    result = index_feed_of_site(SITE, tables, objects, [], whole)

    assert result.metadata["upserts"] == 1
    assert fed_ids(objects) == ids("1", "2")
    assert replay_check(index_feed_of_site(SITE, tables, objects, [], whole)).passed


def test_a_batch_that_is_gone_fails_the_check() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    for keys in ("1", "12", "123"):
        store(tables, [page(key) for key in keys])
        assert replay_check(index_feed_of_site(SITE, tables, objects, [])).passed
    objects.delete(BatchLog(objects, SITE).key(2))

    assert not replay_check(index_feed_of_site(SITE, tables, objects, [])).passed


def test_what_is_as_it_was_is_not_read_again() -> None:
    class ListingTables(MemoryTables):
        asked: list[str] = []  # noqa: RUF012  # one test, one instance

        def read(self, table: str, **asked: Any) -> pa.Table:
            self.asked.append(table)
            return super().read(table, **asked)

    tables, objects = ListingTables(), MemoryObjects()
    store(tables, [page(str(number)) for number in range(20)])
    index_feed_of_site(SITE, tables, objects, [])
    tables.asked.clear()
    objects.reads.clear()

    index_feed_of_site(SITE, tables, objects, [])

    assert names.T_PAGES not in tables.asked
    assert objects.reads == []  # of whole batches


def test_a_site_that_suddenly_has_far_fewer_pages_is_held_back_until_somebody_lets_it_pass() -> None:
    tables, objects, sink = MemoryTables(), MemoryObjects(), ListingSink()
    keys = [str(number) for number in range(30)]
    store(tables, [page(key) for key in keys])
    index_feed_of_site(SITE, tables, objects, [sink])
    store(tables, [page(key, "now another text", status="live" if key < "2" else "gone") for key in keys])

    held = index_feed_of_site(SITE, tables, objects, [sink])
    again = index_feed_of_site(SITE, tables, objects, [sink])
    told = [vanished_check(result, 0.5) for result in (held, again)]
    passed = index_feed_of_site(SITE, tables, objects, [sink], FeedRules(let_vanish=True))

    assert [(check.passed, check.metadata["held_back"]) for check in told] == [(False, 18), (False, 18)]
    assert replay_check(held).passed
    assert vanished_check(passed, 0.5).passed
    assert (passed.metadata["upserts"], passed.metadata["tombstones"]) == (12, 18)
    assert sorted(sink.held[SITE].values()) == ["now another text"] * 12


def test_a_site_that_is_withdrawn_is_empty_until_it_is_fed_again() -> None:
    tables, objects, sink = MemoryTables(), MemoryObjects(), ListingSink()
    store(tables, [page("1"), page("2")])
    index_feed_of_site(SITE, tables, objects, [sink])

    withdrawn = withdraw_site(SITE, tables, objects, [sink])
    held = dict(sink.held[SITE])
    index_feed_of_site(SITE, tables, objects, [sink])

    assert (replay_check(withdrawn).passed, held) == (True, {})
    assert len(sink.held[SITE]) == 2


def test_a_sink_that_hangs_is_late_and_holds_back_nobody() -> None:
    free = threading.Event()

    class HangingSink(ListingSink):
        def cursor(self, site: str) -> int:
            free.wait()
            return super().cursor(site)

    tables, up = MemoryTables(), ListingSink("up")
    store(tables, [page("1")])
    result = index_feed_of_site(
        SITE, tables, MemoryObjects(), [HangingSink("hanging"), up], FeedRules(sink_limit_s=0.05)
    )
    free.set()

    assert result.sink_errors["hanging"].startswith("took more than 0.05 s")
    assert (list(result.sink_errors), up.cursors) == (["hanging"], {SITE: 1})


def test_links_of_other_pages_are_counted_and_their_words_kept() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    store(tables, [page("1"), page("2"), page("3")])
    link(tables, "2", ("1", "to one"), ("1", "first page"), ("2", "itself"), ("9", "unknown"))
    link(tables, "3", ("1", "to one"), ("1", ""))
    link(tables, "2", ("1", "old words"), crawl_id="20250101T000000Z")
    index_feed_of_site(SITE, tables, objects, [])

    found = {document.url_key: document for document in replay(BatchLog(objects, SITE).since(0)).values()}
    assert (found["1"].in_links, found["1"].anchor_texts) == (2, ("first page", "to one"))
    assert (found["2"].in_links, found["2"].anchor_texts) == (0, ())

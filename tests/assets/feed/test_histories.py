"""The index feed over random histories, with crashes between any two writes."""

import contextlib
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from assets import names
from assets.feed.checks import replay, replay_check
from assets.feed.difference import fed_of_rows
from assets.feed.index_feed import index_feed_of_site
from assets.feed.log import BatchLog
from tests.support.content import StoredPage, store
from tests.support.feeding import SITE, DyingTables, ListingSink, PowerCut, ids, mark_near, page
from tests.support.memory import MemoryObjects

# What a page may be at a visit. Half of them are documents.
KINDS = st.sampled_from(
    [
        {"text": "one"},
        {"text": "two"},
        {"text": "two", "flags": ("too_short",)},
        {"text": "one", "status": "gone"},
        {"text": "one", "flags": ("noindex",)},
        {"text": ""},
    ]
)


class FeedHistory(RuleBasedStateMachine):
    """Pages come, change, vanish and become duplicates; runs die between file and table; sinks go down."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = DyingTables()
        self.objects = MemoryObjects()
        self.sink = ListingSink()
        self.pages: dict[str, StoredPage] = {}
        self.near: set[str] = set()
        self.crawls = 0

    @rule(found=st.dictionaries(st.sampled_from("123"), KINDS, min_size=1))
    def crawl(self, found: dict[str, dict[str, Any]]) -> None:
        """Find pages, new or changed."""
        self.crawls += 1
        self.pages |= {key: page(key, crawl_id=f"{self.crawls:06d}", **kind) for key, kind in found.items()}
        store(self.tables, self.pages.values())

    @rule(keys=st.sets(st.sampled_from("23")))
    def compare(self, keys: set[str]) -> None:
        """Find near-duplicates of page 1."""
        self.near = keys
        mark_near(self.tables, keys, "1")

    @rule(down=st.booleans(), mishap=st.sampled_from(["none", "dies", "table lost"]))
    def feed(self, down: bool, mishap: str) -> None:
        """Feed: to the end, or until the batch is written and the table is not, or without a memory of what was fed."""
        self.sink.down = down
        if mishap == "table lost":
            self.tables.rows.pop(names.T_FEED_STATE, None)
        if mishap == "dies":
            self.tables.dies = True
            with contextlib.suppress(PowerCut):  # when nothing changed, there is no write to die in
                index_feed_of_site(SITE, self.tables, self.objects, [self.sink])
            self.tables.dies = False
            return
        result = index_feed_of_site(SITE, self.tables, self.objects, [self.sink])
        assert bool(result.sink_errors) == (down and self.sink.cursor(SITE) < BatchLog(self.objects, SITE).last())
        remembered = fed_of_rows(self.tables.read(names.T_FEED_STATE, sites=[SITE]))
        replayed = replay(BatchLog(self.objects, SITE).since(0))
        digests = {one: document.document_digest for one, document in remembered.items()}
        assert replay_check(replayed, digests, result.wanted).passed
        assert set(replayed) == self.expected()

    def expected(self) -> set[str]:
        """Say which documents there must be, in other words than the code."""

        def may_be(one: StoredPage) -> bool:
            return one.status == "live" and one.text != "" and "noindex" not in one.flags

        first = "1" in self.pages and may_be(self.pages["1"])
        return ids(*(key for key, one in self.pages.items() if may_be(one) and not (first and key in self.near)))

    @invariant()
    def batches_are_numbered_without_gaps_and_none_is_empty(self) -> None:
        """Read the log as a consumer does."""
        batches = list(BatchLog(self.objects, SITE).since(0))
        assert [batch.sequence for batch in batches] == list(range(1, len(self.objects.data) + 1))
        assert all(batch.upserts or batch.tombstones for batch in batches)

    @invariant()
    def a_sink_holds_what_the_log_said_at_its_cursor(self) -> None:
        """Compare the sink with the part of the log that it took."""
        batches = list(BatchLog(self.objects, SITE).since(0))[: self.sink.cursor(SITE)]
        assert set(self.sink.held.get(SITE, {})) == set(replay(batches))


FeedHistory.TestCase.settings = settings(max_examples=80, stateful_step_count=20, deadline=None)
TestFeedHistory = pytest.mark.slow(FeedHistory.TestCase)

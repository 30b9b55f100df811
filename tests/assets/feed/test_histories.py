"""Random histories of a site: whatever happens between two feeds, its log adds up to what the index should hold."""

import contextlib
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from assets import names
from assets.feed.checks import replay_check
from assets.feed.compaction import compact
from assets.feed.index_feed import FeedRules, index_feed_of_site
from assets.feed.log import BatchLog, replay
from tests.support.content import DAY_ONE, StoredPage, store
from tests.support.feeding import (
    SITE,
    DyingObjects,
    DyingTables,
    ListingSink,
    Power,
    PowerCut,
    link,
    mark_near,
    page,
)

# What a page may be at a visit. Half of them are documents.
KINDS = st.sampled_from(
    [
        {"text": "one"},
        {"text": "two"},
        {"text": "two", "flags": ("too_short",)},
        {"text": "one", "status": "gone"},
        {"text": "one", "flags": ("noindex",)},
        {"text": "one", "forbidden_since": DAY_ONE},
        {"text": ""},
    ]
)


class FeedHistory(RuleBasedStateMachine):
    """Pages come, change, vanish and become duplicates; runs die between any two writes; sinks go down."""

    def __init__(self) -> None:
        super().__init__()
        self.power = Power()
        self.tables = DyingTables(power=self.power)
        self.objects = DyingObjects(power=self.power)
        self.log = BatchLog(self.objects, SITE)
        self.sink = ListingSink()
        self.pages: dict[str, StoredPage] = {}
        self.near: set[str] = set()
        self.crawls = 0
        # Consumers that stopped reading at some time: what each held at which number.
        self.consumers: dict[int, dict[str, Any]] = {0: {}}

    @rule(
        found=st.dictionaries(st.sampled_from("123"), KINDS, min_size=1), title=st.sampled_from(["A title", "Another"])
    )
    def crawl(self, found: dict[str, dict[str, Any]], title: str) -> None:
        """Find pages, new or changed, or read anew by another extractor."""
        self.crawls += 1
        new = {key: page(key, title=title, crawl_id=f"{self.crawls:06d}", **kind) for key, kind in found.items()}
        self.pages |= new
        store(self.tables, self.pages.values())

    @rule(keys=st.sets(st.sampled_from("23")))
    def compare(self, keys: set[str]) -> None:
        """Find near-duplicates of page 1."""
        self.near = keys
        mark_near(self.tables, keys, "1")

    @rule(source=st.sampled_from("12"), to=st.sampled_from("123"), words=st.sampled_from(["", "here", "there"]))
    def link(self, source: str, to: str, words: str) -> None:
        """Find a link."""
        self.crawls += 1
        link(self.tables, source, (to, words), crawl_id=f"{self.crawls:06d}")

    @rule(down=st.booleans(), table_lost=st.booleans(), make_all=st.booleans())
    def feed(self, down: bool, table_lost: bool, make_all: bool) -> None:
        """Feed to the end, perhaps without a memory of what was fed."""
        self.sink.down = down
        if table_lost:
            self.tables.rows.pop(names.T_FEED_STATE, None)
        result = index_feed_of_site(SITE, self.tables, self.objects, [self.sink], FeedRules(make_all=make_all))
        assert bool(result.sink_errors) == (down and self.sink.cursor(SITE) < self.log.last())
        assert replay_check(result).passed
        assert {document.url_key for document in replay(self.log.since(0)).values()} == self.expected()

    @rule(writes=st.integers(0, 3), compacts=st.booleans())
    def die(self, writes: int, compacts: bool) -> None:
        """Feed or compact until the power goes out after some writes."""
        self.power.writes_left = writes
        with contextlib.suppress(PowerCut):
            if compacts:
                compact(self.log)
            else:
                index_feed_of_site(SITE, self.tables, self.objects, [])
        self.power.writes_left = None

    @rule()
    def compact(self) -> None:
        """Put a snapshot in the place of the batches."""
        before = replay(self.log.since(0))
        compact(self.log)
        assert replay(self.log.since(0)) == before
        assert len(self.objects.data) == (self.log.last() > 0)

    @rule()
    def stop_reading(self) -> None:
        """Let a consumer stop where the log ends now."""
        self.consumers[self.log.last()] = replay(self.log.since(0))

    def expected(self) -> set[str]:
        """Say which documents there must be, in other words than the code."""

        def may_be(one: StoredPage) -> bool:
            return one.status == "live" and one.text != "" and "noindex" not in one.flags and not one.forbidden_since

        first = "1" in self.pages and may_be(self.pages["1"])
        return {key for key, one in self.pages.items() if may_be(one) and not (first and key in self.near)}

    @invariant()
    def batches_are_numbered_without_gaps_and_none_is_empty(self) -> None:
        """Read the log as a consumer does."""
        bounds = self.log.bounds()
        batches = list(self.log.since(bounds.snapshot))
        assert [batch.sequence for batch in batches] == list(range(bounds.snapshot + 1, bounds.last + 1))
        assert all(batch.upserts or batch.tombstones for batch in batches)
        assert not bounds.missing

    @invariant()
    def a_consumer_at_any_number_gets_to_the_same_set(self) -> None:
        """Go on from wherever a consumer stopped."""
        whole = replay(self.log.since(0))
        for number, held in self.consumers.items():
            assert replay(self.log.since(number), held) == whole

    @invariant()
    def a_sink_that_is_up_to_date_holds_the_set(self) -> None:
        """Compare the sink with the log."""
        if self.sink.cursor(SITE) == self.log.last():
            assert set(self.sink.held.get(SITE, {})) == set(replay(self.log.since(0)))


FeedHistory.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestFeedHistory = pytest.mark.slow(FeedHistory.TestCase)

"""The chunk feed: whoever replays it has exactly the chunks of the live documents, after any history."""

import contextlib
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from assets import names
from assets.feed.chunk_feed import after, chunk_digest, chunk_feed_of_site
from assets.feed.chunk_log import ChunkLog
from assets.feed.chunking import ChunkSize, chunks_of
from assets.feed.compaction import compact
from assets.feed.index_feed import index_feed_of_site
from assets.feed.log import BatchLog, replay
from tests.support.content import StoredPage, store
from tests.support.feeding import SITE, DyingObjects, DyingTables, Power, PowerCut, page

TEXTS = (
    "# One\nA few words of it, and more.",
    "# One\nA few words of it, and more.\n# Two\nAnother section here.",
    "x" * 50,
)
KINDS = st.sampled_from([*({"text": text} for text in TEXTS), {"text": TEXTS[1], "status": "gone"}])


class ChunkHistory(RuleBasedStateMachine):
    """Pages come, change and go; sizes change; runs die between any two writes."""

    @initialize()
    def begin(self) -> None:
        self.power = Power()
        self.tables = DyingTables(power=self.power)
        self.objects = DyingObjects(power=self.power)
        self.size = ChunkSize(40)
        self.pages: dict[str, StoredPage] = {}
        self.crawls = 0

    @rule(found=st.dictionaries(st.sampled_from("123"), KINDS, min_size=1), is_compacted=st.booleans())
    def crawl(self, found: dict[str, dict[str, Any]], is_compacted: bool) -> None:
        self.crawls += 1
        self.pages |= {key: page(key, crawl_id=f"{self.crawls:06d}", **kind) for key, kind in found.items()}
        store(self.tables, self.pages.values())
        index_feed_of_site(SITE, self.tables, self.objects, [])
        if is_compacted:
            compact(BatchLog(self.objects, SITE))

    @rule(most=st.sampled_from([20, 40]))
    def resize(self, most: int) -> None:
        self.size = ChunkSize(most)

    @rule(writes=st.integers(0, 2))
    def die(self, writes: int) -> None:
        self.power.writes_left = writes
        with contextlib.suppress(PowerCut):
            chunk_feed_of_site(SITE, self.tables, self.objects, self.size)
        self.power.writes_left = None

    @rule(table_lost=st.booleans())
    def feed(self, table_lost: bool) -> None:
        if table_lost:
            self.tables.rows.pop(names.T_CHUNK_STATE, None)
        chunk_feed_of_site(SITE, self.tables, self.objects, self.size)
        again = chunk_feed_of_site(SITE, self.tables, self.objects, self.size)

        held: Any = {}
        numbers = []
        for batch in ChunkLog(self.objects, SITE).since(0):
            held = after(held, batch)
            numbers.append(batch.head.sequence)
        documents = replay(BatchLog(self.objects, SITE).since(0)).values()
        wanted = [chunk for document in documents for chunk in chunks_of(document, self.size)]
        assert {one: fed.chunk_digest for one, fed in held.items()} == {
            chunk.chunk_id: chunk_digest(chunk) for chunk in wanted
        }
        assert numbers == list(range(1, len(numbers) + 1))
        assert (again.metadata["documents_cut"], again.metadata["upserts"]) == (0, 0)


ChunkHistory.TestCase.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
TestChunkHistory = pytest.mark.slow(ChunkHistory.TestCase)

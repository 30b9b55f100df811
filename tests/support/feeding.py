"""Parts and moves for tests of the index feed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from assets import names
from assets.feed.checks import replay
from assets.feed.documents import document_id
from assets.feed.log import BatchLog
from assets.schemas import NEAR_DUPLICATES
from resources.errors import PermanentError
from resources.ports import FeedBatch
from tests.support.content import StoredPage
from tests.support.memory import MemoryObjects, MemoryTables

SITE = "a"


class PowerCut(Exception):
    """The process died here."""


@dataclass
class DyingTables(MemoryTables):
    """Tables that can die at the next write."""

    dies: bool = False

    def replace(self, table: str, *, sites: Sequence[str], rows: pa.Table) -> None:
        """Put rows in the place of others, or die."""
        if self.dies:
            raise PowerCut
        super().replace(table, sites=sites, rows=rows)


@dataclass
class ListingSink:
    """An index that is a dictionary, and may be down."""

    name: str = "listing"
    held: dict[str, dict[str, str]] = field(default_factory=dict)
    cursors: dict[str, int] = field(default_factory=dict)
    down: bool = False

    def cursor(self, site: str) -> int:
        """Give the last batch."""
        return self.cursors.get(site, 0)

    def apply(self, batches: Iterable[FeedBatch]) -> None:
        """Take batches."""
        for batch in batches:
            if self.down:
                raise ConnectionError("nobody there")
            if batch.sequence > self.cursor(batch.site) + 1:
                raise PermanentError("a gap")
            held = self.held.setdefault(batch.site, {})
            held |= {document.document_id: document.text for document in batch.upserts}
            for gone in batch.tombstones:
                held.pop(gone, None)
            self.cursors[batch.site] = batch.sequence


def mark_near(tables: MemoryTables, keys: Iterable[str], representative: str) -> None:
    """Mark pages as near-duplicates of one."""
    rows = [
        {
            "site": SITE,
            "url": key,
            "url_key": key,
            "representative_site": SITE,
            "representative_key": representative,
            "similarity": 0.9,
        }
        for key in keys
    ]
    tables.replace(names.T_NEAR_DUPLICATES, sites=[SITE], rows=pa.Table.from_pylist(rows, schema=NEAR_DUPLICATES))


def page(key: str, text: str = "some text", **facts: object) -> StoredPage:
    """Make a page of the site."""
    return replace(StoredPage(SITE, key, text), **facts)  # type: ignore[arg-type]


def fed_ids(objects: MemoryObjects) -> set[str]:
    """Give the ids that replaying the log leaves."""
    return set(replay(BatchLog(objects, SITE).since(0)))


def ids(*keys: str) -> set[str]:
    """Give the document ids of pages."""
    return {document_id(SITE, key) for key in keys}

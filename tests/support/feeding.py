"""Parts and moves for tests of the index feed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from assets import names
from assets.feed.documents import document_id
from assets.feed.log import BatchLog, replay
from assets.schemas import LINKS, NEAR_DUPLICATES
from resources.errors import PermanentError
from resources.ports import FeedBatch
from tests.support.content import StoredPage
from tests.support.memory import MemoryObjects, MemoryTables

SITE = "a"


class PowerCut(Exception):
    """The process died here."""


@dataclass
class Power:
    """What all writes need; it may go out after so many of them."""

    writes_left: int | None = None  # None: it stays

    def use(self) -> None:
        """Let a write pass, or let the process die."""
        if self.writes_left is not None:
            if not self.writes_left:
                raise PowerCut
            self.writes_left -= 1


@dataclass
class DyingTables(MemoryTables):
    """Tables that need power to be written."""

    power: Power = field(default_factory=Power)

    def replace(self, table: str, *, sites: Sequence[str], rows: pa.Table) -> None:
        """Put rows in the place of others, or die."""
        self.power.use()
        super().replace(table, sites=sites, rows=rows)


@dataclass
class DyingObjects(MemoryObjects):
    """Objects that need power to be written and removed."""

    power: Power = field(default_factory=Power)

    def put(self, key: str, data: bytes) -> None:
        """Write an object, or die."""
        self.power.use()
        super().put(key, data)

    def delete(self, key: str) -> None:
        """Remove an object, or die."""
        self.power.use()
        super().delete(key)


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
            if batch.sequence <= self.cursor(batch.site):
                continue
            if not batch.follows(self.cursor(batch.site)):
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


def link(tables: MemoryTables, source: str, *links: tuple[str, str], crawl_id: str = "20260101T000000Z") -> None:
    """Note what a page links: url_key and words."""
    hyperlinks = [{"url": key, "url_key": key, "kind": "a", "anchor": anchor, "rel": ""} for key, anchor in links]
    facts: dict[str, object] = {
        field.name: [] if pa.types.is_list(field.type) else "" if pa.types.is_string(field.type) else 0
        for field in LINKS
    }
    row = {**facts, "site": SITE, "crawl_id": crawl_id, "url": source, "url_key": source, "hyperlinks": hyperlinks}
    tables.append(names.T_LINKS, pa.Table.from_pylist([row], schema=LINKS))


def page(key: str, text: str = "some text", **facts: object) -> StoredPage:
    """Make a page of the site."""
    return replace(StoredPage(SITE, key, text), **facts)  # type: ignore[arg-type]


def fed_ids(objects: MemoryObjects) -> set[str]:
    """Give the ids that replaying the log leaves."""
    return set(replay(BatchLog(objects, SITE).since(0)))


def ids(*keys: str) -> set[str]:
    """Give the document ids of pages."""
    return {document_id(SITE, key) for key in keys}

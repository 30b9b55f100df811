"""Behaviour of a layer being fetched, while its batches are published."""

import threading
from pathlib import Path

import pyarrow as pa
import pytest

from assets import names
from resources.errors import StoreUnusable
from resources.ports import FetchRequest, FetchResponse
from tests.support.answers import answer
from tests.support.memory import MemoryTables
from tests.support.scripted_walk import Walker

PAGES = [f"http://e.test/{number}" for number in range(100)]
PATIENCE_S = 10.0


class SlowTables(MemoryTables):
    """Tables that take the first page's row only when ``may_go_on`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go_on = threading.Event()
        self.waited = list[bool]()

    def append(self, table: str, rows: pa.Table) -> None:
        """Wait, and add rows."""
        if table == names.T_FETCHES and PAGES[0] in rows["url"].to_pylist():
            self.waited.append(self.may_go_on.wait(PATIENCE_S))
        super().append(table, rows)


class FullTables(SlowTables):
    """Tables that never take the first page's row."""

    def append(self, table: str, rows: pa.Table) -> None:
        """Wait, and refuse that row or add the others."""
        if table == names.T_FETCHES and PAGES[0] in rows["url"].to_pylist():
            self.may_go_on.wait(PATIENCE_S)
            raise StoreUnusable("the disk is full")
        super().append(table, rows)


def walker_on(tables: SlowTables, scratch: Path) -> Walker:
    """Give a walker whose batches are due at every answer, and whose tables go on when page 1 is asked."""

    def second_page(request: FetchRequest) -> FetchResponse:
        tables.may_go_on.set()
        return answer(request.url, 200, b"<p>A page.", ("Content-Type", "text/html"))

    walker = Walker(scratch)
    walker.tables = tables
    walker.fetcher.answers[PAGES[1]] = second_page
    return walker


def test_a_host_is_asked_on_while_a_batch_is_published(tmp_path: Path) -> None:
    tables = SlowTables()
    assert walker_on(tables, tmp_path).fetch(*PAGES[:4]) == [("fetched", "")] * 4
    assert tables.waited == [True]
    rows = tables.read(names.T_FETCHES, columns=["url", "warc_file"]).to_pylist()
    assert sorted(row["url"] for row in rows if row["url"] in PAGES) == PAGES[:4]
    assert len({row["warc_file"] for row in rows}) > 1


def test_a_batch_that_cannot_be_published_ends_the_walk_and_takes_no_other_along(tmp_path: Path) -> None:
    tables = FullTables()
    walker = walker_on(tables, tmp_path)
    with pytest.raises(StoreUnusable, match="the disk is full"):
        walker.fetch(*PAGES)
    stored = tables.read(names.T_FETCHES, columns=["url"])["url"].to_pylist()
    assert PAGES[0] not in stored
    assert not set(PAGES).isdisjoint(stored)
    assert PAGES[-1] not in walker.fetcher.urls()

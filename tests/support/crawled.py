"""A site whose fetches are written by hand, for tests of what is made of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pyarrow as pa

from assets import names
from assets.extract.pages import PagesResult, pages_of_site
from assets.schemas import FETCHES
from assets.warc.digest import payload_digest
from assets.warc.records import capture_members
from resources.ports import WorkFailure
from resources.ports.workers import WorkFailureReason
from tests.support.answers import NOON, answer
from tests.support.memory import MemoryObjects, MemoryTables

SITE = "e.test"
LONG = "The harbour master keeps a table of the tides near the door, for all who sail at dawn. " * 6


@dataclass
class CountingWorkers:
    """Workers in this process that remember what they were given; ``killed`` is an address that costs too much."""

    done: list[str] = field(default_factory=list)
    killed: str = ""

    def map(self, function: Callable[[Any], Any], documents: Iterable[Any]) -> Iterator[Any]:
        """Work through documents."""
        for document in documents:
            self.done.append(document.url)
            if document.url == self.killed:
                yield WorkFailure(WorkFailureReason.TIMEOUT, "over 30 s")
            else:
                yield function(document)

    def close(self) -> None:
        """Do nothing."""


@dataclass
class Crawled:
    """A site whose fetches are written by hand."""

    tables: MemoryTables = field(default_factory=MemoryTables)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    workers: CountingWorkers = field(default_factory=CountingWorkers)

    def fetch(self, path: str, body: str = "", *, day: int = 0, outcome: str = "fetched", **facts: Any) -> None:
        """Add the row of one request, and its capture when it has one."""
        url, at = f"http://{SITE}{path}", NOON + timedelta(days=day)
        row: dict[str, Any] = dict.fromkeys(FETCHES.names) | {
            "site": SITE,
            "crawl_id": f"crawl-{day}",
            "layer": "depth_0",
            "purpose": "page",
            "url": url,
            "url_key": url,
            "origin_key": url,
            "hop": 0,
            "attempt": 1,
            "is_final": True,
            "outcome": outcome,
            "reason": "",
            "requested_at": at,
            "fetch_ms": 1,
            "body_bytes": len(body),
        }
        if outcome == "fetched" or body:
            data = body.encode()
            response = answer(url, 200, data, ("Content-Type", "text/html; charset=utf-8"))
            member, _ = capture_members(response, digest=payload_digest(data), original=None)
            file = f"raw/{day}{path.replace('/', '_')}.warc.gz"
            self.objects.put(file, member)
            row |= {"status": 200, "content_type": "text/html; charset=utf-8", "payload_digest": payload_digest(data)}
            row |= {"body_warc_file": file, "body_warc_offset": 0, "body_warc_bytes": len(member)}
        self.tables.append(names.T_FETCHES, pa.Table.from_pylist([row | facts], schema=FETCHES))

    def extract(self, *, full_refresh: bool = False) -> PagesResult:
        """Run the asset's work."""
        self.workers.done.clear()
        return pages_of_site(SITE, self.tables, self.objects, self.workers, full_refresh=full_refresh)

    def versions(self) -> list[dict[str, Any]]:
        """Give the rows of ``pages``."""
        rows: list[dict[str, Any]] = self.tables.read(names.T_PAGES).to_pylist()
        return rows

    def state(self, path: str) -> dict[str, Any]:
        """Give the row of ``page_state`` of one path."""
        rows = self.tables.read(names.T_PAGE_STATE).to_pylist()
        return next(row for row in rows if row["url_key"] == f"http://{SITE}{path}")


def html(text: str = LONG, head: str = "") -> str:
    """Make a page."""
    return f"<html><head>{head}</head><body><h1>Tides</h1><p>{text}</p></body></html>"

"""Which WARC files are orphans: those that no row names, of crawls that nobody goes on with, once they are old."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from assets import names
from assets.crawl.crawl_log import CrawlKind, mark
from assets.crawl.orphans import OrphansSwept, orphans_of_site, sweep_orphans
from assets.schemas import FETCHES
from resources.folder_objects import FolderObjects
from resources.ports.objects import Swept
from resources.site_leases import SiteLeaseStore
from tests.support.clocks import TurnableClock
from tests.support.hand_made_crawl import blank
from tests.support.memory import MemoryTables

SITE = "a.example"
CRAWLS = {
    "20300101T000000000Z": CrawlKind.CRAWL,
    "20300102T000000000Z": CrawlKind.REFRESH,
    "20300103T000000000Z": CrawlKind.CRAWL,
    "20300104T000000000Z": CrawlKind.REFRESH,
}
FORGOTTEN = "20291231T000000000Z"


def key(crawl_id: str, name: str) -> str:
    return names.raw_prefix(SITE, crawl_id, "depth_0") + name


def warc_and_index(crawl_id: str, name: str) -> list[str]:
    return [key(crawl_id, f"{name}.cdxj"), key(crawl_id, f"{name}.warc.gz")]


@pytest.fixture
def tables() -> MemoryTables:
    """Give the log of four crawls, none finished, and their fetches."""
    made = MemoryTables()
    for crawl_id, kind in CRAWLS.items():
        at = datetime.strptime(crawl_id, "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
        mark(made, site=SITE, crawl_id=crawl_id, stages=[kind], at=at, run_id="r", max_depth=3)
    rows = [
        blank(FETCHES, {"site": SITE, "crawl_id": crawl_id, "warc_file": key(crawl_id, "named.warc.gz")})
        for crawl_id in CRAWLS
    ]
    body = blank(FETCHES, {"site": SITE, "body_warc_file": key("20300101T000000000Z", "body.warc.gz")})
    made.append(names.T_FETCHES, pa.Table.from_pylist([*rows, body], schema=FETCHES))
    return made


@pytest.fixture
def objects(tmp_path: Path) -> FolderObjects:
    """Give a store in which each crawl has files with and without rows."""
    made = FolderObjects(tmp_path / "store")
    for crawl_id in [*CRAWLS, FORGOTTEN]:
        for name in ("named", "body", "nameless"):
            for one in warc_and_index(crawl_id, name):
                made.put(one, b"1234")
        made.put(key(crawl_id, "alone.cdxj"), b"12")
    return made


def test_orphans_are_old_files_without_rows_of_crawls_that_are_closed(
    tables: MemoryTables, objects: FolderObjects
) -> None:
    now = datetime.now(UTC)
    assert orphans_of_site(SITE, tables, objects, now=now + timedelta(hours=23)) == []
    found = [one.key for one in orphans_of_site(SITE, tables, objects, now=now + timedelta(hours=25))]
    first, second = "20300101T000000000Z", "20300102T000000000Z"
    assert sorted(found) == sorted(
        [
            *warc_and_index(first, "nameless"),
            key(first, "alone.cdxj"),
            *warc_and_index(second, "body"),
            *warc_and_index(second, "nameless"),
            key(second, "alone.cdxj"),
        ]
    )


def test_a_site_that_is_being_crawled_is_passed_over(
    tables: MemoryTables, objects: FolderObjects, tmp_path: Path
) -> None:
    clock = TurnableClock()
    leases = SiteLeaseStore(objects, clock)

    def swept() -> OrphansSwept:
        later = datetime.now(UTC) + timedelta(days=2)
        return sweep_orphans(tables, objects, leases, owner="upkeep", now=later, temporary=tmp_path)

    before = len(list(objects.list("raw/")))
    with leases.hold(SITE, "a crawl"):
        assert swept() == OrphansSwept(Swept(), Swept(), sites=1, busy=[SITE])
    assert len(list(objects.list("raw/"))) == before
    assert swept() == OrphansSwept(Swept(8, 28), Swept(), sites=1, busy=[])
    assert swept() == OrphansSwept(Swept(), Swept(), sites=1, busy=[])
    assert len(list(objects.list("raw/"))) == before - 8
    assert leases.holder(SITE) is None

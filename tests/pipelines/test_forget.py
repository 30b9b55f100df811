"""Forgetting: a site is gone everywhere, no other site notices, and a run that was killed is finished by the next."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest

from assets import names
from assets.feed.index_feed import index_feed_of_site
from assets.feed.log import BatchLog, replay
from assets.schemas import EXACT_DUPLICATES, TABLES
from pipelines.forget import FORGET_SITE, Forgotten, forget_run_config, forget_site
from pipelines.maintenance import MAINTENANCE
from resources.errors import TransientError
from resources.ports import SiteSettings
from resources.site_leases import SiteLeaseStore
from resources.tantivy_index import TantivyIndex
from tests.support.content import store
from tests.support.feeding import SITE, ListingSink, PowerCut, page
from tests.support.hand_made_crawl import blank
from tests.support.loopback import LoopbackSite, small_site
from tests.support.memory import MemoryObjects, MemoryTables
from tests.support.rig import DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

OTHER = "b"
QUIET: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass
class Fuse:
    """Lets so many writes pass, and then none."""

    left: int = 1_000_000

    def burn(self) -> None:
        if self.left == 0:
            raise PowerCut
        self.left -= 1


@dataclass
class FusedTables(MemoryTables):
    fuse: Fuse = field(default_factory=Fuse)

    def replace(self, table: str, *, sites: Sequence[str], rows: pa.Table) -> None:
        self.fuse.burn()
        super().replace(table, sites=sites, rows=rows)


@dataclass
class FusedObjects(MemoryObjects):
    fuse: Fuse = field(default_factory=Fuse)

    def create(self, key: str, data: bytes) -> str | None:
        self.fuse.burn()
        return super().create(key, data)

    def delete(self, key: str) -> None:
        self.fuse.burn()
        super().delete(key)


@dataclass
class FusedSink(ListingSink):
    fuse: Fuse = field(default_factory=Fuse)

    def apply(self, batches: Any) -> None:
        self.fuse.burn()
        super().apply(batches)


@dataclass
class Held:
    """Two sites in a store; pages of the first stand for some of the second."""

    instance: dg.DagsterInstance
    fuse: Fuse = field(default_factory=Fuse)

    def __post_init__(self) -> None:
        self.tables = FusedTables(fuse=self.fuse)
        self.objects = FusedObjects(fuse=self.fuse)
        self.sink = FusedSink(fuse=self.fuse)
        store(self.tables, [page("1"), page("2"), page("1", site=OTHER), page("3", "another text", site=OTHER)])
        mark = {"site": OTHER, "url_key": "1", "representative_site": SITE, "representative_key": "1"}
        marks = pa.Table.from_pylist([blank(EXACT_DUPLICATES, mark)], schema=EXACT_DUPLICATES)
        self.tables.append(names.T_EXACT_DUPLICATES, marks)
        for site in (SITE, OTHER):
            index_feed_of_site(site, self.tables, self.objects, [self.sink])
            self.objects.put(f"raw/site={site}/crawl=1/layer=depth_0/x.warc.gz", b"raw")
            self.objects.put(f"reports/{site}/1/pages.csv", b"pages")
        self.instance.add_dynamic_partitions("sites", [SITE, OTHER])

    def forget(self, *, raw: bool = False, listed: bool = False) -> Forgotten:
        return forget_site(
            SITE,
            raw=raw,
            tables=self.tables,
            objects=self.objects,
            sinks=[self.sink],
            catalog=DictCatalog({SITE: SiteSettings(SITE)} if listed else {}),
            instance=self.instance,
        )

    def rows(self, site: str) -> dict[str, list[dict[str, Any]]]:
        found = {table: self.tables.read(table, sites=[site]).to_pylist() for table in TABLES}
        return {table: rows for table, rows in found.items() if rows}

    def objects_of(self, site: str) -> list[str]:
        return sorted(key for key in self.objects.data if f"/site={site}/" in key or f"/{site}/" in key)

    def assert_forgotten(self) -> None:
        assert self.rows(SITE) == {}
        assert self.sink.held[SITE] == {}
        assert replay(BatchLog(self.objects, SITE).since(0)) == {}
        assert self.instance.get_dynamic_partitions("sites") == [OTHER]
        # What was fed is told once, and taken back once.
        feed = [f"feed/site={SITE}/000000000{number}.ndjson.gz" for number in (1, 2)]
        assert self.objects_of(SITE) == feed


def test_a_forgotten_site_is_gone_and_no_other_site_is_touched(instance: dg.DagsterInstance) -> None:
    held = Held(instance)
    others = held.rows(OTHER), held.objects_of(OTHER), dict(held.sink.held[OTHER])
    assert len(held.sink.held[OTHER]) == 1  # the first site's page stands for the other
    done = held.forget()
    assert (done.tombstones, done.rows[names.T_PAGES], done.reports.count, done.raw.count) == (2, 2, 1, 0)
    assert done.stood_for_sites == [OTHER]
    assert done.partition == "The partition 'a' was removed."
    assert f"raw/site={SITE}/crawl=1/layer=depth_0/x.warc.gz" in held.objects.data
    assert held.forget(raw=True).raw.count == 1
    held.assert_forgotten()
    assert others == (held.rows(OTHER), held.objects_of(OTHER), held.sink.held[OTHER])
    # The mark leads nowhere now, so the other site's page gets a document of its own.
    assert index_feed_of_site(OTHER, held.tables, held.objects, [held.sink]).metadata["upserts"] == 1
    nothing = held.forget(raw=True)
    assert (nothing.tombstones, nothing.rows, nothing.raw.count) == (0, {}, 0)
    assert nothing.partition == "There is no partition 'a'."


def test_a_run_that_dies_between_any_two_writes_is_finished_by_the_next(instance: dg.DagsterInstance) -> None:
    deaths, is_whole = 0, False
    while not is_whole:
        held = Held(instance)
        held.fuse.left = deaths
        try:
            held.forget(raw=True)
            is_whole = True
        except (PowerCut, TransientError):
            deaths += 1
            held.fuse.left = 1_000_000
            held.forget(raw=True)
        held.assert_forgotten()
    # A batch, what remembers it, the index, three tables, a report, a WARC file.
    assert deaths == 8


def test_an_index_that_is_down_keeps_the_rows_until_it_has_taken_the_tombstones(instance: dg.DagsterInstance) -> None:
    held = Held(instance)
    held.sink.down = True
    before = {table: rows for table, rows in held.rows(SITE).items() if table != names.T_FEED_STATE}
    with pytest.raises(TransientError, match=r"a is still in an index, so its rows stay .*: listing: ConnectionError"):
        held.forget(raw=True)
    assert held.rows(SITE) == before
    held.sink.down = False
    held.forget(raw=True)
    held.assert_forgotten()


def test_a_site_that_the_catalog_lists_keeps_its_partition(instance: dg.DagsterInstance) -> None:
    held = Held(instance)
    assert "stays, since sites.yaml lists it" in held.forget(listed=True).partition
    assert instance.has_dynamic_partition("sites", SITE)


def run(rig: Rig, site: str, *, raw: bool = False, confirm: str | None = None) -> dg.ExecuteInProcessResult:
    config = forget_run_config(site, raw=raw)
    if confirm is not None:
        config["ops"]["forget"]["config"]["confirm"] = confirm
    job = rig.definitions().resolve_job_def(FORGET_SITE)
    return job.execute_in_process(instance=rig.instance, run_config={**QUIET, **config}, raise_on_error=False)


@pytest.mark.slow
@in_a_folder
@pytest.mark.filterwarnings("ignore:Parameter `include_sources` of function")
def test_the_job_forgets_a_crawled_site_under_its_lease_and_it_can_be_crawled_anew(rig: Rig, tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "index")
    rig.sinks = [index]
    with LoopbackSite(small_site()) as site:
        assert rig.crawl(site.host, max_depth=1).success
        assert index.search("museum")
        assert "confirm is 'x'; type the same site twice" in failure_sentence(run(rig, site.host, confirm="x"))
        with SiteLeaseStore(rig.objects, rig.clock).hold(site.host, "a crawl"):
            assert "is held by 'a crawl'" in failure_sentence(run(rig, site.host))
        assert index.search("museum")
        assert run(rig, site.host).success
        assert not index.search("museum")
        assert not [table for table in TABLES if rig.rows(table, site.host)]
        raw = [one.key for one in rig.objects.list("raw/")]
        assert raw
        sweep = rig.definitions().resolve_job_def(MAINTENANCE)
        assert sweep.execute_in_process(
            instance=rig.instance, run_config=QUIET, op_selection=["sweep_orphans", "check_sample"]
        ).success
        assert [one.key for one in rig.objects.list("raw/")] == raw
        assert rig.crawl(site.host, max_depth=1).success
        assert index.search("museum")
    assert run(rig, site.host, raw=True).success
    assert not list(rig.objects.list("raw/"))
    assert not list(rig.objects.list("reports/"))

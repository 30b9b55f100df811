"""Upkeep of tables: fewer files, the same rows, and old versions as long as they were promised."""

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from assets import names
from assets.schemas import TABLES
from resources.delta_tables import DeltaTables
from resources.errors import StoreUnusable
from resources.ports import Compacted, Vacuumed
from resources.ports.tables import TableStore
from resources.table_maintenance import MANY_FILES, vacuum_table
from tests.resources.test_tables import ODD_SITES, frontier, rows, url_keys
from tests.support.s3 import storage_options

DAY = timedelta(days=1)


def aged(tables: DeltaTables, days: float) -> None:
    """Make all that was written so far older, as if it had been written so many days ago."""
    for path in Path(tables.location(names.T_FRONTIER)).rglob("*"):
        if path.suffix == ".json":
            stamps = r'("(?:deletionTimestamp|timestamp|modificationTime)":)(\d{13})'
            text = re.sub(
                stamps, lambda found: found[1] + str(int(found[2]) - int(days * 86_400_000)), path.read_text()
            )
            modified = path.stat().st_mtime
            path.write_text(text)
            os.utime(path, (modified, modified))
        if path.is_file():
            then = path.stat().st_mtime - days * 86_400
            os.utime(path, (then, then))


def put(tables: TableStore, key: str) -> None:
    tables.replace(names.T_FRONTIER, sites=["a:1"], rows=frontier("a:1", url_key=key))


def read_at(tables: TableStore, days_ago: float) -> list[str]:
    return [key for _, key in url_keys(tables, as_of=datetime.now(UTC) - days_ago * DAY)]


@pytest.fixture
def folder_tables(tmp_path: Path) -> DeltaTables:
    return DeltaTables(str(tmp_path), TABLES)


@pytest.mark.parametrize("table", [names.T_FETCHES, names.T_LINKS, names.T_SITE_SCHEDULE])
def test_compaction_makes_one_file_of_many_and_keeps_the_rows(tables: TableStore, table: str) -> None:
    sites = [*ODD_SITES[:4], "few"] if table == names.T_FETCHES else ["a"]
    for number in range(MANY_FILES):
        tables.append(table, rows(TABLES[table], *(sites if number < 2 else sites[:4]), crawl_id=str(number)))
    before = sorted(map(str, tables.read(table).to_pylist()))
    files = len(tables.files(table))
    done = tables.compact(table)
    crowded = min(len(sites), 4)
    assert (done.files_before, done.files_after, done.places_left) == (crowded * MANY_FILES, crowded, 0)
    assert done.size_bytes > 0
    assert len(tables.files(table)) == files - crowded * (MANY_FILES - 1)
    assert sorted(map(str, tables.read(table).to_pylist())) == before
    assert tables.compact(table) == Compacted()


def test_a_table_that_was_never_written_has_nothing_to_keep_up(tables: TableStore) -> None:
    assert tables.compact(names.T_FRONTIER) == Compacted()
    assert tables.vacuum(names.T_FRONTIER, keep_days=7, now=datetime.now(UTC)) == Vacuumed()


def test_writers_and_readers_do_not_notice_upkeep(store: tuple[object, TableStore, str]) -> None:
    _, tables, url = store
    options = storage_options(os.environ["AWS_ENDPOINT_URL"]) if url.startswith("s3:") else None
    other = DeltaTables(f"{url}/tables", TABLES, storage_options=options)
    steps, over = MANY_FILES + 2, threading.Event()

    def append(site: str) -> None:
        for step in range(steps):
            tables.append(names.T_FRONTIER, frontier(site, url_key=f"{step:02}"))

    def replace(site: str) -> None:
        for step in range(steps):
            tables.append(names.T_FRONTIER, frontier(site, url_key="lost"))
            tables.replace(names.T_FRONTIER, sites=[site], rows=frontier(site, url_key=f"{step:02}"))
            assert url_keys(tables, sites=[site]) == [(site, f"{step:02}")]

    def keep_up() -> int:
        files, is_last = 0, False
        while not is_last:
            is_last = over.is_set()
            files += other.compact(names.T_FRONTIER).files_before
            other.vacuum(names.T_FRONTIER, keep_days=1, now=datetime.now(UTC))
        return files

    with ThreadPoolExecutor(4) as pool:
        upkeep = pool.submit(keep_up)
        try:
            for one in [pool.submit(append, "a"), pool.submit(append, "b"), pool.submit(replace, "c")]:
                one.result()
        finally:
            over.set()
        assert upkeep.result() > 0
    expected = [(site, f"{step:02}") for site in "ab" for step in range(steps)]
    assert url_keys(tables) == url_keys(other) == [*expected, ("c", f"{steps - 1:02}")]


def test_versions_stay_readable_as_long_as_they_are_kept(folder_tables: DeltaTables) -> None:
    now = datetime.now(UTC)
    for key in ("oldest", "old"):
        put(folder_tables, key)
    aged(folder_tables, 10)
    put(folder_tables, "young")
    aged(folder_tables, 5)  # so the old ones are of 15 days ago
    put(folder_tables, "new")
    assert folder_tables.vacuum(names.T_FRONTIER, keep_days=20, now=now) == Vacuumed()
    assert read_at(folder_tables, 14.9) == ["old"]
    removed = folder_tables.vacuum(names.T_FRONTIER, keep_days=7, now=now)
    assert removed.files == 1
    assert removed.size_bytes > 0
    # What was current seven days ago is old, but needed until the young one came.
    assert [read_at(folder_tables, days) for days in (6.9, 5.1, 4.9, 0)] == [["old"], ["old"], ["young"], ["new"]]
    assert folder_tables.vacuum(names.T_FRONTIER, keep_days=7, now=now) == Vacuumed()


def test_what_is_removed_is_counted_and_what_is_current_stays_also_under_odd_names(
    store: tuple[object, TableStore, str],
) -> None:
    _, tables, url = store
    sites = ODD_SITES[:4]
    for key in ("old", "new"):
        tables.replace(names.T_FRONTIER, sites=sites, rows=frontier(*sites, url_key=key))
    options = storage_options(os.environ["AWS_ENDPOINT_URL"]) if url.startswith("s3:") else {}
    opened = DeltaTable(tables.location(names.T_FRONTIER), storage_options=options)
    later = datetime.now(UTC) + timedelta(seconds=2)
    removed = vacuum_table(opened, options, keep_days=0, now=later, longest_write=timedelta(0))
    assert removed.files == len(sites)
    assert removed.size_bytes > 1000 * len(sites)
    assert url_keys(tables) == [(site, "new") for site in sorted(sites)]


def test_a_log_is_cut_and_a_store_that_is_open_goes_on(folder_tables: DeltaTables) -> None:
    log, now = Path(folder_tables.location(names.T_FRONTIER), "_delta_log"), datetime.now(UTC)
    for key in ("first", "second"):
        put(folder_tables, key)
    other = DeltaTables(str(log.parents[1]), TABLES)
    assert url_keys(other) == [("a:1", "second")]
    for _ in range(2):  # the first leaves a checkpoint, from which the log can begin once that is old itself
        folder_tables.vacuum(names.T_FRONTIER, keep_days=7, now=now)
        aged(folder_tables, 9)
    folder_tables.vacuum(names.T_FRONTIER, keep_days=7, now=now)
    assert not list(log.glob("*0.json"))
    assert url_keys(other) == url_keys(folder_tables) == [("a:1", "second")]
    put(other, "third")
    assert url_keys(folder_tables) == [("a:1", "third")]
    with pytest.raises(StoreUnusable, match="no version is kept that is as old as"):
        read_at(folder_tables, 30)


def test_files_that_no_version_names_go_once_no_writer_can_be_at_them(folder_tables: DeltaTables) -> None:
    put(folder_tables, "kept")
    (file,) = map(Path, folder_tables.files(names.T_FRONTIER))
    file.with_name("old.parquet").write_bytes(b"left by a writer that was killed")
    aged(folder_tables, 9)
    file.with_name("new.parquet").write_bytes(b"of a writer at work")
    removed = folder_tables.vacuum(names.T_FRONTIER, keep_days=7, now=datetime.now(UTC))
    assert removed == Vacuumed(1, 32)
    assert {path.name for path in file.parent.iterdir()} == {file.name, "new.parquet"}

"""Behaviour of the table store: the same in a folder and in S3."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from assets import names
from assets.schemas import FETCHES, FRONTIER, LINKS, TABLES, UTC_TIME
from resources.delta_tables import DeltaTables
from resources.errors import BadRows, StoreUnusable
from resources.ports.tables import TableStore
from tests.support.s3 import storage_options

NOW = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
ODD_SITES = [
    "127.0.0.1:8080",
    "bücher.example",
    "o'neil.org",
    "a b",
    "a%3Ab",
    "x/y",
    "back\\slash",
    "' OR 1=1 --",
    "..",
]


NUMBERS = {pa.int32(): 2**30 + 1, pa.int64(): 2**62 + 1, pa.float64(): 0.1}
VALUES = NUMBERS | {pa.string(): "text", pa.bool_(): True, UTC_TIME: NOW}


def value(kind: pa.DataType) -> Any:
    """Make a value of a type."""
    if pa.types.is_list(kind):
        return [value(kind.value_type)] * 2
    return {field.name: value(field.type) for field in kind} if pa.types.is_struct(kind) else VALUES[kind]


def rows(schema: pa.Schema, *sites: str, **given: Any) -> pa.Table:
    """Make a row for each site, ``given`` values in some columns."""
    row = {field.name: value(field.type) for field in schema} | given
    return pa.Table.from_pylist([row | {"site": site} for site in sites], schema=schema)


def frontier(*sites: str, **given: Any) -> pa.Table:
    """Make frontier rows."""
    return rows(FRONTIER, *sites, **given)


def url_keys(tables: TableStore, **selection: Any) -> list[tuple[str, str]]:
    """Read the frontier as sorted pairs of site and url_key."""
    read = tables.read(names.T_FRONTIER, columns=["site", "url_key"], **selection)
    return sorted((row["site"], row["url_key"]) for row in read.to_pylist())


@pytest.mark.parametrize("table", [names.T_FETCHES, names.T_LINKS, names.T_PAGES, names.T_SEEDS])
def test_rows_come_back_as_they_were_with_the_declared_types(tables: TableStore, table: str) -> None:
    given = rows(TABLES[table], "a.example")
    tables.append(table, given)
    assert tables.read(table).equals(given)
    assert tables.read(table).schema.equals(TABLES[table], check_metadata=True)


def test_empty_lists_and_nulls_come_back(tables: TableStore) -> None:
    for table, empty in ((names.T_LINKS, {"hyperlinks": [], "resources": []}), (names.T_FETCHES, {"status": None})):
        given = rows(TABLES[table], "a.example", **empty)
        tables.append(table, given)
        assert tables.read(table).equals(given)


def test_a_table_that_was_never_written_reads_as_no_rows(tables: TableStore) -> None:
    assert tables.read(names.T_FRONTIER).equals(FRONTIER.empty_table())
    tables.append(names.T_FRONTIER, FRONTIER.empty_table())
    chosen = tables.read(
        names.T_FRONTIER, sites=["a"], columns=["url", "site"], as_of=NOW, where=ds.field("url") == "x"
    )
    assert (chosen.num_rows, chosen.column_names) == (0, ["url", "site"])
    assert tables.files(names.T_FRONTIER) == []


def test_a_read_can_choose_sites_columns_and_rows(tables: TableStore) -> None:
    for site in ("a", "b", "c"):
        tables.append(names.T_FRONTIER, frontier(site, url_key="low", priority=0.1))
        tables.append(names.T_FRONTIER, frontier(site, url_key="high", priority=0.9))
    where = (ds.field("priority") > 0.5) & (ds.field("site") != "b")
    assert url_keys(tables, sites=["b", "c", "unknown"], where=where) == [("c", "high")]
    assert url_keys(tables, sites=[]) == []
    assert tables.read(names.T_FRONTIER, columns=["url_key", "site"], sites=["a"]).column_names == ["url_key", "site"]


@pytest.mark.parametrize("site", ODD_SITES)
def test_odd_site_names_are_written_replaced_and_read(tables: TableStore, site: str) -> None:
    tables.append(names.T_FRONTIER, frontier("other.example", site, url_key="old"))
    tables.replace(names.T_FRONTIER, sites=[site], rows=frontier(site, site, url_key="new"))
    assert url_keys(tables, sites=[site]) == [(site, "new")] * 2
    assert url_keys(tables) == sorted([(site, "new"), (site, "new"), ("other.example", "old")])


@pytest.mark.parametrize("name", ["my data", "#1", "ü?", "50%", "it's {a}"])
def test_a_folder_with_an_odd_name_holds_tables(tmp_path: Path, name: str) -> None:
    tables = DeltaTables(str(tmp_path / name), TABLES)
    tables.append(names.T_FRONTIER, frontier("a:1"))
    assert url_keys(tables) == [("a:1", "text")]
    assert [Path(file).is_file() for file in tables.files(names.T_FRONTIER)] == [True]


@pytest.mark.parametrize("name", ["a[1]", "p%20q", "a|b", "a^b", "back\\slash"])
def test_a_folder_name_that_delta_lake_cannot_use_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreUnusable, match=r"a name that Delta Lake cannot use .* set ISOBATH_STORE to another one"):
        DeltaTables(str(tmp_path / name), TABLES)


def test_replace_swaps_the_rows_of_its_sites_only(tables: TableStore) -> None:
    tables.replace(names.T_FRONTIER, sites=["a", "b"], rows=frontier("a", "b", url_key="1"))
    tables.append(names.T_FRONTIER, frontier("c", url_key="1"))
    tables.replace(names.T_FRONTIER, sites=["a", "b"], rows=frontier("b", url_key="2"))
    assert url_keys(tables) == [("b", "2"), ("c", "1")]
    tables.replace(names.T_FRONTIER, sites=["b"], rows=FRONTIER.empty_table())
    tables.replace(names.T_FRONTIER, sites=[], rows=FRONTIER.empty_table())
    assert url_keys(tables) == [("c", "1")]
    assert len(tables.files(names.T_FRONTIER)) == 1


def test_writers_of_a_new_table_from_many_threads_are_all_kept(tables: TableStore) -> None:
    def write(number: int) -> None:
        for step in range(3):
            if number % 2:
                tables.append(names.T_FRONTIER, frontier(f"appended{number}", url_key=str(step)))
            else:
                tables.replace(names.T_FRONTIER, sites=[f"o'{number}"], rows=frontier(f"o'{number}", url_key=str(step)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    expected = [(f"appended{number}", str(step)) for number in (1, 3, 5, 7) for step in range(3)]
    assert url_keys(tables) == sorted(expected + [(f"o'{number}", "2") for number in (0, 2, 4, 6)])


def test_of_writers_of_one_site_the_last_stands(tables: TableStore) -> None:
    versions = [frontier("a", url_key=str(number)) for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda rows: tables.replace(names.T_FRONTIER, sites=["a"], rows=rows), versions))
    assert len(url_keys(tables)) == 1


@pytest.mark.slow
def test_writers_in_two_processes_are_all_kept(store: tuple[object, TableStore, str]) -> None:
    _, tables, url = store
    program = (
        "import sys; from assets.schemas import TABLES; from resources.delta_tables import DeltaTables\n"
        "from tests.support.s3 import storage_options; from tests.resources.test_tables import frontier\n"
        "url, endpoint, name = sys.argv[1:]\n"
        "tables = DeltaTables(url, TABLES, storage_options=storage_options(endpoint) if endpoint else None)\n"
        "for step in range(4):\n"
        "    tables.append('frontier', frontier('shared', url_key=name + str(step)))\n"
        "    tables.replace('frontier', sites=[name], rows=frontier(name, url_key=str(step)))\n"
    )
    endpoint = os.environ["AWS_ENDPOINT_URL"] if url.startswith("s3:") else ""
    command, root = [sys.executable, "-c", program, f"{url}/tables", endpoint], Path(__file__).parents[2]
    writers = [subprocess.Popen([*command, name], cwd=root) for name in ("first", "second")]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    appended = [("shared", f"{name}{step}") for name in ("first", "second") for step in range(4)]
    assert url_keys(tables) == sorted([*appended, ("first", "3"), ("second", "3")])


def test_a_read_as_of_a_moment_shows_that_moment(tables: TableStore) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    tables.append(names.T_FRONTIER, frontier("a", url_key="old"))
    tables.replace(names.T_FRONTIER, sites=["a"], rows=frontier("a", url_key="new"))
    assert url_keys(tables, as_of=before) == []
    assert url_keys(tables, as_of=datetime.now(UTC) + timedelta(seconds=2)) == [("a", "new")]


def test_a_read_as_of_a_moment_between_two_commits_shows_the_first(tmp_path: Path) -> None:
    tables = DeltaTables(str(tmp_path), TABLES)
    tables.append(names.T_FRONTIER, frontier("a", url_key="old"))
    (newest,) = (tmp_path / names.T_FRONTIER / "_delta_log").glob("*1.json")
    between = datetime.fromtimestamp(newest.stat().st_mtime + 0.001, UTC)
    while datetime.now(UTC) < between + timedelta(milliseconds=5):
        pass
    tables.replace(names.T_FRONTIER, sites=["a"], rows=frontier("a", url_key="new"))
    assert url_keys(tables, as_of=between.astimezone(timezone(timedelta(hours=5)))) == [("a", "old")]
    with pytest.raises(ValueError, match="aware"):
        url_keys(tables, as_of=between.replace(tzinfo=None))


def test_files_can_be_chosen_by_site_and_read_by_anything(tables: TableStore) -> None:
    tables.append(names.T_FRONTIER, frontier("a:1", "b", "c"))
    tables.append(names.T_FRONTIER, frontier("a:1"))
    assert [len(tables.files(names.T_FRONTIER, sites=chosen)) for chosen in (None, ["a:1"], ["b", "c"], [])] == [
        4,
        2,
        2,
        0,
    ]
    for file in tables.files(names.T_FRONTIER):
        assert file.startswith(tables.location(names.T_FRONTIER))
        if not file.startswith("s3://"):
            assert pq.ParquetFile(file).metadata.num_rows == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"url_key": pa.nulls(1, pa.string())}, "column 'url_key': 1 nulls"),
        ({"url_key": pa.nulls(1)}, "column 'url_key': 1 nulls"),
        ({"url_key": pa.array([7])}, "column 'url_key': int64 given, string wanted"),
        ({"in_links": pa.array(["7"])}, "column 'in_links': string given, int64 wanted"),
        ({"in_links": pa.array([2**64 - 1], pa.uint64())}, "column 'in_links': Integer value"),
        ({"other_urls": pa.array([[1]])}, "column 'other_urls'"),
        ({"other_urls": pa.array([{"a": 1}])}, "column 'other_urls'"),
        ({"site": pa.array([""])}, "column 'site': an empty site"),
        ({"stranger": pa.array([""])}, r"unknown: \['stranger'\]"),
    ],
    ids=["null", "null type", "number for text", "text for number", "range", "list", "struct", "no site", "unknown"],
)
def test_bad_rows_are_refused_by_table_and_column(
    tables: TableStore, changed: dict[str, pa.Array], message: str
) -> None:
    columns = {name: frontier("a")[name] for name in FRONTIER.names} | changed
    with pytest.raises(BadRows, match=f"table 'frontier'.*{message}"):
        tables.append(names.T_FRONTIER, pa.table(columns))
    with pytest.raises(BadRows, match=f"table 'frontier'.*{message}"):
        tables.replace(names.T_FRONTIER, sites=["a", ""], rows=pa.table(columns))
    assert url_keys(tables) == []


def test_missing_columns_other_sites_and_other_tables_are_refused(tables: TableStore) -> None:
    with pytest.raises(BadRows, match=r"table 'frontier': columns missing: \['url'\]"):
        tables.append(names.T_FRONTIER, frontier("a").drop_columns("url"))
    with pytest.raises(BadRows, match=r"rows of \['b'\], which are not among"):
        tables.replace(names.T_FRONTIER, sites=["a"], rows=frontier("a", "b"))
    for attempt in (tables.read, tables.files, tables.location, lambda table: tables.append(table, frontier("a"))):
        with pytest.raises(BadRows, match="there is no table 'nothing'"):
            attempt("nothing")
    with pytest.raises(BadRows, match=r"table 'frontier' has no column \['nothing'\]"):
        tables.read(names.T_FRONTIER, columns=["nothing"])


def test_a_null_inside_a_struct_is_refused(tables: TableStore) -> None:
    link = {"url": None, "url_key": "k", "kind": "a", "anchor": "", "rel": ""}
    loose = pa.array([[link]])
    links = rows(LINKS, "a").drop_columns("hyperlinks").append_column("hyperlinks", loose)
    with pytest.raises(BadRows, match=r"table 'links', column 'hyperlinks': .*'url'"):
        tables.append(names.T_LINKS, links)


def test_columns_that_fit_without_loss_are_cast_and_put_in_order(tables: TableStore) -> None:
    strict = frontier("a", in_links=7)
    loose = {name: strict[name] for name in reversed(FRONTIER.names)}
    loose["url"] = strict["url"].cast(pa.large_string())
    loose["layer"] = strict["layer"].dictionary_encode()
    loose["in_links"] = strict["in_links"].cast(pa.int8())
    loose["other_urls"] = strict["other_urls"].cast(pa.large_list(pa.large_string()))
    tables.append(names.T_FRONTIER, pa.table(loose))
    assert tables.read(names.T_FRONTIER).equals(strict)


def test_what_columns_mean_stands_in_the_table_itself(tmp_path: Path) -> None:
    tables = DeltaTables(str(tmp_path), TABLES)
    tables.append(names.T_FETCHES, rows(FETCHES, "a"))
    tables.append(names.T_FETCHES, rows(FETCHES, "a"))
    stored = {field.name: field for field in DeltaTable(tables.location(names.T_FETCHES)).schema().fields}
    assert stored["fetch_ms"].metadata == {"description": "from sending to the last byte", "unit": "ms"}
    assert [field.nullable for field in stored.values()] == [field.nullable for field in FETCHES]


def test_a_folder_that_cannot_be_used_is_not_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    tables = DeltaTables(str(tmp_path / "file" / "tables"), TABLES)
    for attempt in (tables.read, tables.files, lambda table: tables.append(table, frontier("a"))):
        with pytest.raises(StoreUnusable, match=r"^The folder '.*' cannot be used \(Not a directory\): .*_STORE"):
            attempt(names.T_FRONTIER)


@pytest.mark.slow
def test_a_bucket_that_cannot_be_used_is_not_an_empty_table(s3_server: str) -> None:
    missing = DeltaTables("s3://no-such-bucket/tables", TABLES, storage_options=storage_options(s3_server))
    options = storage_options("http://127.0.0.1:1") | {"max_retries": "1"}
    silent = DeltaTables("s3://bucket/tables", TABLES, storage_options=options)
    for tables, message in (
        (missing, "The bucket 'no-such-bucket' does not exist: create it"),
        (silent, "cannot be reached .*: check the network and the AWS_"),
    ):
        with pytest.raises(StoreUnusable, match=message):
            tables.read(names.T_FRONTIER)
        with pytest.raises(StoreUnusable, match=message):
            tables.append(names.T_FRONTIER, frontier("a"))

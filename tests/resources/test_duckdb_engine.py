"""The DuckDB engine: plain Arrow types, many threads, no extension downloads."""

import threading
from datetime import UTC, datetime

import ibis
import pyarrow as pa

from resources.duckdb_engine import DuckDBEngine
from resources.ports import QueryEngine

SIGHTINGS = pa.table(
    {
        "page": pa.array(["/a", "/b", "/b"], pa.string()),
        "visits": pa.array([1, 2, 3], pa.int64()),
        "tags": pa.array([["x"], [], ["y", "z"]], pa.list_(pa.string())),
        "seen_at": pa.array([datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 3)], pa.timestamp("us", tz="UTC")),
    }
)


def visits_by_page() -> ibis.Table:
    rows = ibis.memtable(SIGHTINGS)
    return rows.group_by("page").agg(visits=rows.visits.sum(), last_at=rows.seen_at.max()).order_by("page")


def test_it_fits_the_port() -> None:
    assert isinstance(DuckDBEngine(), QueryEngine)


def test_sums_texts_and_times_come_back_in_plain_types() -> None:
    rows = DuckDBEngine().run(visits_by_page())
    assert rows.schema.types == [pa.string(), pa.int64(), pa.timestamp("us", tz="UTC")]
    assert rows.to_pylist() == [
        {"page": "/a", "visits": 1, "last_at": datetime(2024, 1, 1, tzinfo=UTC)},
        {"page": "/b", "visits": 5, "last_at": datetime(2024, 1, 3, tzinfo=UTC)},
    ]


def test_large_strings_become_strings() -> None:
    rows = DuckDBEngine().run(ibis.memtable(pa.table({"page": pa.array(["/a"], pa.large_string())})))
    assert rows.schema.types == [pa.string()]


def test_an_empty_table_keeps_its_columns() -> None:
    rows = DuckDBEngine().run(ibis.memtable(SIGHTINGS.slice(0, 0)))
    assert (rows.num_rows, rows.column_names) == (0, SIGHTINGS.column_names)


def test_lists_unnest() -> None:
    rows = ibis.memtable(SIGHTINGS)
    tags = rows.select(tag=rows.tags.unnest()).order_by("tag")
    assert DuckDBEngine().run(tags).column("tag").to_pylist() == ["x", "y", "z"]


def test_threads_share_an_engine_and_an_expression() -> None:
    engine, expression = DuckDBEngine(), visits_by_page()
    answers: list[list[int]] = []

    def ask() -> None:
        answers.append(engine.run(expression).column("visits").to_pylist())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[1, 5]] * 4

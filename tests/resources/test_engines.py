"""What every query engine does, beside the expressions of the rooms."""

from datetime import UTC, datetime

import ibis
import pyarrow as pa

from resources.ports import QueryEngine


def test_rows_keep_their_types_and_nulls(engine: QueryEngine) -> None:
    rows = pa.table(
        {
            "number": pa.array([1, None, -(2**63)], pa.int64()),
            "small": pa.array([1, 2, None], pa.int32()),
            "text": pa.array(["a", None, ""], pa.string()),
            "words": pa.array([["a"], [], None], pa.list_(pa.string())),
            "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
        }
    )
    table = ibis.memtable(rows)

    assert engine.run(table).sort_by("small").equals(rows)
    assert engine.run(table.filter(table.number == 5)).schema == rows.schema

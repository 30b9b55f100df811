"""Tables outlive releases: a store that is older than a column is read and written all the same."""

from pathlib import Path

import pyarrow as pa
import pytest

from resources.delta_tables import DeltaTables
from resources.errors import BadRows


def test_a_table_that_is_older_than_a_column_gets_it(tmp_path: Path) -> None:
    site, name = pa.field("site", pa.string(), nullable=False), pa.field("name", pa.string(), nullable=False)
    old = DeltaTables(str(tmp_path), {"t": pa.schema([site, name])})
    old.append("t", pa.table({"site": ["a", "b"], "name": ["first", "second"]}))
    grown = pa.schema(
        [
            site,
            name,
            pa.field("words", pa.int64(), nullable=False),
            pa.field("tags", pa.list_(pa.string()), nullable=False),
            pa.field("note", pa.string()),
        ]
    )
    new = DeltaTables(str(tmp_path), {"t": grown})
    empty = {"words": 0, "tags": [], "note": None}
    before = [{"site": "a", "name": "first", **empty}, {"site": "b", "name": "second", **empty}]
    assert new.read("t").sort_by("site").to_pylist() == before
    young = {"site": "c", "name": "third", "words": 3, "tags": ["x"], "note": "n"}
    new.append("t", pa.Table.from_pylist([young], schema=grown))
    assert new.read("t").sort_by("site").to_pylist() == [*before, young]
    with pytest.raises(BadRows, match="words"):
        new.append("t", pa.Table.from_pylist([{**young, "words": None}], schema=grown))
    new.replace("t", sites=["a"], rows=pa.Table.from_pylist([{**young, "site": "a"}], schema=grown))
    assert new.read("t", sites=["a"]).to_pylist() == [{**young, "site": "a"}]
    assert new.read("t").schema.equals(grown)

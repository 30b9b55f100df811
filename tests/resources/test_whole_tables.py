"""Tables that are not split by site."""

from pathlib import Path

import pyarrow as pa

from resources.delta_tables import DeltaTables


def schema(meaning: str) -> pa.Schema:
    site = pa.field("site", pa.string(), nullable=False)
    number = pa.field("number", pa.int64(), nullable=False, metadata={"description": meaning})
    return pa.schema([site, number], metadata={"partitioned": "no"})


def rows(**numbers: int) -> pa.Table:
    return pa.table({"site": list(numbers), "number": list(numbers.values())})


def test_a_table_that_is_not_split_by_site_keeps_to_the_port(tmp_path: Path) -> None:
    tables = DeltaTables(str(tmp_path), {"t": schema("a number")})
    tables.append("t", rows(a=1, b=2, c=3))
    assert len(tables.files("t")) == 1
    assert Path(tables.files("t", sites=["a"])[0]).is_file()
    again = DeltaTables(str(tmp_path), {"t": schema("said in other words")})
    again.replace("t", sites=["a", "d"], rows=rows(a=5, d=4))
    assert again.read("t").sort_by("site").to_pylist() == rows(a=5, b=2, c=3, d=4).to_pylist()
    assert again.read("t", sites=["b", "d"]).sort_by("site").to_pylist() == rows(b=2, d=4).to_pylist()
    assert again.read("t", sites=["d"], columns=["number"]).to_pylist() == [{"number": 4}]
    again.replace("t", sites=["b"], rows=rows().cast(schema("x")))
    assert again.read("t", sites=["b"]).num_rows == 0
    assert again.read("t").num_rows == 3

"""A table that is kept open shows what was written to it, by whomever, and the files that deltalake itself names."""

import shutil
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from resources.delta_tables import DeltaTables
from resources.kept_table import KeptTable

SCHEMA = pa.schema([pa.field("site", pa.string(), nullable=False), pa.field("n", pa.int64(), nullable=False)])
SITES = ("docs.example.org", "127.0.0.1:8091", "a b%20c", "ä.example", "x=y")


def row(site: str, n: int) -> pa.Table:
    return pa.table({"site": [site], "n": [n]}, schema=SCHEMA)


def test_a_reader_sees_each_commit_of_another_writer(tmp_path: Path) -> None:
    reader, writer = (DeltaTables(str(tmp_path), {"t": SCHEMA}) for _ in range(2))
    assert reader.read("t").num_rows == 0
    # More than what a table is kept open for.
    for n in range(60):
        writer.append("t", row("a.example", n))
        if n % 7 == 0:
            reader.append("t", row("b.example", n))
        assert sorted(reader.read("t", sites=["a.example"])["n"].to_pylist()) == list(range(n + 1))
        assert reader.read("t", sites=["b.example"]).num_rows == n // 7 + 1


def test_the_files_of_a_site_are_those_that_deltalake_names(tmp_path: Path) -> None:
    tables = DeltaTables(str(tmp_path), {"t": SCHEMA})
    for n in range(3):
        for site in SITES:
            tables.append("t", row(site, n))
    tables.replace("t", sites=["x=y"], rows=row("x=y", 9))
    kept = KeptTable(str(tmp_path / "t"), storage_options={})
    current = kept.current()
    assert current is not None
    named = DeltaTable(str(tmp_path / "t")).file_uris()
    assert sorted(kept.paths(current, "site", None)) == sorted(named)
    for site in SITES:
        files = kept.paths(current, "site", [site])
        assert len(files) == (1 if site == "x=y" else 3)
        assert {unquote(Path(file).parent.name) for file in files} == {f"site={site}"}
        assert all(Path(file).is_file() for file in files)


def test_a_table_that_is_made_anew_is_not_mistaken_for_the_old_one(tmp_path: Path) -> None:
    reader, writer = (DeltaTables(str(tmp_path), {"t": SCHEMA}) for _ in range(2))
    for n in range(4):
        writer.append("t", row("a.example", n))
    assert reader.read("t", sites=["a.example"]).num_rows == 4
    shutil.rmtree(tmp_path / "t")
    DeltaTables(str(tmp_path), {"t": SCHEMA}).append("t", row("a.example", 7))
    assert reader.read("t", sites=["a.example"])["n"].to_pylist() == [7]

"""``isobath duplicates``, as a person meets it: look, export, label, take in."""

import csv
import json
from pathlib import Path

import pytest

from assets import names
from assets.dedup.near import near_duplicates_of_sites
from pipelines.cli import main
from pipelines.deployments import deploy, settings_from
from resources.duckdb_engine import DuckDBEngine
from resources.ports import TableStore
from tests.support.content import StoredPage, store

pytestmark = pytest.mark.slow
WORDS = [f"word{number}" for number in range(100)]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableStore:
    """Give a store with two pages that differ in a word."""
    monkeypatch.setenv("ISOBATH_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("COLUMNS", "300")
    tables = deploy(settings_from({"ISOBATH_STORE": str(tmp_path / "store")})).tables
    edited = [*WORDS[:50], "edited", *WORDS[51:]]
    store(
        tables, [StoredPage("a", f"https://a/{name}", " ".join(text)) for name, text in (("x", WORDS), ("y", edited))]
    )
    materialize(tables)
    return tables


def materialize(tables: TableStore) -> int:
    result = near_duplicates_of_sites(tables, DuckDBEngine(), ["a"])
    tables.replace(names.T_NEAR_PAIRS, sites=["a"], rows=result.pairs)
    return len(result.duplicates)


def isobath(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["duplicates", *arguments])
    return int(ended.value.code or 0)


def test_pairs_are_shown_with_what_differs(tables: TableStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert isobath("a") == 0
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("https://a/x", "https://a/y", "word50", "edited", "0.901"))

    assert isobath("a", "--json") == 0
    pair = json.loads(capsys.readouterr().out)["pairs"][0]
    assert (pair["only_here"], pair["only_there"], pair["verdict"]) == ("word50", "edited", "")


def test_a_labelled_export_is_honoured_by_the_next_run(tables: TableStore, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    assert isobath("a", "--csv", str(file)) == 0
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    with file.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "verdict": "Different"} for row in rows)

    assert materialize(tables) == 1
    assert isobath("a", "--verdicts", str(file)) == 0
    assert materialize(tables) == 0
    assert set(tables.read(names.T_NEAR_PAIRS)["veto"].to_pylist()) == {"reviewer"}


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("site,verdict\n", "columns missing: other_key, other_site, url_key"),
        (
            "site,url_key,other_site,other_key,verdict\na,x,a,y,maybe\n",
            "line 2: verdict 'maybe': use same or different",
        ),
        ("site,url_key,other_site,other_key,verdict\nb,x,a,y,same\n", "line 2: site 'b' is not 'a'"),
        (
            "site,url_key,other_site,other_key,verdict\na,x,a,y,same\na,y,a,x,different\n",
            "line 3: the same pair has another verdict further up",
        ),
    ],
    ids=["columns", "word", "site", "twice"],
)
def test_a_file_that_says_nothing_clear_is_refused(
    tables: TableStore, tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, complaint: str
) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(lines)

    assert isobath("a", "--verdicts", str(file)) == 2
    assert complaint in capsys.readouterr().err
    assert tables.read(names.T_DUPLICATE_VERDICTS).num_rows == 0

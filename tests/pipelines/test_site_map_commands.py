"""``isobath findings, map, diff, report, metrics``, as a person meets them."""

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.cli import main
from pipelines.deployments import deploy, settings_from
from tests.support.hand_made_crawl import HOST, SITE, Crawl
from tests.support.memory import MemoryTables

pytestmark = pytest.mark.slow
Isobath = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a store that holds two mapped crawls of a small site."""
    folder = str(tmp_path_factory.mktemp("store"))
    tables = deploy(settings_from({"ISOBATH_STORE": folder})).tables
    made = MemoryTables()
    for crawl_id, paths in (("1", ["/a"]), ("2", ["/a", "/b"])):
        crawl = Crawl(crawl_id, tables=made)
        crawl.asked("/", "depth_0", "seed")
        for path in paths:
            crawl.asked(path)
        crawl.asked("/gone", outcome="gone", status=404)
        crawl.page("/", *paths, "/gone|=gone")
        crawl.mapped()
    for table, rows in made.rows.items():
        tables.replace(table, sites=[SITE], rows=rows)
    return folder


@pytest.fixture
def isobath(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Isobath:
    """Run the command line on that store."""
    monkeypatch.setenv("ISOBATH_STORE", store)
    monkeypatch.setenv("ISOBATH_SITES", str(tmp_path / "sites.yaml"))
    monkeypatch.setenv("COLUMNS", "300")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def test_findings_are_counted_and_shown_by_name(isobath: Isobath) -> None:
    code, text, _ = isobath("findings", SITE)
    assert (code, "dead_link" in text, "orphan" in text) == (0, True, False)
    rows = json.loads(isobath("findings", f"{HOST}/", "--name", "dead_link", "--json")[1])
    shown = [(row["url"], row["on_url"], row["detail"]) for row in rows]
    assert shown == [(f"{HOST}/gone", f"{HOST}/", "=gone")]
    table = list(csv.DictReader(io.StringIO(isobath("findings", SITE, "--name", "dead_link", "--csv")[1])))
    assert [row["detail"] for row in table] == ["'=gone"]
    code, _, error = isobath("findings", SITE, "--name", "dead")
    assert (code, "use one of dead_link" in error) == (2, True)
    code, _, error = isobath("findings", "other.example")
    assert (code, "other.example was not mapped" in error) == (2, True)


def test_two_crawls_are_compared(isobath: Isobath) -> None:
    rows = json.loads(isobath("diff", SITE, "--json")[1])
    assert [(row["change"], row["url"]) for row in rows] == [("added", f"{HOST}/b")]
    assert json.loads(isobath("diff", SITE, "--before", "2", "--after", "1", "--json")[1])[0]["change"] == "removed"
    assert f"{HOST}/b" in isobath("diff", SITE, "--change", "added")[1]
    code, _, error = isobath("diff", SITE, "--before", "7")
    assert (code, "there is no finished crawl '7'" in error) == (2, True)
    assert [row["live_pages"] for row in json.loads(isobath("diff", SITE, "--history", "--json")[1])] == [2, 3]


@pytest.mark.parametrize(
    ("form", "name", "files"),
    [
        ("csv", "folder", ["links.csv", "pages.csv", "redirects.csv", "resources.csv", "sections.csv"]),
        ("sitemap", "folder", ["sitemap.xml"]),
        ("json", "map.json", None),
        ("tree", "tree.json", None),
        ("graphml", "map.graphml", None),
        ("sqlite", "map.sqlite", None),
    ],
)
def test_a_map_is_written_in_each_format(
    isobath: Isobath, tmp_path: Path, form: str, name: str, files: list[str] | None
) -> None:
    out = tmp_path / "new" / name
    code, told, error = isobath("map", SITE, "--format", form, "--out", str(out))
    assert code == 0, error
    assert str(out) in told
    if files is not None:
        assert sorted(path.name for path in out.iterdir()) == files
    elif form == "sqlite":
        with closing(sqlite3.connect(out)) as database:
            assert database.execute("SELECT count(*) FROM urls").fetchone() == (4,)
    else:
        assert f"{HOST}/b" in out.read_text()


def test_redirects_need_a_new_site_and_formats_a_name(isobath: Isobath, tmp_path: Path) -> None:
    out = str(tmp_path / "redirects.csv")
    assert isobath("map", SITE, "--format", "redirects", "--out", out, "--to", SITE)[0] == 0
    assert Path(out).read_text().splitlines()[0] == "old_url,new_url,similarity,evidence,title"
    assert isobath("map", SITE, "--format", "redirects", "--out", out)[0] == 2
    assert "there is no format 'xml'" in isobath("map", SITE, "--format", "xml", "--out", out)[2]


def test_the_report_and_the_metrics_are_files(isobath: Isobath, tmp_path: Path) -> None:
    code, told, error = isobath("report", SITE, "--out", str(tmp_path / "report.html"))
    assert (code, told.strip()) == (0, str(tmp_path / "report.html")), error
    assert "Since crawl 1." in (tmp_path / "report.html").read_text()
    assert isobath("metrics", "--out", str(tmp_path / "isobath.prom"))[0] == 0
    assert (tmp_path / "isobath.prom").read_text() == isobath("metrics", SITE)[1]

"""The commands that give out what is stored, on a store that holds a crawl of the small site."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from pipelines.api import open_store
from pipelines.cli import main
from resources.errors import BadSettings
from tests.support.loopback import LoopbackSite, small_site

pytestmark = pytest.mark.slow


class Shell:
    """The command line on one store."""

    def __init__(self, site: LoopbackSite, capsys: pytest.CaptureFixture[str]) -> None:
        self.site, self.capsys = site, capsys

    def run(self, *arguments: str, code: int = 0) -> str:
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        said = self.capsys.readouterr()
        assert (ended.value.code or 0) == code, said.err
        return said.err if code else said.out


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackSite]:
    folder = tmp_path_factory.mktemp("crawled")
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DAGSTER_HOME", str(folder))
        environment.setenv("ISOBATH_STORE", str(folder / "store"))
        environment.setenv("ISOBATH_SITES", str(folder / "sites.yaml"))
        environment.setenv("ISOBATH_WORKERS", "1")
        environment.setenv("COLUMNS", "400")
        with LoopbackSite(small_site()) as site, pytest.raises(SystemExit):
            main(["crawl", site.url("/"), "--min-delay", "0", "--allow-private-networks", "--json"])
        yield site


@pytest.fixture
def shell(crawled: LoopbackSite, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(crawled, capsys)


def test_a_stored_page_is_shown_as_text_as_sent_and_by_its_headers(shell: Shell) -> None:
    url = shell.site.url("/guide/echo")
    markdown = shell.run("show", url)
    assert "echo" in markdown.lower()
    assert "<p>" not in markdown
    assert shell.run("show", f"{url}?utm_source=x", "--markdown") == markdown
    assert "<p>" in shell.run("show", url, "--html")
    headers = shell.run("show", url, "--headers").splitlines()
    assert headers[0].startswith(f"200 {url} ")
    assert any(line.lower().startswith("content-type: text/html") for line in headers)
    assert shell.run("show", url, "--as-of", "2099-01-01") == markdown
    assert "no copy" in shell.run("show", url, "--as-of", "2001-01-01", code=1)
    assert "no copy" in shell.run("show", shell.site.url("/never"), code=1)
    assert "ask for one of them" in shell.run("show", url, "--html", "--headers", code=2)


def test_hits_are_filtered_and_paged(shell: Shell) -> None:
    def found(*arguments: str) -> list[str]:
        return [hit["url"] for hit in json.loads(shell.run("search", *arguments, "--json"))]

    whole = found("depth")
    assert len(whole) > 2
    assert found("depth", "--limit", "1", "--page", "2") == whole[1:2]
    assert found("测深", "--lang", "zh") == [shell.site.url("/zh/")]
    assert found("测深", "--lang", "en") == []
    assert found("depth", "--after", "2099-01-01") == []
    assert "Nothing more" in shell.run("search", "depth", "--page", "99")


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "markdown"])
def test_an_export_holds_what_was_chosen_and_its_manifest_is_true(shell: Shell, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "out"
    said = json.loads(shell.run("export", str(folder), "--format", kind, "--json"))
    manifest = json.loads((folder / "manifest.json").read_text())

    assert manifest == said
    for file in manifest["files"]:
        data = (folder / file["file"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
    written = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert written == sorted(["manifest.json", *(file["file"] for file in manifest["files"])])
    assert sum(file["pages"] for file in manifest["files"]) == manifest["pages"] > 5
    assert urls_in(folder, kind) == sorted(document["url"] for document in fed(shell))
    assert "holds something already" in shell.run("export", str(folder), code=2)


def fed(shell: Shell) -> list[dict[str, Any]]:
    lines = shell.run("feed", shell.site.host, "--since", "0").splitlines()
    return [change["document"] for change in map(json.loads, lines) if change["op"] == "upsert"]


def urls_in(folder: Path, kind: str) -> list[str]:
    if kind == "parquet":
        return sorted(pl.scan_parquet(folder / "*.parquet").collect()["url"].to_list())
    if kind == "jsonl":
        lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().split("\n")[:-1]]
        return sorted(json.loads(line)["url"] for line in lines)
    fronts = [path.read_text().split("---\n")[1] for path in folder.rglob("*.md")]
    return sorted(yaml.safe_load(front)["url"] for front in fronts)


@pytest.mark.parametrize(
    ("flags", "fits"),
    [
        (["--lang", "zh"], lambda page: page["language"].startswith("zh")),
        (["--section", "/guide/"], lambda page: page["section"].startswith("/guide/")),
        (["--min-characters", "300"], lambda page: len(page["text"]) >= 300),
        (["--after", "2099-01-01"], lambda page: False),
    ],
)
def test_filters_of_an_export(
    shell: Shell, tmp_path: Path, flags: list[str], fits: Callable[[dict[str, Any]], bool]
) -> None:
    manifest = json.loads(shell.run("export", str(tmp_path / "out"), "--json", *flags))
    assert manifest["pages"] == sum(map(fits, fed(shell)))


def test_duplicates_are_in_an_export_when_asked_for_and_unknown_sites_are_said(shell: Shell, tmp_path: Path) -> None:
    manifest = json.loads(shell.run("export", str(tmp_path / "out"), "--with-duplicates", "--json"))
    assert manifest["pages"] > len(fed(shell))
    assert "no pages of nowhere.example" in shell.run(
        "export", str(tmp_path / "no"), "--site", "nowhere.example", code=2
    )


def test_a_notebook_reads_pages_tables_and_hits(shell: Shell) -> None:
    store = open_store()
    (site,) = store.sites()
    pages = store.pages()
    assert sorted(pages.polars()["url"].to_list()) == sorted(document["url"] for document in fed(shell))
    assert len(pages.duckdb().filter("length(markdown) > 0").fetchall()) == len(pages)
    assert len(store.pages(sites=[])) == 0
    assert set(store.table("fetches", sites=[site], columns=["site"]).arrow["site"].to_pylist()) == {site}
    assert store.search("测深", language="zh")[0].url == shell.site.url("/zh/")
    with pytest.raises(BadSettings, match="no table 'fetch'"):
        store.table("fetch")

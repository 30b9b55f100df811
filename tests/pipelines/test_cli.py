"""The command line as a person meets it: exit codes, sentences, and what is there afterwards."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from pipelines.cli import main
from tests.support.loopback import LoopbackSite, Page, small_site

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def isobath(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process, on a store and an instance of its own."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    monkeypatch.setenv("ISOBATH_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("ISOBATH_SITES", str(tmp_path / "sites.yaml"))
    monkeypatch.setenv("ISOBATH_WORKERS", "1")
    monkeypatch.setenv("COLUMNS", "400")

    def run(*arguments: str) -> Said:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        said = capsys.readouterr()
        code = ended.value.code
        return Said(code if isinstance(code, int) else 0, said.out, said.err)

    return run


def answered(answers: str, *arguments: str) -> Said:
    """Run the command line as a program of its own, with these answers on its standard input."""
    command = [sys.executable, "-m", "pipelines", *arguments]
    done = subprocess.run(command, input=answers, capture_output=True, text=True, timeout=120, check=False)
    return Said(done.returncode, done.stdout, done.stderr)


def flags(site: LoopbackSite) -> list[str]:
    return ["crawl", site.url("/"), "--min-delay", "0", "--allow-private-networks"]


def test_a_crawl_ends_with_a_summary_and_can_be_searched_and_listed(isobath: Run, tmp_path: Path) -> None:
    with LoopbackSite(small_site()) as site:
        said = isobath(*flags(site))
    assert said.code == 0, said.err
    assert "12" in said.out
    for shown in ("WARC files", "tables", "reports", "1 exact", "isobath search"):
        assert shown in said.out
    found = json.loads(isobath("search", "echo sounder", "--json").out)
    assert any(hit["url"].endswith("/guide/echo") for hit in found)
    assert [hit["url"] for hit in json.loads(isobath("search", "测深", "--json").out)] == [site.url("/zh/")]
    assert [hit["url"] for hit in json.loads(isobath("search", "水の深さ", "--json").out)] == [site.url("/ja/")]
    rows = json.loads(isobath("sites", "--json").out)
    assert [(row["site"], row["state"], row["live"]) for row in rows] == [(site.host, "ok", 12)]
    with dg.DagsterInstance.get() as instance:
        runs = instance.get_runs()
        assert [(run.job_name, run.status.value) for run in runs] == [("crawl_site", "SUCCESS")]
        assert runs[0].tags["dagster/partition"] == site.host


def test_json_is_for_machines(isobath: Run) -> None:
    with LoopbackSite(small_site()) as site:
        summary = json.loads(isobath(*flags(site), "--json", "--max-depth", "1").out)
    assert summary["outcome"] == "ok"
    assert summary["pages_by_outcome"] == {"fetched": 6, "gone": 1, "robots_denied": 1}


def test_several_sites_are_refreshed_in_one_run(isobath: Run) -> None:
    with LoopbackSite(small_site()) as one, LoopbackSite(small_site()) as other:
        for site in (one, other):
            assert isobath(*flags(site)).code == 0
        said = isobath("refresh", one.host, other.url("/"), "--json")
        assert said.code == 0, said
        assert [(told["site"], told["outcome"]) for told in json.loads(said.out)] == [
            (one.host, "ok"),
            (other.host, "ok"),
        ]


def test_a_depth_beyond_the_default_graph_is_crawled(isobath: Run) -> None:
    pages = {f"/{n}": Page(f'<title>{n}</title><p>Page {n}.</p><a href="/{n + 1}">on</a>') for n in range(6)}
    with LoopbackSite({"/": Page('<a href="/0">start</a>'), **pages}) as site:
        said = isobath(*flags(site), "--max-depth", "5", "--json")
    assert json.loads(said.out)["pages_by_depth"]["depth_5"] == {"fetched": 1}


def test_an_unreachable_seed_is_said(isobath: Run) -> None:
    with LoopbackSite({}) as site:
        arguments = flags(site)
    said = isobath(*arguments)
    assert said.code == 3
    assert f"{site.host} was not crawled: {site.url('/')}: its robots.txt does not answer" in said.err


def test_a_seed_that_leads_off_the_site_is_said(isobath: Run) -> None:
    with LoopbackSite({"/": Page("", 301, (("Location", "http://elsewhere.example/home"),))}) as site:
        said = isobath(*flags(site))
        assert site.paths_seen() == ["/robots.txt", "/"]
    assert said.code == 3
    assert "it redirects to http://elsewhere.example/home, which is outside this site" in said.err


def test_a_site_that_forbids_everything_is_left_alone(isobath: Run) -> None:
    with LoopbackSite(small_site(), robots="User-agent: *\nDisallow: /\n") as site:
        said = isobath(*flags(site))
        assert site.paths_seen() == ["/robots.txt"]
    assert said.code == 3
    assert "robots.txt forbids it" in said.err


def test_a_private_address_is_refused_unless_allowed(isobath: Run) -> None:
    with LoopbackSite(small_site()) as site:
        said = isobath("crawl", site.url("/"))
        assert site.requests == []
    assert said.code == 3
    assert "allow_private_networks" in said.err


def nothing_was_started(tmp_path: Path) -> bool:
    with dg.DagsterInstance.get() as instance:
        return not instance.get_runs() and not instance.get_dynamic_partitions("sites")


def one_sentence(said: Said) -> str:
    assert said.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    return said.err


def test_a_store_that_cannot_be_written_is_said(isobath: Run, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file, not a folder")
    with LoopbackSite(small_site()) as site:
        sentence = one_sentence(isobath(*flags(site)))
        assert site.requests == []
    assert str(tmp_path / "store") in sentence
    assert nothing_was_started(tmp_path)


def test_an_unknown_key_in_the_catalog_is_said(isobath: Run, tmp_path: Path) -> None:
    (tmp_path / "sites.yaml").write_text("sites:\n  docs.example.org:\n    max_dept: 2\n")
    sentence = one_sentence(isobath("crawl", "https://docs.example.org/"))
    assert "max_dept" in sentence
    assert "max_depth" in sentence
    assert "docs.example.org" in sentence
    assert nothing_was_started(tmp_path)


def test_a_missing_bucket_is_said(isobath: Run, tmp_path: Path, s3_server: str) -> None:
    sentence = one_sentence(isobath("crawl", "https://docs.example.org/", "--store", "s3://no-such-bucket/x"))
    assert "no-such-bucket" in sentence
    assert nothing_was_started(tmp_path)


@pytest.mark.parametrize("url", ["ftp://docs.example.org/", "not a host", "https://", "mailto:a@b.example"])
def test_what_is_no_address_is_said(isobath: Run, tmp_path: Path, url: str) -> None:
    assert "address" in one_sentence(isobath("crawl", url))
    assert nothing_was_started(tmp_path)


def test_the_demo_needs_no_internet(isobath: Run) -> None:
    said = isobath("demo")
    assert said.code == 0, said.err
    hits = json.loads(isobath("search", "潮汐", "--json").out)
    assert [hit["title"] for hit in hits] == ["潮间带漫步"]
    hits = json.loads(isobath("search", "潮だまり", "--json").out)
    assert [hit["title"] for hit in hits] == ["潮だまりを歩く"]
    hits = json.loads(isobath("search", "polite crawler never reads", "--json").out)
    assert not [hit for hit in hits if "/private/" in hit["url"]]


def test_sites_are_added_shown_and_removed_under_their_plain_names(isobath: Run, tmp_path: Path) -> None:
    (tmp_path / "sites.yaml").write_text("sites:\n  docs.example.org: {max_depth: 1}\n")
    assert isobath("sites", "add", "https://Docs.Example.org/guide/", "docs.example.org", "b.test:8000").code == 0
    with dg.DagsterInstance.get() as instance:
        assert instance.get_dynamic_partitions("sites") == ["docs.example.org", "b.test:8000"]
        instance.add_dynamic_partitions("sites", ["https://typed.example/"])
    shown = json.loads(isobath("sites", "show", "docs.example.org", "--json").out)
    assert (shown["has_partition"], shown["is_listed"], shown["settings"]) == (True, True, {"max_depth": 1})
    assert isobath("sites", "remove", "b.test:8000", "https://typed.example/", "HTTP://docs.example.org").code == 0
    with dg.DagsterInstance.get() as instance:
        assert instance.get_dynamic_partitions("sites") == []
    for wrong in (["sites", "add", "a,b"], ["sites", "remove", "b.test:8000"], ["reprocess", "b.test:8000"]):
        said = isobath(*wrong)
        assert (said.code, said.err.count("\n")) == (2, 1), said


def test_a_site_is_derived_again_kept_up_and_forgotten_when_that_is_said_twice(isobath: Run, tmp_path: Path) -> None:
    with LoopbackSite(small_site()) as site:
        assert isobath(*flags(site), "--max-depth", "1").code == 0
    (told,) = json.loads(isobath("reprocess", site.host, "--only-map", "--json").out)
    assert (told["site"], sorted(told["assets"])) == (site.host, ["map/changes", "map/report", "map/site_map"])
    assert json.loads(isobath("maintain", "--check", "3", "--json").out)["check_sample"]["captures"] == 3
    for answers in ("n\n", "y\nother\n", ""):
        refused = answered(answers, "sites", "forget", site.host)
        assert (refused.code, "Nothing was removed" in refused.err) == (2, True), refused
    assert isobath("sites", "forget", site.host, "--yes", "other").code == 2
    assert json.loads(isobath("search", "museum", "--json").out)
    assert answered(f"y\n{site.host}\n", "sites", "forget", site.url("/")).code == 0
    assert json.loads(isobath("search", "museum", "--json").out) == []
    raw = tmp_path / "store" / "raw"
    assert list(raw.rglob("*.warc.gz"))
    assert json.loads(isobath("sites", "forget", site.host, "--raw", "--yes", site.host, "--json").out)["raw_files"]
    assert not list(raw.rglob("*.warc.gz"))
    assert isobath("sites", "forget", site.host, "--yes", site.host).code == 2


@pytest.mark.parametrize("home", ["/nowhere/to/be/found", "relative", ""])
@pytest.mark.parametrize("command", [["crawl", "http://127.0.0.1:1/"], ["sites", "add", "a.example"]])
def test_a_dagster_home_that_is_none_is_said_in_a_sentence(
    isobath: Run, monkeypatch: pytest.MonkeyPatch, home: str, command: list[str]
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", home)
    said = isobath(*command)
    assert said.code == 2
    assert f"DAGSTER_HOME is '{home}', which is no folder with an absolute path" in said.err

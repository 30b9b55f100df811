"""The commands that give out what is stored, on a store that holds a crawl of the small site."""

import json
from collections.abc import Iterator

import pytest

from pipelines.cli import main
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

"""``isobath ping`` and what ``isobath why`` tells of it, as a person meets them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assets.recrawl.schedule import schedule_of_site
from pipelines.cli import main
from pipelines.deployments import deploy, settings_from
from resources.clock import SystemClock
from resources.ports import SiteSettings
from tests.support.hand_made_crawl import HOST, SITE
from tests.support.visit_history import Asked, VisitHistory, Walk

pytestmark = pytest.mark.slow


def test_pings_are_stored_planned_with_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "store")
    monkeypatch.setenv("ISOBATH_STORE", store)
    monkeypatch.setenv("ISOBATH_SITES", str(tmp_path / "sites.yaml"))
    monkeypatch.setenv("COLUMNS", "300")
    tables = deploy(settings_from({"ISOBATH_STORE": store})).tables

    def planned() -> None:
        schedule_of_site(SiteSettings(SITE), tables, now=SystemClock().now(), requests_per_day=None)

    def isobath(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    VisitHistory(tables, SITE).add(Walk(1.0, [Asked(f"/docs/{n}") for n in range(9)]))
    planned()
    code, out, error = isobath("ping", f"{HOST}/docs/1", "https://never.example/x")
    assert code == 1
    assert f"{SITE}: 1 page pinged" in out
    assert "https://never.example/x: no site has a schedule that could hold it" in error
    (tmp_path / "index_now.json").write_text(json.dumps({"host": SITE, "urlList": [f"{HOST}/new"]}))
    command = [sys.executable, "-m", "pipelines", "ping", "-", "--file", str(tmp_path / "index_now.json"), "--json"]
    piped = subprocess.run(command, input=f"{HOST}/docs/1\n{HOST}/docs/2", capture_output=True, text=True, check=True)
    pinged = [ping["url"] for ping in json.loads(piped.stdout)["pinged"]]
    assert pinged == [f"{HOST}/docs/1", f"{HOST}/docs/2", f"{HOST}/new"]
    assert isobath("ping")[0::2] == (2, "isobath: no address to ping: give some, or --file, or - for standard input\n")
    planned()
    told = json.loads(isobath("why", f"{HOST}/docs/1", "--json")[1])
    assert "2 change signals since" in told["schedule"]
    assert [event["what"] for event in told["history"]].count("pinged") == 2
    assert json.loads(isobath("why", f"{HOST}/new", "--json")[1])["schedule"].startswith("never read, pinged, due ")

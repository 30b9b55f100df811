"""``isobath plan`` and the schedule in ``isobath why``, as a person meets them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assets.recrawl.schedule import schedule_of_site
from pipelines.cli import main
from pipelines.deployments import deploy, settings_from
from resources.clock import SystemClock
from resources.errors import BadSettings
from resources.ports import SiteSettings
from tests.support.hand_made_crawl import HOST, SITE
from tests.support.visit_history import Asked, VisitHistory, Walk

pytestmark = pytest.mark.slow
Isobath = Callable[..., tuple[int, str, str]]


@pytest.fixture
def isobath(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Isobath:
    """Run the command line on a store that holds a site of 60 pages, of which some change."""
    store = str(tmp_path / "store")
    monkeypatch.setenv("ISOBATH_STORE", store)
    monkeypatch.setenv("ISOBATH_SITES", str(tmp_path / "sites.yaml"))
    monkeypatch.setenv("COLUMNS", "300")
    tables = deploy(settings_from({"ISOBATH_STORE": store})).tables
    history = VisitHistory(tables, SITE)
    for turn in range(3):
        history.add(Walk(10.0, [Asked(f"/docs/{n}", text=f"{turn * (n % 3)}") for n in range(60)]))
    settings = SiteSettings(SITE, hubs=(f"{HOST}/docs/0",))
    schedule_of_site(settings, tables, now=SystemClock().now(), requests_per_day=None)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


@pytest.mark.parametrize(("text", "requests_per_day"), [("", None), ("0", 0), ("5000", 5000)])
def test_the_global_budget_is_a_variable(text: str, requests_per_day: int | None) -> None:
    assert settings_from({"ISOBATH_REQUESTS_PER_DAY": text}).requests_per_day == requests_per_day


def test_a_global_budget_that_is_no_number_is_said() -> None:
    with pytest.raises(BadSettings, match="ISOBATH_REQUESTS_PER_DAY=many: use a whole number"):
        settings_from({"ISOBATH_REQUESTS_PER_DAY": "many"})


def test_more_requests_buy_fresher_copies(isobath: Isobath) -> None:
    asked = ("plan", "--site", SITE, "--requests-per-day", "40", "--freshness-target-days", "0.5")
    told = json.loads(isobath(*asked, "--json")[1])
    budgets: list[dict[str, Any]] = told["budgets"]
    assert told["hubs_per_day"] == 1.0
    assert [row["what"] for row in budgets if row["what"]] == ["now", "target", "asked"]
    for column, is_rising in (("requests_per_day", True), ("freshness", True), ("age_days", False)):
        values = [row[column] for row in budgets]
        assert values == sorted(values, reverse=not is_rising), column
    named = {row["what"]: row for row in budgets}
    assert named["now"]["requests_per_day"] == pytest.approx(5.0)
    assert named["asked"]["requests_per_day"] == pytest.approx(40.0)
    assert named["target"]["theta_days"] == 0.5
    code, text, _ = isobath(*asked)
    assert code == 0
    assert f"A target of 0.5 d costs {named['target']['requests_per_day']:.1f} requests a day." in text
    assert "█" in text


def test_all_sites_are_a_row_each(isobath: Isobath) -> None:
    rows = json.loads(isobath("plan", "--json")[1])
    assert [(row["site"], row["live_pages"], row["due_now"]) for row in rows] == [(SITE, 60, 60)]
    assert SITE in isobath("plan")[1]


def test_what_cannot_be_answered_is_one_sentence(isobath: Isobath) -> None:
    assert isobath("plan", "--site", "no.example")[0::2] == (
        2,
        "isobath: 'no.example' has no schedule yet: crawl it, or materialize page_schedule for it\n",
    )
    code, out, error = isobath("plan", "--requests-per-day", "4")
    assert (code, out) == (2, "")
    assert "--site" in error


def test_why_says_when_a_page_is_due(isobath: Isobath) -> None:
    told = json.loads(isobath("why", f"{HOST}/docs/4", "--site", SITE, "--json")[1])
    assert told["schedule"].startswith("changed 2 of 2 visits, section changes every ")
    assert ", due since " in told["schedule"]
    assert "a hub, visited every 1.0 d" in isobath("why", f"{HOST}/docs/0", "--site", SITE)[1]

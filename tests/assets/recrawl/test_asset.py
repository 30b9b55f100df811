"""The schedule as a Dagster asset: checks, metadata, sites that share a budget."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import dagster as dg
import pytest

from assets import names
from assets.recrawl.asset import page_schedule_asset
from assets.recrawl.checks import starved_check
from assets.recrawl.schedule import schedule_of_site
from resources.ports import SiteSettings
from tests.support.clocks import TurnableClock
from tests.support.hand_made_crawl import SITE, START
from tests.support.memory import MemoryObjects, MemoryTables
from tests.support.rig import DictCatalog
from tests.support.visit_history import Asked, VisitHistory, Walk

OTHER = "other.example"


def crawled(*sites: str) -> MemoryTables:
    """Give tables after three crawls of each site, ten days apart."""
    tables = MemoryTables()
    for site in sites:
        history = VisitHistory(tables, site)
        for turn in range(3):
            history.add(Walk(10.0, [Asked(f"/docs/{n}", text=f"{n * turn}") for n in range(60)]))
    return tables


def materialized(
    tables: MemoryTables,
    site: str = SITE,
    *,
    requests_per_day: float | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dg.ExecuteInProcessResult:
    """Materialize the schedule of a site, a day after its last crawl."""
    clock = TurnableClock(START + timedelta(days=31))
    catalog = DictCatalog({site: SiteSettings(site, **(settings or {}))})
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("sites", sorted({SITE, OTHER, site}))
        return dg.materialize(
            [page_schedule_asset(requests_per_day)],
            instance=instance,
            resources={"tables": tables, "objects": MemoryObjects(), "catalog": catalog, "clock": clock},
            partition_key=site,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )


def checks_of(result: dg.ExecuteInProcessResult) -> dict[str, tuple[bool, str]]:
    """Give verdict and description of each check."""
    return {check.check_name: (check.passed, check.description or "") for check in result.get_asset_check_evaluations()}


def test_one_site_tells_what_its_schedule_is() -> None:
    tables = crawled(SITE)
    result = materialized(tables)
    assert result.success
    metadata = result.asset_materializations_for_node("recrawl__page_schedule")[0].metadata
    shown: dict[str, Any] = {name: value.value for name, value in metadata.items()}
    assert (shown["pages"], shown["crawls_folded"], shown["requests_7d"]) == (60, 3, 60)
    assert shown["requests_per_day"] == shown["requests_wanted_per_day"] == pytest.approx(2.0)
    assert shown["freshness_found_by_visits"] == pytest.approx(1 / 60, abs=1e-4)
    assert 0.1 < shown["freshness_expected"] < 1
    assert "within a month" in shown["change_rates"]
    assert shown["folded"] == {"first": 60, "unchanged": 2, "changed": 118}
    assert {name: passed for name, (passed, _) in checks_of(result).items()} == {
        "budget_holds_target": True,
        "nothing_starves": True,
    }


def test_only_sites_that_are_partitions_share_the_budget() -> None:
    tables = crawled("removed.example", SITE, OTHER)
    for site in ("removed.example", SITE, OTHER, SITE, OTHER):
        assert materialized(tables, site, requests_per_day=9.0).success
    wanted = {row["site"]: row["demand_per_day"] for row in tables.read(names.T_SITE_SCHEDULE).to_pylist()}
    assert wanted[SITE] + wanted[OTHER] == pytest.approx(9.0, rel=0.01)
    assert wanted[SITE] == pytest.approx(wanted[OTHER], rel=0.05)


@pytest.mark.parametrize(
    ("settings", "passed", "said"),
    [
        ({"freshness_target_days": 4.0}, True, "and there are enough"),
        ({"freshness_target_days": 4.0, "requests_per_day": 1.0}, False, "the budget gives 1.0, which holds"),
        ({"max_recrawl_days": 10.0, "requests_per_day": 1.0}, False, "takes 5.0 requests a day more than there are"),
        ({}, True, "No freshness target"),
    ],
    ids=["a target alone", "a target and too little", "not even the longest interval", "no target"],
)
def test_a_budget_that_cannot_hold_what_was_asked_is_said(settings: dict[str, float], passed: bool, said: str) -> None:
    verdict, description = checks_of(materialized(crawled(SITE), settings=settings))["budget_holds_target"]
    assert verdict == passed
    assert said in description


@pytest.mark.parametrize(("days", "starved"), [(9.0, 0), (11.5, 60)])
def test_pages_that_wait_beyond_their_longest_interval_are_counted(days: float, starved: int) -> None:
    tables = crawled(SITE)
    now = START + timedelta(days=30.0 + days)
    settings = SiteSettings(SITE, max_recrawl_days=10.0)
    result = schedule_of_site(settings, tables, now=now, requests_per_day=None)
    check = starved_check(result.pages, 1.0, now)
    assert check.passed == (starved == 0)
    assert check.metadata["starved_pages"] == starved

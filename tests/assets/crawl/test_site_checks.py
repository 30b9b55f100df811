"""The checks of a whole crawl: what a site's thresholds let pass, and what they do not."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import dagster as dg
import pytest

from assets import names
from assets.crawl.report_stage import REACHABLE
from assets.crawl.seed_stage import SEEDS_USABLE
from assets.crawl.site_checks import ANSWERS_IN_TIME, PAGES_KEPT, Reach, pages_check, robots_check, time_check
from assets.crawl.specs import crawl_check_specs
from resources.ports import SiteSettings
from tests.support.loopback import LoopbackSite, Page, small_site
from tests.support.rig import DictCatalog, Rig
from tests.support.s3 import in_a_folder

SETTINGS = SiteSettings("a.test", max_lost_share=0.2, max_robots_share=0.25, max_fetch_p90_ms=300.0)


@pytest.mark.parametrize(
    ("pages", "before", "passed"),
    [
        (100, None, True),
        (100, 100, True),
        (200, 100, True),
        (80, 100, True),
        (79, 100, False),
        (1, 5, True),
        (1, 6, False),
        (0, 100, True),  # that it is not reachable is told already
        (90, 1000, True),  # no crawl reads more than max_pages, which has become 110
        (87, 1000, False),
    ],
)
def test_a_crawl_reads_about_as_many_pages_as_the_last_one(pages: int, before: int | None, passed: bool) -> None:
    last = None if before is None else Reach("1", before, 3)
    assert pages_check(Reach("2", pages, 3), last, replace(SETTINGS, max_pages=110)).passed == passed


def test_crawls_of_other_depths_are_not_compared() -> None:
    check = pages_check(Reach("2", 1, 1), Reach("1", 1000, 3), SETTINGS)
    assert (check.passed, check.severity) == (True, dg.AssetCheckSeverity.ERROR)
    assert check.description == "nothing to compare: crawl 1 went 3 layers deep, this one 1"


@pytest.mark.parametrize(
    ("outcomes", "passed"),
    [
        ({}, True),
        ({"fetched": 3, "robots_denied": 1}, True),
        ({"fetched": 2, "robots_denied": 1}, False),
        ({"robots_unreachable": 9}, True),  # an error, which another check counts
    ],
)
def test_robots_may_deny_as_much_as_the_site_says(outcomes: Mapping[str, int], passed: bool) -> None:
    assert robots_check(outcomes, SETTINGS).passed == passed


@pytest.mark.parametrize(
    ("answers", "p90_ms", "passed"), [(10, 300, True), (10, 301, False), (9, 9999, True), (0, None, True)]
)
def test_nine_of_ten_answers_come_in_time(answers: int, p90_ms: int | None, passed: bool) -> None:
    summary: dict[str, Any] = {"status_codes": dg.MetadataValue.json({"200": answers} if answers else {})}
    assert time_check(summary | ({"fetch_ms_p90": p90_ms} if p90_ms else {}), SETTINGS).passed == passed


@pytest.mark.slow
@in_a_folder
def test_a_site_that_shrank_fails_its_check_in_the_partition_and_by_its_own_threshold(rig: Rig) -> None:
    slow = "".join(f"<a href='/_/slow?s=0.01&n={number}'>slow</a>" for number in range(12))
    with LoopbackSite({**small_site(), "/": Page(f"<title>Home</title>{slow}<a href='/guide/'>Guide</a>")}) as site:
        rig.catalog = DictCatalog({site.host: replace(rig.catalog.settings(site.host), max_fetch_p90_ms=1.0)})
        result = rig.crawl(site.host, seeds=[site.url("/")])
        first = checks_of(result)
        site.pages = {"/": Page("<p>moved away</p>")}
        shrunk = checks_of(rig.crawl(site.host, seeds=[site.url("/")]))
    said = {(spec.asset_key, spec.name): spec.metadata["severity"] for spec in crawl_check_specs(rig.max_depth)}
    for check in result.get_asset_check_evaluations():
        if check.check_name not in (SEEDS_USABLE, REACHABLE):  # these depend on each other
            assert said.get((check.asset_key, check.check_name), check.severity.value) == check.severity.value
    assert first[PAGES_KEPT].passed
    assert not first[ANSWERS_IN_TIME].passed
    assert (shrunk[PAGES_KEPT].passed, shrunk[PAGES_KEPT].severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert shrunk[PAGES_KEPT].partition == site.host


@pytest.mark.slow
@in_a_folder
def test_a_site_that_does_not_answer_is_one_error_and_not_three(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        assert rig.crawl(site.host, seeds=[site.url("/")]).success
        seeds = [site.url("/")]
    evaluations = rig.crawl(site.host, seeds=seeds).get_asset_check_evaluations()
    failed = {check.check_name: check.severity.value for check in evaluations if not check.passed}
    assert failed == {SEEDS_USABLE: "ERROR", REACHABLE: "WARN"}


def checks_of(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    found = result.get_asset_check_evaluations()
    return {check.check_name: check for check in found if check.asset_key == names.CRAWL_REPORT}

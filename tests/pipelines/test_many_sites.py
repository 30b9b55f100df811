"""One run over many sites: what goes wrong with one is told, and the others stay whole."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import dagster as dg
import pytest

from assets import names
from assets.partitions import sites
from pipelines.automation import CONDITIONS
from resources.clock import SystemClock
from resources.site_leases import SiteLeaseStore
from tests.support.loopback import LoopbackSite, Page, small_site
from tests.support.rig import BuggyWorkers, DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

# What they try is the same whatever the store; those of stores run on both.
pytestmark = [pytest.mark.slow, in_a_folder]

CRAWL = [
    names.SEED_CHECK,
    *(key for depth in range(4) for key in names.depth(depth).stages),
    names.CRAWL_REPORT,
]

DERIVED = [key for key in CONDITIONS if key != names.CHUNKS]  # chunks are made where somebody asks for them


@dataclass
class FiveSites:
    good: list[str]
    dead: str
    buggy: str

    @property
    def keys(self) -> list[str]:
        """The sites in the order of their partitions, the bad ones in the middle."""
        return [self.good[0], self.dead, self.good[1], self.buggy, self.good[2]]


def in_other_words(word: str) -> dict[str, Page]:
    """Give the small site with a word of its own between all words, so that no two sites are duplicates."""

    def change(page: Page) -> Page:
        if not isinstance(page.body, str) or "html" not in page.content_type:
            return page
        return replace(page, body=re.sub(r">[^<]+<", lambda text: text[0].replace(" ", f" {word} "), page.body))

    return {path: change(page) for path, page in small_site().items()}


@pytest.fixture
def five() -> Iterator[FiveSites]:
    with ExitStack() as stack:
        servers = [stack.enter_context(LoopbackSite(in_other_words(word))) for word in ("one", "two", "three", "four")]
        with LoopbackSite({}) as closed:
            dead = closed.host
        hosts = [server.host for server in servers]
        yield FiveSites(hosts[:3], dead, hosts[3])


def crawl_five(rig: Rig, five: FiveSites) -> dg.ExecuteInProcessResult:
    settings = rig.catalog.settings("any")
    rig.catalog = DictCatalog({key: replace(settings, site=key, seeds=(f"http://{key}/",)) for key in five.keys})
    rig.workers = BuggyWorkers(five.buggy)
    return rig.crawl_range(five.keys, CRAWL)


def test_a_dead_site_and_a_bug_leave_the_others_whole(rig: Rig, five: FiveSites) -> None:
    result = crawl_five(rig, five)
    assert not result.success
    sentence = failure_sentence(result)
    assert "1 of 5 sites failed" in sentence
    assert five.buggy in sentence
    assert "planted" in sentence
    status = rig.instance.get_status_by_partition(names.CRAWL_REPORT, five.keys, sites)
    assert status is not None
    assert {key: value.value for key, value in status.items() if value} == {
        **dict.fromkeys(five.good, "MATERIALIZED"),
        five.dead: "MATERIALIZED",
        five.buggy: "FAILED",
    }
    for key in five.good:
        assert len(rig.rows(names.T_FETCHES, key, outcome="fetched", purpose="page")) == 12


def test_the_dead_site_is_data_with_a_failed_check(rig: Rig, five: FiveSites) -> None:
    crawl_five(rig, five)
    event = rig.instance.fetch_materializations(
        dg.AssetRecordsFilter(names.CRAWL_REPORT, asset_partitions=[five.dead]), limit=1
    ).records[0]
    assert event.asset_materialization is not None
    assert event.asset_materialization.metadata["outcome"].value == "no_usable_seed"
    checks = evaluations(rig, dg.AssetCheckKey(names.SEED_CHECK, "seeds_usable"))
    assert not checks[five.dead].passed
    assert five.dead in (checks[five.dead].description or "")
    assert all(checks[key].passed for key in five.good)
    in_time = evaluations(rig, dg.AssetCheckKey(names.CRAWL_REPORT, "answers_in_time"))
    assert {key for key in five.good if in_time[key].passed} == set(five.good)


def evaluations(rig: Rig, check: dg.AssetCheckKey) -> dict[str | None, dg.AssetCheckEvaluation]:
    """Give what a check said of each partition."""
    history = rig.instance.event_log_storage.get_asset_check_execution_history(check, limit=20)
    events = [record.event.dagster_event for record in history if record.event and record.event.dagster_event]
    said = [event.asset_check_evaluation_data for event in events if event.event_type_value == "ASSET_CHECK_EVALUATION"]
    return {evaluation.partition: evaluation for evaluation in said}


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
def test_the_derived_assets_of_the_good_sites_follow(rig: Rig, five: FiveSites) -> None:
    definitions = rig.definitions()
    keys = DERIVED
    cursor = dg.evaluate_automation_conditions(definitions, instance=rig.instance).cursor
    crawl_five(rig, five)
    outcome = dg.evaluate_automation_conditions(definitions, instance=rig.instance, cursor=cursor)
    asked = {str(key) for key in outcome.get_requested_partitions(names.PAGES)}
    assert asked == {*five.good, five.dead}
    for key in asked:
        result = rig.crawl(key, select=keys)
        assert result.success, failure_sentence(result)
    fed = {key: len(rig.rows(names.T_FEED_STATE, key)) for key in asked}
    # The Chinese and the Japanese page have no words to part: they are duplicates, and one of three is fed.
    assert all(fed[key] >= 9 for key in five.good)
    assert fed[five.dead] == 0
    assert sum(len(rig.rows(names.T_PAGES, key)) for key in five.good) == 36


def test_running_the_failed_site_again_fetches_nothing_twice(rig: Rig, five: FiveSites) -> None:
    crawl_five(rig, five)
    before = len(rig.rows(names.T_FETCHES, five.buggy))
    rig.workers = BuggyWorkers("nowhere.invalid")
    result = rig.crawl(five.buggy, select=CRAWL)
    assert result.success, failure_sentence(result)
    rows = rig.rows(names.T_FETCHES, five.buggy, outcome="fetched", purpose="page")
    assert len(rows) == len({row["url_key"] for row in rows}) == 12
    assert len(rig.rows(names.T_FETCHES, five.buggy)) > before
    assert len({row["crawl_id"] for row in rows}) == 1


def test_a_site_that_another_run_holds_is_not_touched(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        leases = SiteLeaseStore(rig.objects, SystemClock())
        with leases.hold(site.host, "another run"):
            result = rig.crawl(site.host, seeds=[site.url("/")])
        assert not result.success
        assert "another run" in failure_sentence(result)
        assert site.requests == []
        assert rig.crawl(site.host, seeds=[site.url("/")]).success


def test_one_stage_of_a_site_can_be_materialized_alone(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        first = [names.SEED_CHECK, names.depth(0).frontier, names.depth(0).raw_batches]
        assert rig.crawl(site.host, seeds=[site.url("/")], select=first).success
        early = rig.crawl(site.host, select=[names.depth(1).frontier])
        assert not early.success
        assert "needs depth_0/links" in failure_sentence(early)
        assert rig.crawl(site.host, select=[names.depth(0).links]).success
        assert rig.crawl(site.host, select=[names.depth(1).frontier]).success
        assert rig.crawl(site.host, select=CRAWL).success
        paths = site.paths_seen()
    assert len(paths) == len(set(paths))
    assert len({row["crawl_id"] for row in rig.rows(names.T_CRAWLS, site.host)}) == 1


def test_what_is_derived_of_many_sites_is_made_in_one_run_and_checked_for_each(rig: Rig, five: FiveSites) -> None:
    crawl_five(rig, five)
    for key in (names.PAGES, names.PAGE_SCHEDULE):
        result = rig.crawl_range(five.keys, [key])
        assert result.success, failure_sentence(result)
        status = rig.instance.get_status_by_partition(key, five.keys, sites)
        assert status is not None
        assert {site: value and value.value for site, value in status.items()} == dict.fromkeys(
            five.keys, "MATERIALIZED"
        )
        checked = {evaluation.partition for evaluation in result.get_asset_check_evaluations()}
        assert checked == set(five.keys)


def test_a_run_over_a_range_derives_everything_and_marks_each_site_once(rig: Rig, five: FiveSites) -> None:
    settings = rig.catalog.settings("any")
    rig.catalog = DictCatalog({key: replace(settings, site=key, seeds=(f"http://{key}/",)) for key in five.good})
    result = rig.crawl_range(five.good)
    assert result.success, failure_sentence(result)
    assert not [event.step_key for event in result.all_events if event.is_step_skipped]
    marks = Counter((event.asset_key, event.partition) for event in result.all_events if event.is_step_materialization)
    keys = [*CRAWL, *DERIVED]
    assert marks == Counter((key, site) for key in keys for site in five.good)

"""Batches: many sites in one run, told as runs of the assets would tell it."""

from contextlib import ExitStack
from typing import Any

import dagster as dg
import pytest

from assets import names
from pipelines.automation import CONDITIONS
from pipelines.jobs import REFRESH_SITES
from pipelines.refresh_batch import batch_run_config
from resources.ports import SiteSettings
from resources.site_leases import SiteLeaseStore
from tests.support.clocks import ShiftedClock
from tests.support.loopback import LoopbackSite, small_site
from tests.support.rig import DictCatalog, Rig, failure_sentence

pytestmark = pytest.mark.slow

Told = dict[dg.AssetKey, tuple[list[str], bool, list[tuple[str, bool]]]]


def told(result: dg.ExecuteInProcessResult, site: str) -> Told:
    """Give what a run told of a site: by asset its metadata's names, whether it has a data version, its checks."""
    checks = [
        event.asset_check_evaluation_data
        for event in result.all_events
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION
    ]
    found: Told = {}
    for event in result.all_events:
        if not event.is_step_materialization or event.partition != site:
            continue
        made = event.step_materialization_data.materialization
        verdicts = [
            (check.check_name, check.passed)
            for check in checks
            if check.asset_key == made.asset_key and check.partition == site
        ]
        assert made.asset_key not in found
        found[made.asset_key] = sorted(made.metadata), "dagster/data_version" in (made.tags or {}), sorted(verdicts)
    return found


def refresh_batch(rig: Rig, sites: list[str], **config: Any) -> dg.ExecuteInProcessResult:
    job = rig.definitions().resolve_job_def(REFRESH_SITES)
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    return job.execute_in_process(
        instance=rig.instance,
        run_config={**quiet, **batch_run_config(REFRESH_SITES, sites, **config)},
        raise_on_error=False,
    )


@pytest.mark.filterwarnings("ignore:Parameter `include_sources` of function")
def test_a_batch_tells_what_runs_of_the_assets_would_and_a_site_that_fails_fails_alone(rig: Rig) -> None:
    clock = ShiftedClock()
    rig.clock = clock
    with ExitStack() as stack:
        alone, other, busy = (stack.enter_context(LoopbackSite(small_site())) for _ in range(3))
        hosts = [alone.host, other.host, busy.host]
        rig.catalog = DictCatalog(
            {
                host: SiteSettings(
                    host, seeds=(f"http://{host}/",), min_delay_s=0, allow_private_networks=True, requests_per_day=1000
                )
                for host in hosts
            }
        )
        for host in hosts:
            crawled = rig.crawl(host)
            assert crawled.success, failure_sentence(crawled)
        clock.advance(days=60)
        one = rig.refresh(alone.host)
        assert one.success, failure_sentence(one)
        cursor = dg.evaluate_automation_conditions(rig.definitions(), instance=rig.instance).cursor
        asked_before = len(busy.requests)
        with SiteLeaseStore(rig.objects, clock).hold(busy.host, "another run"):
            batch = refresh_batch(rig, [other.host, busy.host, "nowhere.test"])
        assert len(busy.requests) == asked_before
        followed = dg.evaluate_automation_conditions(rig.definitions(), instance=rig.instance, cursor=cursor)
    assert not batch.success
    sentence = failure_sentence(batch)
    assert "2 of 3 sites failed" in sentence
    assert f"{busy.host}: Site '{busy.host}' is held by 'another run'" in sentence
    assert "nowhere.test: no such partition" in sentence
    expected = told(one, alone.host)
    assert set(expected) > {names.REFRESH_REPORT, names.PAGES, names.INDEX_FEED, names.PAGE_SCHEDULE}
    assert all(has_version for _, has_version, _ in expected.values())
    assert sum(len(checks) for _, _, checks in expected.values()) > 8
    assert told(batch, other.host) == expected
    assert told(batch, busy.host) == {}
    schedule = {row["site"]: row for host in hosts for row in rig.rows(names.T_SITE_SCHEDULE, host)}
    assert schedule[other.host]["folded_through"] > schedule[busy.host]["folded_through"]
    # It has derived what follows; the automation must not do so again.
    assert [key for key in CONDITIONS if followed.get_num_requested(key)] == []

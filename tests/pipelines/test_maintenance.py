"""The maintenance of a store that was crawled: what it finds, what it leaves as it was."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets import names
from assets.schemas import TABLES
from pipelines.build import build
from pipelines.deployments import deploy, settings_from
from pipelines.maintenance import MAINTENANCE
from resources.errors import BadSettings
from resources.ports import SiteSettings
from resources.site_leases import SiteLeaseStore
from tests.support.clocks import ShiftedClock
from tests.support.loopback import LoopbackSite, small_site
from tests.support.rig import DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

pytestmark = pytest.mark.slow

QUIET: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def maintain(rig: Rig, ops: list[str] | None = None, **config: dict[str, Any]) -> dg.ExecuteInProcessResult:
    return (
        rig.definitions()
        .resolve_job_def(MAINTENANCE)
        .execute_in_process(
            instance=rig.instance,
            op_selection=ops,
            run_config={**QUIET, "ops": {op: {"config": of_op} for op, of_op in config.items()}},
            raise_on_error=False,
        )
    )


def counted(result: dg.ExecuteInProcessResult, op: str) -> dict[str, Any]:
    (event,) = [event for event in result.all_events if event.is_successful_output and event.step_key == op]
    return {name: value.value for name, value in event.step_output_data.metadata.items()}


def crawled(rig: Rig, site: LoopbackSite) -> dg.ExecuteInProcessResult:
    rig.catalog = DictCatalog(
        {site.host: SiteSettings(site.host, seeds=(site.url("/"),), min_delay_s=0, allow_private_networks=True)}
    )
    result = rig.crawl(site.host)
    assert result.success
    return result


def derived(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    """Give the data version of each asset that is derived from what was fetched."""
    made = [
        event.step_materialization_data.materialization for event in result.all_events if event.is_step_materialization
    ]
    keys = {names.PAGES, names.EXACT_DUPLICATES, names.NEAR_DUPLICATES, names.INDEX_FEED, names.SITE_MAP}
    return {
        one.asset_key.to_user_string(): (one.tags or {})["dagster/data_version"]
        for one in made
        if one.asset_key in keys
    }


def rows_of_all(rig: Rig) -> dict[str, list[str]]:
    return {table: sorted(map(str, rig.tables.read(table).to_pylist())) for table in TABLES}


@in_a_folder
@pytest.mark.filterwarnings("ignore:Parameter `include_sources` of function")
def test_maintenance_changes_no_row_and_nothing_that_is_derived_of_them(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        versions = derived(crawled(rig, site))
    before, files = rows_of_all(rig), len(rig.tables.files(names.T_CRAWLS))
    with SiteLeaseStore(rig.objects, rig.clock).hold(site.host, "a crawl"):
        result = maintain(rig, check_sample={"seed": 7, "captures": 10}, vacuum_tables={"keep_days": 0})
    assert result.success, failure_sentence(result)
    done = counted(result, "compact_tables")
    assert done["files_after"] < done["files_before"]
    assert "| crawls |" in done["tables"]
    assert len(rig.tables.files(names.T_CRAWLS)) == 1 < files
    assert counted(result, "check_sample")["captures"] == 10
    assert counted(result, "sweep_orphans")["sites_passed_over"] == 1
    assert counted(result, "prune_runs") == {"deleted": 0, "kept": 0, "keep_days": 90}
    assert rows_of_all(rig) == before
    reprocess = rig.definitions().resolve_job_def("reprocess")
    again = reprocess.execute_in_process(instance=rig.instance, partition_key=site.host, run_config=QUIET)
    assert derived(again) == versions
    assert len(versions) == 5


@in_a_folder
@pytest.mark.filterwarnings("ignore:Parameter `include_sources` of function")
def test_crawls_and_refreshes_in_peace_leave_no_orphan(rig: Rig) -> None:
    rig.clock = clock = ShiftedClock()
    with LoopbackSite(small_site()) as site:
        assert rig.crawl(site.host, max_depth=1).success
        clock.advance(days=40)
        assert rig.refresh(site.host).success
        clock.advance(days=40)
        assert rig.crawl(site.host, max_depth=0, select=[names.SEED_CHECK, *names.depth(0).stages]).success
    clock.advance(days=40)
    kept = [one.key for one in rig.objects.list("raw/")]
    swept = counted(maintain(rig, ["sweep_orphans"]), "sweep_orphans")
    assert (swept["sites"], swept["sites_passed_over"], swept["orphans"]) == (1, 0, 0)
    assert [one.key for one in rig.objects.list("raw/")] == kept


@in_a_folder
@pytest.mark.filterwarnings("ignore:Parameter `include_sources` of function")
def test_a_damaged_capture_fails_the_check_by_file_and_offset_and_stops_nothing_else(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        crawled(rig, site)
    rows = [row for row in rig.rows(names.T_FETCHES, site.host) if row["warc_file"]]
    damaged = Path(rig.objects.location(rows[3]["warc_file"]))
    data = bytearray(damaged.read_bytes())
    data[rows[3]["warc_offset"] + rows[3]["warc_bytes"] // 2] ^= 255
    damaged.write_bytes(data)
    result = maintain(rig, check_sample={"captures": 10_000})
    assert not result.success
    said = failure_sentence(result)
    assert said.startswith(f"1 of {len(rows)} captures are damaged: ")
    assert f"{rows[3]['warc_file']} at offset {rows[3]['warc_offset']}: " in said
    assert {"compact_tables", "vacuum_tables", "sweep_orphans", "prune_runs"} == {
        event.step_key for event in result.all_events if event.is_step_success
    }
    damaged.unlink()
    missing = failure_sentence(maintain(rig, ["check_sample"], check_sample={"captures": 10_000}))
    assert f"{rows[3]['warc_file']} at offset {rows[3]['warc_offset']}: the file is missing" in missing


@in_a_folder
def test_parts_are_chosen_by_op_and_table_and_settings_give_the_defaults(rig: Rig) -> None:
    settings = settings_from(
        {"ISOBATH_STORE": rig.store, "ISOBATH_KEEP_RUNS_DAYS": "5", "ISOBATH_KEEP_VERSIONS_DAYS": "3"}
    )
    job = build(deploy(settings)).resolve_job_def(MAINTENANCE)
    kept = job.execute_in_process(instance=rig.instance, op_selection=["prune_runs", "vacuum_tables"], run_config=QUIET)
    assert [counted(kept, op)["keep_days"] for op in ("prune_runs", "vacuum_tables")] == [5, 3]
    wrong = maintain(rig, ["compact_tables"], compact_tables={"tables": ["no_table"]})
    assert "There is no table no_table: use some of " in failure_sentence(wrong)
    for bad in ({"ISOBATH_KEEP_RUNS_DAYS": "0"}, {"ISOBATH_KEEP_VERSIONS_DAYS": "a week"}):
        with pytest.raises(BadSettings, match=f"{next(iter(bad))}=.*: use a whole number"):
            settings_from(bad)

"""The recrawl sensor: which sites get a run, and how often."""

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest
from dagster import DagsterEvent, DagsterEventType

from assets import names
from assets.recrawl.serving import SiteDue
from assets.schemas.recrawl import SITE_SCHEDULE
from pipelines.jobs import REFRESH_SITES, refresh_site
from pipelines.recrawl import (
    MIN_BATCH,
    SINGLE_RUNS,
    SITES_A_BATCH,
    busy_sites,
    plan_daily,
    recrawl_sensor,
    run_request,
    sites_to_refresh,
)
from pipelines.refresh_batch import batch_job, batch_run_config
from resources.site_leases import SiteLeaseStore
from tests.support.answers import NOON
from tests.support.clocks import TurnableClock
from tests.support.memory import MemoryObjects, MemoryTables


def site_row(site: str = "a.test", **values: Any) -> dict[str, Any]:
    """Make a row of a site whose pages have been due for an hour."""
    plain: dict[str, Any] = {}
    for field in SITE_SCHEDULE:
        kind = field.type
        plain[field.name] = "" if kind == pa.string() else False if kind == pa.bool_() else 0
        if pa.types.is_timestamp(kind):
            plain[field.name] = None if field.nullable else NOON
        if pa.types.is_list(kind):
            plain[field.name] = []
    hours = [200, *[0] * 47]
    return {
        **plain,
        "site": site,
        "planned_at": NOON - timedelta(hours=1),
        "first_due_at": NOON - timedelta(hours=1),
        "due_by_hour": hours,
        "requests_per_day": 1000.0,
        "cap_per_day": 86_400.0,
        "theta_days": 2.0,
        "pace": 1.0,
        **values,
    }


def schedule(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=SITE_SCHEDULE)


def few(count: int) -> list[int]:
    return [count, *[0] * 47]


NOTHING_DUE = {"first_due_at": None, "due_by_hour": few(0)}
IDLE = NOTHING_DUE | {"requests_per_day": 30.0, "planned_at": NOON - timedelta(hours=5)}


@pytest.mark.parametrize(
    ("values", "is_wanted"),
    [
        pytest.param({}, True, id="many due"),
        pytest.param({"due_by_hour": few(MIN_BATCH - 1)}, True, id="few, for an hour"),
        pytest.param({"due_by_hour": few(5), "first_due_at": NOON - timedelta(minutes=5)}, False, id="few, just now"),
        pytest.param(
            {"due_by_hour": few(MIN_BATCH - 1), "first_due_at": NOON - timedelta(minutes=5)},
            True,
            id="few, just now, and budget to make it a batch",
        ),
        pytest.param({"planned_at": NOON - timedelta(minutes=1)}, False, id="planned a minute ago"),
        pytest.param({"planned_at": NOON + timedelta(days=30)}, True, id="planned by a clock that was ahead"),
        pytest.param({"requests_per_day": 0.0}, False, id="no budget"),
        pytest.param({"requests_24h": 1000, "planned_at": NOON - timedelta(minutes=30)}, False, id="budget used up"),
        pytest.param({"requests_24h": 1000, "planned_at": NOON - timedelta(hours=2)}, True, id="used up hours ago"),
        pytest.param(
            {"requests_24h": 40, "requests_per_day": 40.0, "planned_at": NOON - timedelta(hours=2)},
            False,
            id="a small budget, hardly back",
        ),
        pytest.param(
            {"requests_24h": 40, "requests_per_day": 40.0, "planned_at": NOON - timedelta(hours=5)},
            True,
            id="a small budget, a part of it back",
        ),
        pytest.param(NOTHING_DUE, False, id="nothing due, little to spare"),
        pytest.param(NOTHING_DUE | {"planned_at": NOON - timedelta(hours=2)}, True, id="a batch to spare"),
        pytest.param(IDLE, True, id="a few to spare, after hours"),
        pytest.param(IDLE | {"requests_per_day": 0.9}, False, id="not one to spare"),
        pytest.param(IDLE | {"target_days": 2.0}, False, id="nothing due, and its target holds"),
        pytest.param(IDLE | {"theta_days": inf}, False, id="nothing due, and recrawls are stopped"),
    ],
)
def test_a_site_gets_a_run_when_it_is_worth_one(values: dict[str, Any], is_wanted: bool) -> None:
    assert bool(sites_to_refresh(schedule(site_row(**values)), NOON)) == is_wanted


def test_one_run_a_schedule_and_hour() -> None:
    def key(planned_at: datetime, now: datetime) -> str | None:
        due = SiteDue("a.test", 60, 100, 0, planned_at, 1.0, 100.0, 100.0, planned_at)
        return run_request(due, now).run_key

    assert key(NOON, NOON + timedelta(minutes=10)) == key(NOON, NOON + timedelta(minutes=50))
    assert key(NOON, NOON + timedelta(minutes=10)) != key(NOON, NOON + timedelta(minutes=70))
    assert key(NOON, NOON + timedelta(minutes=90)) != key(NOON + timedelta(minutes=60), NOON + timedelta(minutes=90))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


many_sites = batch_job(REFRESH_SITES, [], {}, description="Refreshes nothing.")


def tick(instance: dg.DagsterInstance, *rows: dict[str, Any]) -> list[dg.RunRequest]:
    tables = MemoryTables()
    tables.append(names.T_SITE_SCHEDULE, schedule(*rows))
    clock = TurnableClock(NOON)
    resources = {"tables": tables, "clock": clock, "leases": SiteLeaseStore(MemoryObjects(), clock)}
    with dg.build_sensor_context(instance=instance, resources=resources) as context:
        result = recrawl_sensor(many_sites)(context)
    return list(result.run_requests or []) if isinstance(result, dg.SensorResult) else []


def test_only_known_sites_that_nobody_crawls_are_asked_the_most_valuable_first(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("sites", ["a.test", "b.test", "busy.test"])

    @dg.job
    def crawl() -> None:
        return

    instance.create_run_for_job(crawl, status=dg.DagsterRunStatus.STARTED, tags={"dagster/partition": "busy.test"})
    rows = [site_row("a.test"), site_row("b.test", theta_days=9.0), site_row("busy.test"), site_row("gone.test")]
    requests = tick(instance, *rows)
    assert [request.partition_key for request in requests] == ["b.test", "a.test"]
    assert all(int(request.tags["isobath/due_pages"]) >= MIN_BATCH for request in requests)


def test_many_sites_get_one_run_together_and_are_busy_while_it_works(instance: dg.DagsterInstance) -> None:
    names_of_sites = [f"s{n}.test" for n in range(SITES_A_BATCH + SINGLE_RUNS + 3)]
    instance.add_dynamic_partitions("sites", names_of_sites)
    rows = [site_row(site, theta_days=1000.0 - n) for n, site in enumerate(names_of_sites)]
    (request,) = tick(instance, *rows)
    (again,) = tick(instance, *rows)
    assert request.run_key == again.run_key
    assert request.job_name == REFRESH_SITES
    config = batch_run_config(REFRESH_SITES, names_of_sites[:SITES_A_BATCH])
    assert request.run_config == config
    instance.create_run_for_job(many_sites, status=dg.DagsterRunStatus.STARTED, run_config=config)
    rest = names_of_sites[SITES_A_BATCH:]
    leases = SiteLeaseStore(MemoryObjects(), TurnableClock(NOON))
    assert busy_sites(instance, NOON, leases)[0] == set(names_of_sites[:SITES_A_BATCH])
    (request,) = tick(instance, *rows)
    assert request.run_config == batch_run_config(REFRESH_SITES, rest)
    single = tick(instance, *rows[: SITES_A_BATCH + SINGLE_RUNS])
    assert [(one.job_name, one.partition_key) for one in single] == [
        (refresh_site.name, site) for site in rest[:SINGLE_RUNS]
    ]


def planned(instance: dg.DagsterInstance, *rows: dict[str, Any]) -> Any:
    tables = MemoryTables()
    tables.append(names.T_SITE_SCHEDULE, schedule(*rows))
    resources = {"tables": tables, "clock": TurnableClock(NOON)}
    with dg.build_schedule_context(instance=instance, resources=resources) as context:
        return plan_daily(many_sites)(context)


@pytest.mark.slow
def test_schedules_older_than_a_day_are_made_anew_in_one_run(tmp_path: Path) -> None:
    old, new = NOON - timedelta(days=1), NOON - timedelta(hours=23)
    rows = [site_row(site, planned_at=old) for site in ("old.test", "gone.test")]
    rows.append(site_row("ahead.test", planned_at=NOON + timedelta(hours=1)))
    with dg.DagsterInstance.local_temp(str(tmp_path)) as kept:
        kept.add_dynamic_partitions("sites", ["old.test", "ahead.test", "new.test"])
        request = planned(kept, *rows, site_row("new.test", planned_at=new))
        assert request.run_config == batch_run_config(many_sites.name, ["ahead.test", "old.test"])
        assert isinstance(planned(kept, site_row("new.test", planned_at=new)), dg.SkipReason)


def test_sites_of_a_range_are_busy(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("sites", ["a.test", "b.test", "c.test"])

    @dg.job
    def crawl() -> None:
        return

    ends = {"dagster/asset_partition_range_start": "a.test", "dagster/asset_partition_range_end": "b.test"}
    instance.create_run_for_job(crawl, status=dg.DagsterRunStatus.STARTED, tags=ends)
    assert [request.partition_key for request in tick(instance, *map(site_row, ["a.test", "b.test", "c.test"]))] == [
        "c.test"
    ]


@pytest.mark.parametrize(
    ("minutes", "is_held", "is_busy"),
    [(9, False, True), (11, False, False), (11, True, True), (3000, True, True)],
    ids=["just begun", "killed", "at work", "at work for days"],
)
def test_a_run_that_was_killed_holds_nothing_up_once_its_lease_is_over(
    instance: dg.DagsterInstance, minutes: float, is_held: bool, is_busy: bool
) -> None:
    @dg.job
    def crawl() -> None:
        return

    run = instance.create_run_for_job(crawl, tags={"dagster/partition": "a.test"})
    instance.report_dagster_event(DagsterEvent(DagsterEventType.RUN_START.value, crawl.name), run.run_id)
    (record,) = instance.get_run_records()
    assert record.start_time is not None
    now = datetime.fromtimestamp(record.start_time, UTC) + timedelta(minutes=minutes)
    leases = SiteLeaseStore(MemoryObjects(), TurnableClock(now))
    with leases.hold("a.test", run.run_id) if is_held else nullcontext():
        assert (busy_sites(instance, now, leases)[0] == {"a.test"}) == is_busy

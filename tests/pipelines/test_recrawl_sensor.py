"""The recrawl sensor: which sites get a run, and how often."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest
from dagster import DagsterEvent, DagsterEventType

from assets import names
from assets.recrawl.serving import SiteDue
from assets.schemas.recrawl import SITE_SCHEDULE
from pipelines.jobs import refresh_site
from pipelines.recrawl import MIN_BATCH, RUNS_A_TICK, busy_sites, recrawl_due_sites, run_request, sites_to_refresh
from tests.support.answers import NOON
from tests.support.clocks import TurnableClock
from tests.support.memory import MemoryTables


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


@pytest.mark.parametrize(
    ("values", "is_wanted"),
    [
        pytest.param({}, True, id="many due"),
        pytest.param({"due_by_hour": few(MIN_BATCH - 1)}, True, id="few, for an hour"),
        pytest.param(
            {"due_by_hour": few(MIN_BATCH - 1), "first_due_at": NOON - timedelta(minutes=5)}, False, id="few, just now"
        ),
        pytest.param({"planned_at": NOON - timedelta(minutes=1)}, False, id="planned a minute ago"),
        pytest.param({"requests_per_day": 0.0}, False, id="no budget"),
        pytest.param({"requests_24h": 1000, "planned_at": NOON - timedelta(minutes=30)}, False, id="budget used up"),
        pytest.param({"requests_24h": 1000, "planned_at": NOON - timedelta(hours=2)}, True, id="used up hours ago"),
        pytest.param({"first_due_at": None, "due_by_hour": few(0)}, False, id="nothing due"),
    ],
)
def test_a_site_gets_a_run_when_it_is_worth_one(values: dict[str, Any], is_wanted: bool) -> None:
    assert bool(sites_to_refresh(schedule(site_row(**values)), NOON)) == is_wanted


def test_one_run_a_schedule_and_hour() -> None:
    def key(planned_at: datetime, now: datetime) -> str | None:
        due = SiteDue("a.test", 60, planned_at, 1.0, 100.0, 100.0, planned_at)
        return run_request(due, now).run_key

    assert key(NOON, NOON + timedelta(minutes=10)) == key(NOON, NOON + timedelta(minutes=50))
    assert key(NOON, NOON + timedelta(minutes=10)) != key(NOON, NOON + timedelta(minutes=70))
    assert key(NOON, NOON + timedelta(minutes=90)) != key(NOON + timedelta(minutes=60), NOON + timedelta(minutes=90))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def tick(instance: dg.DagsterInstance, *rows: dict[str, Any]) -> list[dg.RunRequest]:
    tables = MemoryTables()
    tables.append(names.T_SITE_SCHEDULE, schedule(*rows))
    with dg.build_sensor_context(
        instance=instance, resources={"tables": tables, "clock": TurnableClock(NOON)}
    ) as context:
        result = recrawl_due_sites(context)
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


def test_a_tick_asks_for_no_more_runs_than_it_may(instance: dg.DagsterInstance) -> None:
    sites = [f"s{n}.test" for n in range(RUNS_A_TICK + 5)]
    instance.add_dynamic_partitions("sites", sites)
    assert len(tick(instance, *map(site_row, sites))) == RUNS_A_TICK


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


@pytest.mark.parametrize(("hours", "is_busy"), [(23, True), (25, False)])
def test_a_run_that_was_killed_a_day_ago_holds_nothing_up(
    instance: dg.DagsterInstance, hours: float, is_busy: bool
) -> None:
    @dg.job
    def crawl() -> None:
        return

    run = instance.create_run_for_job(crawl, tags={"dagster/partition": "a.test"})
    instance.report_dagster_event(DagsterEvent(DagsterEventType.RUN_START.value, crawl.name), run.run_id)
    (record,) = instance.get_run_records()
    assert record.start_time is not None
    now = datetime.fromtimestamp(record.start_time, UTC) + timedelta(hours=hours)
    assert (busy_sites(instance, now)[0] == {"a.test"}) == is_busy


def test_the_sensor_starts_the_refresh_job() -> None:
    assert recrawl_due_sites.job_name == refresh_site.name

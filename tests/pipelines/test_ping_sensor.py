"""The sensor for pings: dropped files are read, and each site with new pings is planned once for them."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

import dagster as dg
import pytest

from pipelines.jobs import plan_site
from pipelines.pings import hear_pings
from pipelines.recrawl import RUNS_A_TICK
from resources.errors import BadSettings
from resources.ports import SiteSettings
from resources.site_leases import SiteLeaseStore
from tests.support.answers import NOON
from tests.support.clocks import TurnableClock
from tests.support.memory import MemoryObjects, MemoryTables
from tests.support.rig import DictCatalog
from tests.support.visit_history import scheduled_sites


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


class Broken(DictCatalog):
    """A catalog with a mistake in its file."""

    def settings(self, site: str) -> SiteSettings:
        """Say what is wrong."""
        raise BadSettings("sites.yaml: unknown key 'sits'")


def drop(objects: MemoryObjects, name: str, *sites: str) -> None:
    objects.put(f"pings/{name}.txt", "\n".join(f"https://{site}/new" for site in sites).encode())


def tick(
    instance: dg.DagsterInstance,
    tables: MemoryTables,
    objects: MemoryObjects,
    catalog: DictCatalog | None = None,
    *,
    hours: float = 0,
) -> Sequence[dg.RunRequest]:
    clock = TurnableClock(NOON + timedelta(hours=hours))
    resources = {
        "tables": tables,
        "objects": objects,
        "catalog": catalog or DictCatalog({}),
        "clock": clock,
        "leases": SiteLeaseStore(MemoryObjects(), clock),
    }
    with dg.build_sensor_context(instance=instance, resources=resources) as context:
        result = hear_pings(context)
    return list(result.run_requests or []) if isinstance(result, dg.SensorResult) else []


def test_each_pinged_site_that_nobody_crawls_is_planned_once_for_its_pings(instance: dg.DagsterInstance) -> None:
    tables, objects = scheduled_sites("a.example", "b.example", "busy.example", "gone.example"), MemoryObjects()
    instance.add_dynamic_partitions("sites", ["a.example", "b.example", "busy.example"])

    @dg.job
    def crawl() -> None:
        return

    instance.create_run_for_job(crawl, status=dg.DagsterRunStatus.STARTED, tags={"dagster/partition": "busy.example"})
    assert tick(instance, tables, objects) == []
    drop(objects, "one", "a.example", "busy.example", "gone.example")
    first = tick(instance, tables, objects)
    assert [request.partition_key for request in first] == ["a.example"]
    assert not objects.data
    again = tick(instance, tables, objects)
    assert [request.run_key for request in again] == [request.run_key for request in first]
    just_planned = scheduled_sites("a.example", planned_at=NOON - timedelta(minutes=5))
    drop(objects, "soon", "a.example")
    assert tick(instance, just_planned, objects) == []
    assert len(tick(instance, just_planned, objects, hours=0.2)) == 1
    # A plan that failed is asked for again; more pings want another one.
    later = tick(instance, tables, objects, hours=1)
    drop(objects, "two", "a.example")
    more = tick(instance, tables, objects)
    assert len({request.run_key for request in [*first, *later, *more]}) == 3


def test_a_tick_asks_for_no_more_plans_than_it_may(instance: dg.DagsterInstance) -> None:
    names = [f"s{number}.example" for number in range(RUNS_A_TICK + 5)]
    instance.add_dynamic_partitions("sites", names)
    objects = MemoryObjects()
    drop(objects, "many", *names)
    assert len(tick(instance, scheduled_sites(*names), objects)) == RUNS_A_TICK


def test_a_mistake_in_the_catalog_loses_no_file(instance: dg.DagsterInstance) -> None:
    objects = MemoryObjects()
    drop(objects, "one", "a.example")
    assert tick(instance, scheduled_sites("a.example"), objects, Broken({})) == []
    assert list(objects.data) == ["pings/one.txt"]


def test_the_sensor_starts_the_job_that_plans() -> None:
    assert hear_pings.job_name == plan_site.name

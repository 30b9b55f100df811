"""Sensors that follow the site catalog."""

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta

import dagster as dg
import pytest

from assets.crawl.crawl_log import CrawlKind, CrawlState
from pipelines.catalog import crawl_again, crawls_due, watch_sites_file
from resources.errors import BadSettings
from resources.ports import SiteSettings
from resources.site_leases import SiteLeaseStore
from tests.support.answers import NOON
from tests.support.clocks import TurnableClock
from tests.support.memory import MemoryObjects, MemoryTables
from tests.support.rig import DictCatalog


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


class Listed(DictCatalog):
    """A catalog that lists its entries."""

    def __init__(self, *names: str) -> None:
        super().__init__({name: SiteSettings(name) for name in names})
        self._names = names

    def listed(self) -> Sequence[str]:
        """Give the entries."""
        return self._names


class Broken(Listed):
    """A catalog with a mistake in its file."""

    def listed(self) -> Sequence[str]:
        """Say what is wrong."""
        raise BadSettings("sites.yaml: unknown key 'sits'")


def watched(
    instance: dg.DagsterInstance, catalog: Listed, cursor: list[str] | None = None
) -> dg.SensorResult | dg.SkipReason:
    resources = {"catalog": catalog, "clock": TurnableClock(NOON)}
    with dg.build_sensor_context(
        instance=instance, cursor=json.dumps(cursor) if cursor is not None else None, resources=resources
    ) as context:
        result = watch_sites_file(context)
    assert isinstance(result, dg.SensorResult | dg.SkipReason)
    return result


def test_a_new_site_gets_a_partition_and_its_first_crawl(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("sites", ["old.test", "by-hand.test"])
    result = watched(instance, Listed("old.test", "new.test", "not a host"))
    assert isinstance(result, dg.SensorResult)
    assert [request.partition_key for request in result.run_requests or []] == ["new.test"]
    (request,) = result.dynamic_partitions_requests or []
    assert (type(request).__name__, list(request.partition_keys)) == ("AddDynamicPartitionsRequest", ["new.test"])


def test_a_site_taken_out_of_the_file_loses_its_partition_and_one_added_by_hand_stays(
    instance: dg.DagsterInstance,
) -> None:
    instance.add_dynamic_partitions("sites", ["a.test", "b.test", "by-hand.test"])
    result = watched(instance, Listed("a.test"), ["a.test", "b.test"])
    assert isinstance(result, dg.SensorResult)
    assert not result.run_requests
    (request,) = result.dynamic_partitions_requests or []
    assert (type(request).__name__, list(request.partition_keys)) == ("DeleteDynamicPartitionsRequest", ["b.test"])
    assert json.loads(result.cursor or "") == ["a.test"]


def test_a_mistake_in_the_file_changes_nothing(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("sites", ["a.test"])
    result = watched(instance, Broken("a.test"), ["a.test"])
    assert isinstance(result, dg.SkipReason)
    assert "sites.yaml" in (result.skip_message or "")


@pytest.mark.parametrize(
    ("every_days", "days_ago", "is_due"), [(7, 7, True), (7, 6.9, False), (None, 999, False), (1, 30, True)]
)
def test_a_crawl_is_due_when_its_days_have_passed(every_days: float | None, days_ago: float, is_due: bool) -> None:
    settings = SiteSettings("a.test", crawl_every_days=every_days)
    latest = {"a.test": CrawlState(CrawlKind.CRAWL, "1", NOON - timedelta(days=days_ago), {})}
    assert ("a.test" in crawls_due([settings], latest, NOON)) == is_due
    assert not crawls_due([settings], {}, NOON)


def test_nothing_is_due_in_an_empty_store(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("sites", ["a.test"])
    clock = TurnableClock(NOON)
    leases = SiteLeaseStore(MemoryObjects(), clock)
    resources = {"tables": MemoryTables(), "catalog": Listed("a.test"), "clock": clock, "leases": leases}
    with dg.build_sensor_context(instance=instance, resources=resources) as context:
        assert isinstance(crawl_again(context), dg.SkipReason)

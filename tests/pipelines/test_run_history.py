"""Old runs go, and the instance forgets nothing of how a partition stands."""

from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest

from pipelines.run_history import Pruned, prune_runs

pytestmark = pytest.mark.slow

SITES = dg.DynamicPartitionsDefinition(name="places")


@dg.asset(partitions_def=SITES)
def depth(context: dg.AssetExecutionContext) -> None:
    """Succeed, except at the wreck."""
    if context.partition_key == "wreck":
        raise dg.Failure("aground", allow_retries=False)


@dg.asset
def tide() -> None:
    """Have no partitions."""


@dg.op
def look() -> None:
    """Make nothing."""


@dg.job(executor_def=dg.in_process_executor)
def looking() -> None:
    look()


def made(instance: dg.DagsterInstance, asset: dg.AssetsDefinition, partition: str | None = None) -> str:
    return dg.materialize([asset], instance=instance, partition_key=partition, raise_on_error=False).run_id


def test_runs_go_once_they_are_old_ended_and_newest_of_nothing(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("places", ["bay", "cape", "wreck"])
    replaced, failed = made(instance, depth, "bay"), made(instance, depth, "wreck")
    newest = {made(instance, depth, "bay"), made(instance, depth, "cape")}
    tides = made(instance, tide), made(instance, tide)
    of_ops = looking.execute_in_process(instance=instance).run_id
    at_work = instance.create_run_for_job(looking, status=dg.DagsterRunStatus.STARTED).run_id
    waiting = instance.create_run_for_job(looking, status=dg.DagsterRunStatus.NOT_STARTED).run_id
    now = datetime.now(UTC)
    before = len(instance.get_runs())
    assert prune_runs(instance, created_before=now - timedelta(days=1)) == Pruned(0, 0)
    assert len(instance.get_runs()) == before

    gone = {replaced, failed, tides[0], of_ops}
    assert prune_runs(instance, created_before=now + timedelta(days=1)) == Pruned(deleted=4, kept=3)
    left = {run.run_id for run in instance.get_runs()}
    assert left == newest | {tides[1], at_work, waiting}
    assert not [event for run_id in gone for event in instance.all_logs(run_id)]
    assert instance.get_materialized_partitions(depth.key) == {"bay", "cape"}
    assert instance.get_latest_materialization_event(tide.key) is not None
    assert prune_runs(instance, created_before=now + timedelta(days=1)) == Pruned(deleted=0, kept=3)


def test_what_is_pruned_goes_page_by_page(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("places", [f"p{n}" for n in range(3)])
    for _ in range(2):
        for number in range(3):
            made(instance, depth, f"p{number}")
    later = datetime.now(UTC) + timedelta(days=1)
    assert prune_runs(instance, created_before=later, runs_at_once=2) == Pruned(deleted=3, kept=3)
    assert instance.get_materialized_partitions(depth.key) == {"p0", "p1", "p2"}

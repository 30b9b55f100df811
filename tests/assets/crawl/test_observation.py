"""Notes as events of a run: what Dagster keeps of them while the run works."""

from collections.abc import Iterator

import dagster as dg
import pytest

from assets.crawl.observation import observation_of
from assets.partitions import sites
from tests.support.notes import run_note, site_note

KEY = dg.AssetKey(["depth_1", "raw_batches"])


@pytest.mark.parametrize("partition", ["a.example", None], ids=["one site", "many sites"])
def test_a_run_that_observes_keeps_events_and_their_metadata(partition: str | None) -> None:
    @dg.multi_asset(
        name="crawl",
        specs=[dg.AssetSpec(KEY, partitions_def=sites, skippable=True)],
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def crawl() -> Iterator[dg.AssetObservation | dg.AssetMaterialization]:
        for done in (10, 20):
            event = observation_of(run_note(site_note(), site_note("b.example"), done=done), partition=partition)
            if event is not None:
                yield event

    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(sites.name), ["a.example", "b.example"])
        if partition:
            result = dg.materialize([crawl], instance=instance, partition_key=partition)
        else:
            edges = {
                "dagster/asset_partition_range_start": "a.example",
                "dagster/asset_partition_range_end": "b.example",
            }
            result = dg.materialize([crawl], instance=instance, tags=edges)
        assert result.success
        kept = instance.fetch_observations(KEY, limit=10).records
        assert instance.get_latest_materialization_event(KEY) is None
    newest = kept[0].asset_observation
    assert newest is not None
    assert len(kept) == 2
    assert newest.partition == partition
    values = {
        name: value.value for name, value in newest.metadata.items() if not isinstance(value, dg.TableMetadataValue)
    }
    assert values == {
        "pages_done": 20,
        "pages_left": 40,
        "pages_per_s": 2.5,
        "waiting": "3 hosts waiting (2 politeness delay, 1 backing off)",
        "end": "not before 12:04:00Z",
        "queued": 40,
        "open_requests": 7,
        "overall_pages_per_s": 4.0,
        "errors_so_far": 4,
        "errors_by_kind": {"timeout": 3, "server_error": 1},
        "bytes_so_far": 3 * 2**20,
        "sites_done": 1,
        "sites_at_work": 2,
    }
    why = "backing off after 2 refusals (429, 503) until 12:03:00Z"
    hosts, at_work = newest.metadata["hosts"], newest.metadata["sites"]
    assert isinstance(hosts, dg.TableMetadataValue)
    assert isinstance(at_work, dg.TableMetadataValue)
    assert [record.data["why"] for record in hosts.records] == [why, why]
    assert [record.data["site"] for record in at_work.records] == ["a.example", "b.example"]


def test_a_run_without_a_site_at_work_has_nothing_to_observe() -> None:
    assert observation_of(run_note(), partition=None) is None

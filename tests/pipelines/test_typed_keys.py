"""Keys as people type them: refused with the reason before any request, and put right where that is clear."""

from collections.abc import Sequence

import dagster as dg
import pytest

from assets import names
from pipelines.jobs import crawl_site
from pipelines.typed_keys import replace_typed_keys
from tests.support.loopback import LoopbackSite, small_site
from tests.support.rig import Rig, failure_sentence
from tests.support.s3 import in_a_folder


def tick(instance: dg.DagsterInstance) -> str | None:
    """Evaluate the sensor and do what it asks, as the daemon does; give why it skipped."""
    result = replace_typed_keys(dg.build_sensor_context(instance=instance))
    if isinstance(result, dg.SkipReason):
        return result.skip_message
    assert isinstance(result, dg.SensorResult)
    for request in result.dynamic_partitions_requests or ():
        if isinstance(request, dg.AddDynamicPartitionsRequest):
            instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
        else:
            for key in request.partition_keys:
                instance.delete_dynamic_partition(request.partitions_def_name, key)
    return None


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        (["https://Docs.x.org/guide/", "b.test"], ["b.test", "docs.x.org"]),
        (["b.test", "B.TEST", " b.test "], ["b.test"]),
        (["a.test, b.test"], ["a.test", "b.test"]),
        (["http://127.0.0.1:8000/"], ["127.0.0.1:8000"]),
    ],
    ids=["an address", "capitals and blanks", "two sites", "a port"],
)
def test_a_typed_key_becomes_the_partition_that_is_meant(
    instance: dg.DagsterInstance, typed: Sequence[str], left: Sequence[str]
) -> None:
    instance.add_dynamic_partitions("sites", list(typed))
    assert tick(instance) is None
    assert sorted(instance.get_dynamic_partitions("sites")) == left
    assert tick(instance) == f"of {len(left)} partitions none is to be replaced"


def test_what_is_not_clear_is_left_and_so_is_what_has_a_run(instance: dg.DagsterInstance) -> None:
    keys = ["a...b", "a b", "https://b.test/"]
    instance.add_dynamic_partitions("sites", keys)
    run = instance.create_run_for_job(
        crawl_site_alone, status=dg.DagsterRunStatus.STARTED, tags={"dagster/partition": "https://b.test/"}
    )
    told = tick(instance)
    assert told is not None
    assert told.startswith(
        "of 3 partitions none is to be replaced; 2 say nothing clear, such as 'a...b' is not a site key"
    )
    assert sorted(instance.get_dynamic_partitions("sites")) == sorted(keys)
    instance.delete_run(run.run_id)
    assert tick(instance) is None
    assert sorted(instance.get_dynamic_partitions("sites")) == ["a b", "a...b", "b.test"]


@dg.job(name=crawl_site.name)
def crawl_site_alone() -> None:
    """Stand for the job in a run."""


@pytest.mark.slow
@in_a_folder
def test_a_run_of_a_typed_key_ends_with_a_sentence_before_any_request(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        told = {
            site.url("/"): f"use the partition '{site.host}'",
            f"{site.host}, b.test": f"use the partitions '{site.host}', 'b.test'",
            "a...b": "use one host name such as 'docs.example.org'",
        }
        for key, said in told.items():
            for assets in ([names.SEED_CHECK], [names.PAGES], [names.SITE_MAP]):
                result = rig.crawl(key, select=assets)
                assert not result.success, (key, assets)
                assert f"{key!r} is not a site key: {said}" in failure_sentence(result)
        assert not site.requests
    assert not list(rig.objects.list(""))

"""Typed keys: a partition that a person typed and that is no site key, such as an address, becomes the one meant.

Dagster takes any text for a key. A run of one that is no site key ends before its first request, with a sentence that
names the right one; here the partition itself is put right.
"""

import dagster as dg

from assets.partitions import sites
from assets.url.host import site_key_problem, sites_meant
from pipelines.recrawl import RUNS_UNDER_WAY


@dg.sensor(
    name="replace_typed_keys",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Replaces partitions that were typed as an address, in capitals or several at once by those that are meant: "
        "https://Docs.example.org/ by docs.example.org. Nothing was ever crawled under such a key. One that says "
        "nothing clear is left, and its runs say why it cannot be crawled."
    ),
)
def replace_typed_keys(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Put right the partitions that no run is under way for."""
    known = context.instance.get_dynamic_partitions(str(sites.name))
    typed = [key for key in known if site_key_problem(key)]
    meant = {key: names for key in typed if (names := sites_meant(key)) and not _has_run(context.instance, key)}
    if not meant:
        unclear = [key for key in typed if not sites_meant(key)]
        told = f"; {len(unclear)} say nothing clear, such as {site_key_problem(unclear[0])}" if unclear else ""
        return dg.SkipReason(f"of {len(known)} partitions none is to be replaced{told}")
    new = sorted({name for names in meant.values() for name in names} - set(known))
    return dg.SensorResult(
        dynamic_partitions_requests=[
            *([sites.build_add_request(new)] if new else []),
            sites.build_delete_request(list(meant)),
        ]
    )


def _has_run(instance: dg.DagsterInstance, key: str) -> bool:
    # Without its partition a run that waits would end with an error that does not say what to type instead.
    filters = dg.RunsFilter(statuses=RUNS_UNDER_WAY, tags={"dagster/partition": key})
    return bool(instance.get_runs(filters, limit=1))

"""Sites of a run: which partitions a run was asked for."""

import dagster as dg

from assets.partitions import sites
from pipelines.jobs import PLAN_SITES, REFRESH_SITES
from pipelines.refresh_batch import sites_of_batch


def sites_of_run(run: dg.DagsterRun, instance: dg.DagsterInstance) -> list[str]:
    """Give the sites of a run; none when it names none."""
    site = run.tags.get("dagster/partition")
    if site:
        return [site]
    if run.job_name in (REFRESH_SITES, PLAN_SITES):
        return sites_of_batch(run)
    first, last = run.tags.get("dagster/asset_partition_range_start"), run.tags.get("dagster/asset_partition_range_end")
    keys = list(instance.get_dynamic_partitions(str(sites.name))) if first and last else []
    if first in keys and last in keys:
        return keys[keys.index(first) : keys.index(last) + 1]
    return []

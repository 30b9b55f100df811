"""Batches: jobs that materialize assets of any sites in one run. Dagster's own runs hold one site or a range of them.

A batch calls the functions of the assets, one asset after the other, and logs for each site the events that a run over
a range of sites would. What the automation would make of an asset's news, the batch makes itself: its runs are tagged.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import dagster as dg
from pydantic import Field

from assets.derived import BatchContext, failed_sites, failure_of_sites
from assets.partitions import sites

BATCH_TAG: Final = "isobath/batch"


class BatchConfig(dg.Config):
    """Which sites, and what their assets are asked."""

    sites: list[str] = Field(description="Partitions, in any order.")
    max_pages: int | None = Field(default=None, description="Most pages to ask of each site.")


def batch_job(
    name: str, assets: Sequence[dg.AssetsDefinition], resources: Mapping[str, Any], *, description: str
) -> dg.JobDefinition:
    """Make a job of one op that materializes assets for the sites of its config.

    A site that fails in one asset is left out of those that follow; the others go on, and the run ends as failed.

    Args:
        name: of the job.
        assets: per site, each after those that it reads.
        resources: of the definitions. Bound here, the sensors that start the job need not be copied to bind them.
        description: of the job.
    """

    @dg.op(name=_op(name), required_resource_keys={key for asset in assets for key in asset.op.required_resource_keys})
    def batch(context: dg.OpExecutionContext, config: BatchConfig) -> Iterator[Any]:
        known = set(context.instance.get_dynamic_partitions(str(sites.name)))
        wanted = list(dict.fromkeys(config.sites))
        failed = {site: "no such partition" for site in wanted if site not in known}
        for asset in assets:
            chosen = [site for site in wanted if site not in failed]
            try:
                if chosen:
                    yield from _materialized(context, asset, chosen, config)
            except dg.Failure as failure:
                failed.update(failed_sites(failure))
        if failed:
            raise failure_of_sites(failed, len(wanted))
        yield dg.Output(None)

    @dg.job(
        name=name,
        description=description,
        resource_defs=dict(resources),
        executor_def=dg.in_process_executor,
        tags={BATCH_TAG: "yes"},
    )
    def of_sites() -> None:
        batch()

    return of_sites


def batch_run_config(job: str, sites_of_batch: Sequence[str], **config: Any) -> dict[str, Any]:
    """Give the run config that starts a batch."""
    return {"ops": {_op(job): {"config": {"sites": list(sites_of_batch), **config}}}}


def _op(job: str) -> str:
    return f"{job}_batch"


def sites_of_batch(run: dg.DagsterRun) -> list[str]:
    """Give the sites that a run of a batch was asked for."""
    config: Mapping[str, Any] = run.run_config
    return list(config["ops"][_op(run.job_name)]["config"]["sites"])


def _materialized(
    context: dg.OpExecutionContext, asset: dg.AssetsDefinition, chosen: Sequence[str], config: BatchConfig
) -> Iterator[Any]:
    """Give the events of one asset.

    Raises:
        Failure: sites failed; the others are materialized.
    """
    function = asset.op.compute_fn.decorated_fn  # type: ignore[union-attr]
    parameters = inspect.signature(function).parameters
    given = {key: getattr(context.resources, key) for key in asset.op.required_resource_keys if key in parameters}
    if "config" in parameters:
        asked = parameters["config"].annotation
        own = {key: value for key in asked.model_fields if (value := getattr(config, key, None)) is not None}
        given["config"] = asked(**own)
    yield from function(BatchContext.of(context, asset, chosen), **given)

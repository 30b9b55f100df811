"""Site events: how an asset tells Dagster what became of each site, in a run of one site and in a run of many.

A run of one site yields ordinary results. A run over a range of sites logs one event a site at the moment it is done,
and ends with an error that names the sites that failed and why; the others stay materialized. Where none failed, the
later steps of the same run go on.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.definitions.source_asset import SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION

from assets import names
from assets.partitions import DERIVED_POLICY, sites
from assets.table_metadata import table_metadata
from assets.url.host import site_key_problem
from resources.errors import BadSettings

_FAILED: Final = "failed"
Severities = Sequence[tuple[str, Literal["warn", "error"]]]

SiteEvent = (
    dg.MaterializeResult[None]
    | dg.AssetMaterialization
    | dg.AssetCheckEvaluation
    | dg.AssetCheckResult
    | dg.Output[None]
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdict of one asset check on one site."""

    name: str
    passed: bool
    description: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.WARN


class SiteContext(Protocol):
    """What an asset's function needs to know of its run, whether that is of the asset or of a batch."""

    @property
    def partition_keys(self) -> Sequence[str]:
        """Give the sites."""
        ...

    @property
    def has_partition_key(self) -> bool:
        """Tell whether the run is one of a single site."""
        ...

    @property
    def selected_asset_keys(self) -> AbstractSet[dg.AssetKey]:
        """Give the assets that are wanted."""
        ...

    @property
    def selected_asset_check_keys(self) -> AbstractSet[dg.AssetCheckKey]:
        """Give the checks that are wanted."""
        ...

    @property
    def instance(self) -> dg.DagsterInstance:
        """Give Dagster's instance."""
        ...

    @property
    def run(self) -> dg.DagsterRun:
        """Give the run."""
        ...

    @property
    def log(self) -> dg.DagsterLogManager:
        """Give the log of the run."""
        ...


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The context of an asset's function in a run of an op that materializes it for some sites."""

    partition_keys: Sequence[str]
    selected_asset_keys: AbstractSet[dg.AssetKey]
    selected_asset_check_keys: AbstractSet[dg.AssetCheckKey]
    instance: dg.DagsterInstance
    run: dg.DagsterRun
    log: dg.DagsterLogManager
    has_partition_key: bool = False

    @classmethod
    def of(
        cls, context: dg.OpExecutionContext, asset: dg.AssetsDefinition, partition_keys: Sequence[str]
    ) -> "BatchContext":
        """Take from the op's context what is the same for both."""
        return cls(partition_keys, set(asset.keys), set(asset.check_keys), context.instance, context.run, context.log)


@dataclass(frozen=True, slots=True)
class SiteResult:
    """What an asset made of one site."""

    metadata: Mapping[str, Any]
    data_version: str  # equal when nothing changed, so that the UI's "stale" is true
    checks: tuple[CheckResult, ...] = ()
    severities: Severities = ()  # that the site sets, by check


def site_events(context: SiteContext, key: dg.AssetKey, site: str, result: SiteResult) -> Iterator[SiteEvent]:
    """Give the events that mark an asset materialized for a site, with its checks."""
    wanted = {check.name for check in context.selected_asset_check_keys if check.asset_key == key}
    severities = {name: dg.AssetCheckSeverity(word.upper()) for name, word in result.severities}
    checks = [
        replace(check, severity=severities.get(check.name, check.severity))
        for check in result.checks
        if check.name in wanted
    ]
    if context.has_partition_key:
        yield dg.MaterializeResult(
            asset_key=key,
            metadata=result.metadata,
            data_version=dg.DataVersion(result.data_version),
            check_results=[
                dg.AssetCheckResult(
                    asset_key=key,
                    check_name=check.name,
                    passed=check.passed,
                    description=check.description,
                    metadata=check.metadata,
                    severity=check.severity,
                )
                for check in checks
            ],
        )
        return
    yield dg.AssetMaterialization(
        key, partition=site, metadata=result.metadata, tags={"dagster/data_version": result.data_version}
    )
    if not checks:
        return
    stored = context.instance.get_latest_storage_id_by_partition(key, dg.DagsterEventType.ASSET_MATERIALIZATION, {site})
    target = AssetCheckEvaluationTargetMaterializationData(
        storage_id=stored[site], run_id=context.run.run_id, timestamp=time.time()
    )
    for check in checks:
        yield dg.AssetCheckEvaluation(
            asset_key=key,
            check_name=check.name,
            partition=site,
            passed=check.passed,
            description=check.description,
            metadata={name: dg.MetadataValue.text(str(value)) for name, value in check.metadata.items()},
            severity=check.severity,
            target_materialization_data=target,
        )


def end_of_range(context: SiteContext) -> Iterator[SiteEvent]:
    """Give the outputs that let the later steps of a run over a range go on; Dagster skips them otherwise.

    Of each asset, the events of its sites are logged already: the mark keeps Dagster from logging them all again. It
    is Dagster's own for assets that log their events themselves.
    """
    if context.has_partition_key or not isinstance(context, dg.AssetExecutionContext):
        return
    for spec in context.assets_def.specs:  # in the order of the flow, on which Dagster insists
        if spec.key in context.selected_asset_keys:
            name = context.output_for_asset_key(spec.key)
            yield dg.Output(None, name, metadata={SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION: True})


def failure_of_sites(failed: Mapping[str, str], total: int) -> dg.Failure:
    """Make the error that ends a run in which some sites failed: names each and why."""
    reasons = "; ".join(f"{site}: {reason}" for site, reason in sorted(failed.items()))
    return dg.Failure(
        description=f"{len(failed)} of {total} sites failed. {reasons}",
        metadata={_FAILED: dg.MetadataValue.json(dict(failed))},
        allow_retries=False,
    )


def failed_sites(failure: dg.Failure) -> dict[str, str]:
    """Give the sites that such an error names, and why each failed.

    Raises:
        Failure: this one, when it is of another kind.
    """
    failed = failure.metadata.get(_FAILED)
    if failed is None:
        raise failure
    return {str(site): str(reason) for site, reason in failed.value.items()}  # type: ignore[union-attr]


def per_site(context: SiteContext, key: dg.AssetKey, work: Callable[[str], SiteResult]) -> Iterator[SiteEvent]:
    """Do the work of a derived asset for every site of the run; one site's failure does not stop the others.

    Raises:
        dagster.Failure: at the end, when the work failed for a site.
    """
    failed: dict[str, str] = {}
    for site in context.partition_keys:
        try:
            problem = site_key_problem(site)
            if problem:
                raise BadSettings(problem)
            result = work(site)
        except Exception as error:
            if context.has_partition_key:
                raise
            # A bug met in one site must not take the others with it; the run still ends as failed.
            context.log.exception("%s of %s failed", key.to_user_string(), site)
            failed[site] = f"{type(error).__name__}: {error}"
            continue
        yield from site_events(context, key, site, result)
    if failed:
        raise failure_of_sites(failed, len(context.partition_keys))
    yield from end_of_range(context)


def derived_asset(
    *,
    key: dg.AssetKey,
    deps: Sequence[dg.AssetKey],
    group: str,
    description: str,
    kinds: set[str],
    code_version: str,
    tables: Sequence[str] = (),
    checks: Mapping[str, str] | None = None,
    severe: Collection[str] = (),
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Declare an asset that is derived per site; its function should ``yield from per_site(...)``.

    Args:
        tables: that it writes, its main one first; Dagster shows their columns.
        checks: name -> description of the asset checks that the function reports.
        severe: names of those that it reports with severity ERROR.
    """
    spec = dg.AssetSpec(
        key,
        deps=list(deps),
        description=description,
        group_name=group,
        kinds=kinds,
        owners=names.OWNERS,
        code_version=code_version,
        partitions_def=sites,
        skippable=True,
        metadata=table_metadata(*tables),
        tags={names.SIDE_TAG: "derived"},
    )
    return dg.multi_asset(
        name="__".join(key.path),
        specs=[spec],
        check_specs=[
            dg.AssetCheckSpec(
                name,
                asset=key,
                description=text,
                partitions_def=sites,
                metadata={"severity": "ERROR" if name in severe else "WARN"},
            )
            for name, text in (checks or {}).items()
        ],
        # Without this Dagster wants an output of the asset even from a run of many sites, which gives events.
        can_subset=True,
        backfill_policy=DERIVED_POLICY,
    )

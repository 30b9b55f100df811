"""Events for alerts: what Dagster's ended runs say of failures and successes, in the order in which the runs ended.

Only the ends of runs are followed: one exact cursor on every storage, and what failed in one run comes together. What
a run still under way has met is read when it ends.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import dagster as dg
from dagster._core.events import JobFailureData

from assets.derived import failed_sites
from pipelines.alert_causes import Failed, Succeeded
from pipelines.run_sites import sites_of_run

RUNS_A_READ: Final = 25
_WILL_RETRY: Final = "dagster/will_retry"
_ENDS: Final = (dg.DagsterEventType.RUN_SUCCESS, dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.RUN_CANCELED)
_TOLD: Final = {
    dg.DagsterEventType.STEP_SUCCESS,
    dg.DagsterEventType.STEP_FAILURE,
    dg.DagsterEventType.ASSET_CHECK_EVALUATION,
}


@dataclass(frozen=True, slots=True)
class EndedRun:
    """The end of a run."""

    storage_id: int
    run_id: str
    event: dg.DagsterEvent


def newest_end(instance: dg.DagsterInstance) -> int:
    """Give the storage id of the end that was stored last; 0 when no run has ended."""
    newest = [instance.fetch_run_status_changes(kind, limit=1, ascending=False).records for kind in _ENDS]
    return max((record.storage_id for records in newest for record in records), default=0)


def ends_after(instance: dg.DagsterInstance, storage_id: int) -> list[EndedRun]:
    """Give the next ends of runs after one, in their order; none when there are none yet."""
    ends: list[EndedRun] = []
    complete_to: int | None = None
    for kind in _ENDS:
        wanted = dg.RunStatusChangeRecordsFilter(kind, after_storage_id=storage_id)
        records = instance.fetch_run_status_changes(wanted, limit=RUNS_A_READ, ascending=True).records
        for record in records:
            event = record.event_log_entry.dagster_event
            if event is not None:
                ends.append(EndedRun(record.storage_id, record.event_log_entry.run_id, event))
        if len(records) == RUNS_A_READ:
            last = records[-1].storage_id
            complete_to = last if complete_to is None else min(complete_to, last)
    # Beyond the last of a kind that may have more, an end of that kind could be missing between those of others.
    return sorted(
        (end for end in ends if complete_to is None or end.storage_id <= complete_to), key=lambda end: end.storage_id
    )


def said_by(instance: dg.DagsterInstance, end: EndedRun, *, ui: str, warnings: bool) -> Iterator[Failed | Succeeded]:
    """Give what a run that ended says of each place, successes of a step before its failures.

    Args:
        instance: of Dagster.
        end: of the run.
        ui: address of the Dagster UI, for links.
        warnings: failed checks of severity WARN count too.
    """
    run = instance.get_run_by_id(end.run_id)
    if run is None:  # deleted since
        return
    sites = sites_of_run(run, instance) or [""]
    link = f"{ui}/runs/{run.run_id}"
    failed_steps = False
    for record in instance.get_records_for_run(run.run_id, of_type=_TOLD).records:
        event = record.event_log_entry.dagster_event
        if event is None:
            continue
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            yield from _said_by_check(event, run, ui=ui, warnings=warnings)
        elif event.event_type is dg.DagsterEventType.STEP_SUCCESS:
            yield from (Succeeded(_step(event), site) for site in sites)
        else:
            failed_steps = True
            # The run that takes this one's place will tell.
            if not _will_retry(run):
                yield from _said_by_failed_step(event, sites, link)
    job = f"job {run.job_name}"
    if end.event.event_type is dg.DagsterEventType.RUN_SUCCESS:
        yield from (Succeeded(job, site) for site in sites)
    elif end.event.event_type is dg.DagsterEventType.RUN_FAILURE and not failed_steps and not _will_retry(run):
        yield from (Failed(f"{job} failed", job, site, _reason_of_end(end.event), link) for site in sites)


def _will_retry(run: dg.DagsterRun) -> bool:
    return run.tags.get(_WILL_RETRY) == "true"


def _step(event: dg.DagsterEvent) -> str:
    return (event.step_key or "").replace("__", "/")


def _said_by_failed_step(event: dg.DagsterEvent, sites: Sequence[str], link: str) -> Iterator[Failed | Succeeded]:
    step = _step(event)
    reasons = _reasons(event, sites)
    yield from (Succeeded(step, site) for site in sites if site not in reasons)
    yield from (Failed(f"{step} failed", step, site, reason, link) for site, reason in reasons.items())


def _reasons(event: dg.DagsterEvent, sites: Sequence[str]) -> Mapping[str, str]:
    """Give why a step failed, by site: as it says itself, or the same for all."""
    data = event.step_failure_data
    if data.user_failure_data is not None:
        failure = dg.Failure(data.user_failure_data.description, dict(data.user_failure_data.metadata))
        try:
            return failed_sites(failure)
        except dg.Failure:
            return dict.fromkeys(sites, failure.description or "it failed without a word")
    error = data.error
    while error is not None and error.cause is not None:
        error = error.cause
    # Dagster writes "package.module.Error: words\n".
    name, colon, words = (error.message.strip() if error else "it failed without a word").partition(":")
    return dict.fromkeys(sites, f"{name.rpartition('.')[2] if ' ' not in name else name}{colon}{words}")


def _reason_of_end(event: dg.DagsterEvent) -> str:
    data = event.event_specific_data
    error = data.error if isinstance(data, JobFailureData) else None
    return (error.message if error else event.message or "").strip() or "it ended without a word"


def _said_by_check(
    event: dg.DagsterEvent, run: dg.DagsterRun, *, ui: str, warnings: bool
) -> Iterator[Failed | Succeeded]:
    evaluation = event.asset_check_evaluation_data
    asset, name = evaluation.asset_key, evaluation.check_name
    where = f"check {name} of {asset.to_user_string()}"
    site = evaluation.partition or run.tags.get("dagster/partition") or ""
    if evaluation.passed:
        yield Succeeded(where, site)
    elif warnings or evaluation.severity is dg.AssetCheckSeverity.ERROR:
        link = f"{ui}/assets/{'/'.join(quote(part) for part in asset.path)}?view=checks&checkDetail={quote(name)}"
        yield Failed(
            f"check {name} failed", where, site, evaluation.description or "the check failed", link, by_reason=False
        )

"""The recrawl sensor: which sites have enough due pages for a run of their own. It reads sites' rows, not pages'."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.partitions import sites
from assets.recrawl.serving import SiteDue, due_counts
from pipelines.jobs import refresh_site
from resources.ports import Clock, TableStore

MIN_BATCH: Final = 50  # pages; fewer wait for company
LONGEST_WAIT: Final = timedelta(minutes=15)
RUNS_A_TICK: Final = 50
# Each refresh makes the schedule anew: what it could not move must not bring on the next one at once.
LEAST_PAUSE: Final = timedelta(minutes=5)
# A run that failed leaves its pages due; the schedule it would have moved stays, and so does the run key but for this.
TRIES_AGAIN_EVERY: Final = timedelta(hours=1)
# A run whose process was killed stays "started" for ever. One that really takes longer still has its sites' leases.
LONGEST_RUN: Final = timedelta(days=1)

_BUSY: Final = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


@dg.sensor(
    name="recrawl_due_sites",
    job=refresh_site,
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description=(
        "Starts refresh_site for each site with enough pages that are due by its schedule, within its budget. "
        "Switch it on and leave it: it reads one row a site."
    ),
)
def recrawl_due_sites(
    context: dg.SensorEvaluationContext, tables: dg.ResourceParam[TableStore], clock: dg.ResourceParam[Clock]
) -> dg.SensorResult | dg.SkipReason:
    """Ask for a run of each site whose pages are due."""
    known = set(context.instance.get_dynamic_partitions(str(sites.name)))
    now = clock.now()
    busy, unclear = busy_sites(context.instance, now)
    if unclear:
        return dg.SkipReason("a run over many sites is under way, and any of them may be among those that are due")
    rows = tables.read(names.T_SITE_SCHEDULE)
    wanted = [site for site in sites_to_refresh(rows, now) if site.site in known and site.site not in busy]
    if not wanted:
        return dg.SkipReason(f"of {rows.num_rows} sites none has enough pages due that is not being crawled")
    return dg.SensorResult(run_requests=[run_request(site, now) for site in wanted[:RUNS_A_TICK]])


def sites_to_refresh(site_rows: pa.Table, now: datetime) -> Sequence[SiteDue]:
    """Choose the sites that deserve a run, the most at stake first.

    Args:
        site_rows: of ``site_schedule``.
        now: the present.
    """
    # Whoever has used up the day's budget gets an hour's rest: requests age slowly.
    spent = pc.greater_equal(site_rows["requests_24h"], site_rows["requests_per_day"])
    old = pc.less_equal(site_rows["planned_at"], pa.scalar(now - TRIES_AGAIN_EVERY, site_rows["planned_at"].type))
    able = site_rows.filter(pc.or_(pc.invert(spent), old))
    return [site for site in due_counts(able, now) if _is_worth_a_run(site, now)]


def _is_worth_a_run(site: SiteDue, now: datetime) -> bool:
    waits_long = site.waits_since is not None and now - site.waits_since >= LONGEST_WAIT
    rested = now - site.planned_at >= LEAST_PAUSE
    return rested and site.requests_per_day > 0 and (site.due >= MIN_BATCH or waits_long)


def run_request(site: SiteDue, now: datetime) -> dg.RunRequest:
    """Ask for the refresh of a site, once for each schedule that it gets, and again each hour while that stays."""
    tries = int((now - site.planned_at) / TRIES_AGAIN_EVERY)
    return dg.RunRequest(
        run_key=f"refresh {site.site} {site.planned_at:%Y%m%dT%H%M%S%f} {tries}",
        partition_key=site.site,
        tags={"isobath/started_by": "recrawl sensor", "isobath/due_pages": str(site.due)},
    )


def busy_sites(instance: dg.DagsterInstance, now: datetime) -> tuple[set[str], bool]:
    """Give the sites of runs under way, and whether there is a run that does not name its sites one by one."""
    busy: set[str] = set()
    unclear = False
    for record in instance.get_run_records(dg.RunsFilter(statuses=_BUSY)):
        run = record.dagster_run
        if record.start_time is not None and now.timestamp() - record.start_time > LONGEST_RUN.total_seconds():
            continue
        found = list(_named_sites(run, instance))
        unclear |= not found and _is_ours(run)
        busy.update(found)
    return busy, unclear


def _is_ours(run: dg.DagsterRun) -> bool:
    return bool(run.asset_selection)


def _named_sites(run: dg.DagsterRun, instance: dg.DagsterInstance) -> Iterator[str]:
    site = run.tags.get("dagster/partition")
    if site:
        yield site
    first, last = run.tags.get("dagster/asset_partition_range_start"), run.tags.get("dagster/asset_partition_range_end")
    if first and last:
        keys = list(instance.get_dynamic_partitions(str(sites.name)))
        if first in keys and last in keys:
            yield from keys[keys.index(first) : keys.index(last) + 1]

"""When sites are recrawled and planned: a sensor and a schedule, which read sites' rows and no pages'."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.partitions import sites
from assets.recrawl.serving import SiteDue, due_counts
from pipelines.jobs import REFRESH_SITES, refresh_site
from pipelines.refresh_batch import batch_run_config
from pipelines.run_sites import sites_of_run
from resources.ports import Clock, SiteLeases, TableStore

MIN_BATCH: Final = 50  # pages; fewer wait for company
LONGEST_WAIT: Final = timedelta(minutes=15)
RUNS_A_TICK: Final = 50
# Each refresh makes the schedule anew: what it could not move must not bring on the next one at once.
LEAST_PAUSE: Final = timedelta(minutes=5)
# Budget that nothing due needs goes to the most valuable pages: in so many runs a day, or whenever it makes a batch.
FILLS_A_DAY: Final = 6
# A run that failed leaves its pages due; the schedule it would have moved stays, and so does the run key but for this.
TRIES_AGAIN_EVERY: Final = timedelta(hours=1)
# A run whose process was killed stays "started" for ever: after this time a site is busy only while its lease is held.
GRACE_OF_RUNS: Final = timedelta(minutes=10)
# Where a run does not name its sites, there is no lease to look at.
LONGEST_RUN: Final = timedelta(days=1)

SINGLE_RUNS: Final = 10  # a tick; more sites than that get one run together
SITES_A_BATCH: Final = 500
PLAN_KEEPS: Final = timedelta(days=1)

_STARTED_BY: Final = "isobath/started_by"
_SENSOR: Final = "recrawl sensor"
RUNS_UNDER_WAY: Final = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def recrawl_sensor(refresh_sites: dg.JobDefinition) -> dg.SensorDefinition:
    """Make the sensor.

    Args:
        refresh_sites: the job that refreshes many sites in one run.
    """

    @dg.sensor(
        name="recrawl_due_sites",
        jobs=[refresh_site, refresh_sites],
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description=(
            "Refreshes each site with enough pages that are due by its schedule, or budget to spare: few sites by a "
            "run of refresh_site each, many by one of refresh_sites. Switch it on and leave it: it reads one row a "
            "site."
        ),
    )
    def recrawl_due_sites(
        context: dg.SensorEvaluationContext,
        tables: dg.ResourceParam[TableStore],
        clock: dg.ResourceParam[Clock],
        leases: dg.ResourceParam[SiteLeases],
    ) -> dg.SensorResult | dg.SkipReason:
        """Ask for runs of the sites whose pages are due."""
        known = set(context.instance.get_dynamic_partitions(str(sites.name)))
        now = clock.now()
        busy, unclear = busy_sites(context.instance, now, leases)
        if unclear:
            return dg.SkipReason("a run over many sites is under way, and any of them may be among those that are due")
        rows = tables.read(names.T_SITE_SCHEDULE)
        wanted = [site for site in sites_to_refresh(rows, now) if site.site in known and site.site not in busy]
        if not wanted:
            return dg.SkipReason(f"of {rows.num_rows} sites none has enough pages due that is not being crawled")
        if len(wanted) <= SINGLE_RUNS:
            return dg.SensorResult(run_requests=[run_request(site, now) for site in wanted])
        return dg.SensorResult(run_requests=[batch_request(wanted[:SITES_A_BATCH], now)])

    return recrawl_due_sites


def plan_daily(plan_sites: dg.JobDefinition) -> dg.ScheduleDefinition:
    """Make the schedule that plans sites anew that nothing else has planned for a day.

    Args:
        plan_sites: the job that plans many sites in one run.
    """

    @dg.schedule(
        name="plan_daily",
        job=plan_sites,
        cron_schedule="0 3 * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Each day at 3:00 UTC, makes the schedules anew that are older than a day, in one run.",
    )
    def of_old_plans(
        context: dg.ScheduleEvaluationContext, tables: dg.ResourceParam[TableStore], clock: dg.ResourceParam[Clock]
    ) -> dg.RunRequest | dg.SkipReason:
        """Ask for a plan of the sites whose last one is old."""
        known = set(context.instance.get_dynamic_partitions(str(sites.name)))
        now, made = clock.now(), pc.field("planned_at")
        # A plan from the future was made by a clock that was wrong.
        rows = tables.read(names.T_SITE_SCHEDULE, columns=["site"], where=(made <= now - PLAN_KEEPS) | (made > now))
        old = sorted(known.intersection(rows["site"].to_pylist()))
        if not old:
            return dg.SkipReason("no schedule is older than a day")
        return dg.RunRequest(run_config=batch_run_config(plan_sites.name, old), tags={_STARTED_BY: "daily plan"})

    return of_old_plans


def sites_to_refresh(site_rows: pa.Table, now: datetime) -> Sequence[SiteDue]:
    """Choose the sites that deserve a run, the most at stake first.

    Args:
        site_rows: of ``site_schedule``.
        now: the present.
    """
    return [site for site in due_counts(site_rows, now) if _is_worth_a_run(site, now)]


def _is_worth_a_run(site: SiteDue, now: datetime) -> bool:
    age = now - site.planned_at
    # A plan from the future was made by a clock that was wrong: nobody waits until then.
    if timedelta(0) <= age < LEAST_PAUSE or site.left < 1:
        return False
    # Where the budget is what holds a site back, its requests come back one by one: they too wait for company.
    if site.left < min(site.due or MIN_BATCH, MIN_BATCH, site.requests_per_day / FILLS_A_DAY):
        return False
    waits_long = site.waits_since is not None and now - site.waits_since >= LONGEST_WAIT
    fills = site.spare > 0 and (site.due + site.spare >= MIN_BATCH or age >= timedelta(days=1) / FILLS_A_DAY)
    return waits_long or site.due >= MIN_BATCH or fills


def run_request(site: SiteDue, now: datetime) -> dg.RunRequest:
    """Ask for the refresh of a site, once for each schedule that it gets, and again each hour while that stays."""
    tries = int((now - site.planned_at) / TRIES_AGAIN_EVERY)
    return dg.RunRequest(
        run_key=f"refresh {site.site} {site.planned_at:%Y%m%dT%H%M%S%f} {tries}",
        partition_key=site.site,
        job_name=refresh_site.name,
        tags={_STARTED_BY: _SENSOR, "isobath/due_pages": str(site.due)},
    )


def batch_request(batch: Sequence[SiteDue], now: datetime) -> dg.RunRequest:
    """Ask for the refresh of many sites in one run; its key is as those of single runs together."""
    keys = "\n".join(sorted(str(run_request(site, now).run_key) for site in batch))
    return dg.RunRequest(
        run_key=f"refresh {len(batch)} sites {hashlib.sha256(keys.encode()).hexdigest()}",
        job_name=REFRESH_SITES,
        run_config=batch_run_config(REFRESH_SITES, [site.site for site in batch]),
        tags={_STARTED_BY: _SENSOR, "isobath/due_pages": str(sum(site.due for site in batch))},
    )


def busy_sites(instance: dg.DagsterInstance, now: datetime, leases: SiteLeases) -> tuple[set[str], bool]:
    """Give the sites of runs under way, and whether there is a run that does not name its sites one by one.

    Args:
        instance: of Dagster.
        now: the present.
        leases: tell whether a run that has long begun still works on a site.
    """
    busy: set[str] = set()
    unclear = False
    for record in instance.get_run_records(dg.RunsFilter(statuses=RUNS_UNDER_WAY)):
        run = record.dagster_run
        age = timedelta(seconds=max(0.0, now.timestamp() - (record.start_time or now.timestamp())))
        found = set(sites_of_run(run, instance))
        if not found:
            unclear |= bool(run.asset_selection) and age <= LONGEST_RUN
        elif age <= GRACE_OF_RUNS:
            busy |= found
        else:
            busy |= {site for site in found - busy if leases.holder(site) is not None}
    return busy, unclear

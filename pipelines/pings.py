"""The sensor for pings: files that were dropped in are read, and sites with new pings get a new plan."""

from datetime import datetime, timedelta
from typing import Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.partitions import sites
from assets.recrawl.ping_intake import take_in_pings
from assets.recrawl.pings import sites_to_plan
from pipelines.jobs import plan_site
from pipelines.recrawl import RUNS_A_TICK, busy_sites
from resources.errors import BadSettings
from resources.ports import Clock, ObjectStore, SiteCatalog, SiteLeases, TableStore

# Whoever is pinged every minute is not planned every minute: a fresh plan rests before it starts a refresh.
LEAST_PAUSE: Final = timedelta(minutes=10)
# A plan that failed is tried again, once in so long.
TRIES_AGAIN_EVERY: Final = timedelta(hours=1)


@dg.sensor(
    name="hear_pings",
    job=plan_site,
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description=(
        "Reads files that were dropped into the store's pings/ folder, and plans sites anew whose pages were pinged, "
        "by such a file or by the ping command. Switch it on and leave it."
    ),
)
def hear_pings(
    context: dg.SensorEvaluationContext,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    catalog: dg.ResourceParam[SiteCatalog],
    clock: dg.ResourceParam[Clock],
    leases: dg.ResourceParam[SiteLeases],
) -> dg.SensorResult | dg.SkipReason:
    """Ask for a plan of each site with pings that its plan does not know of."""
    now = clock.now()
    try:
        taken = take_in_pings(tables, objects, catalog, now)
    except BadSettings as error:
        return dg.SkipReason(str(error))
    if taken.files:
        context.log.info("%s pings from %s files, %s addresses refused", taken.pings, taken.files, taken.refused)
    known = set(context.instance.get_dynamic_partitions(str(sites.name)))
    # What is being crawled is planned anew at the end of that run.
    busy, unclear = busy_sites(context.instance, now, leases)
    if unclear:
        return dg.SkipReason("a run over many sites is under way, and any of them may be among those that were pinged")
    rested = pc.field("planned_at") <= pa.scalar(now - LEAST_PAUSE)
    rows = tables.read(names.T_SITE_SCHEDULE, columns=["site", "pings_heard"], where=rested)
    wanted = {site: pings for site, pings in sites_to_plan(tables, rows).items() if site in known - busy}
    if not wanted:
        return dg.SkipReason(
            "no site that is not being crawled or was just planned has pings that its plan does not know of"
        )
    return dg.SensorResult(
        run_requests=[run_request(site, pings, now) for site, pings in list(wanted.items())[:RUNS_A_TICK]]
    )


def run_request(site: str, pings: int, now: datetime) -> dg.RunRequest:
    """Ask for a plan of a site, once for each number of pings, and again each hour while they stay unheard."""
    hour = int(now.timestamp() // TRIES_AGAIN_EVERY.total_seconds())
    return dg.RunRequest(
        run_key=f"plan {site} with {pings} pings, hour {hour}",
        partition_key=site,
        tags={"isobath/started_by": "ping sensor"},
    )

"""The weekly maintenance: a job of five ops that need each other in no order. Each can be run alone and at any time."""

import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import dagster as dg
from pydantic import Field

from assets.crawl.archive_sample import check_sample as check_captures
from assets.crawl.orphans import sweep_orphans as sweep_sites
from assets.schemas import TABLES
from pipelines.run_history import prune_runs as prune_history
from resources.errors import BadSettings
from resources.ports import Clock, Compacted, ObjectStore, SiteLeases, TableStore, Vacuumed

MAINTENANCE: Final = "maintenance"
SAMPLE_CAPTURES: Final = 1000
_SHOWN: Final = 20  # faults that the error of a run names

NOTHING: Final = dg.Out(dg.Nothing)


class TablesConfig(dg.Config):
    """Which tables."""

    tables: list[str] = Field(default=[], description="Names of tables; none means all.")


class VacuumConfig(TablesConfig):
    """Which tables, and what of them stays."""

    keep_days: int | None = Field(
        default=None,
        ge=0,
        description="Days for which old versions stay readable; default: ISOBATH_KEEP_VERSIONS_DAYS.",
    )


class SampleConfig(dg.Config):
    """How much of the archive is read back."""

    captures: int = Field(default=SAMPLE_CAPTURES, ge=1, description="Captures to read back, of all sites together.")
    seed: int | None = Field(default=None, ge=0, description="Of the choice; default: another one each time.")


class RunsConfig(dg.Config):
    """Which runs stay."""

    keep_days: int | None = Field(
        default=None, ge=1, description="Days for which ended runs stay; default: ISOBATH_KEEP_RUNS_DAYS."
    )


@dg.op(description="Makes many small files of a site's rows into few large ones, in each table.", out=NOTHING)
def compact_tables(
    context: dg.OpExecutionContext, config: TablesConfig, tables: dg.ResourceParam[TableStore]
) -> Iterator[dg.Output[None]]:
    """Compact tables, one after the other."""
    done = {name: tables.compact(name) for name in _chosen(config.tables)}
    total = sum(done.values(), Compacted())
    busy = [name for name, one in done.items() if one.places_left]
    if busy:
        context.log.warning("Left for the next time, as others wrote them meanwhile: %s", ", ".join(busy))
    yield _told(
        {
            "files_before": total.files_before,
            "files_after": total.files_after,
            "size_bytes": total.size_bytes,
            "places_left": total.places_left,
        },
        {name: (one.files_before, one.files_after, one.size_bytes) for name, one in done.items() if one != Compacted()},
        ("table", "files before", "files after", "bytes"),
    )


@dg.op(
    description="Removes WARC files that no row names and nobody can take up, and what killed runs left unfinished. "
    "A site that is being crawled is passed over.",
    out=NOTHING,
)
def sweep_orphans(
    context: dg.OpExecutionContext,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    leases: dg.ResourceParam[SiteLeases],
    clock: dg.ResourceParam[Clock],
) -> Iterator[dg.Output[None]]:
    """Sweep each site that no run works on."""
    swept = sweep_sites(
        tables, objects, leases, owner=context.run_id, now=clock.now(), temporary=Path(tempfile.gettempdir())
    )
    if swept.busy:
        context.log.info("Passed over, since runs work on them: %s", ", ".join(swept.busy))
    yield _told(
        {
            "sites": swept.sites,
            "sites_passed_over": len(swept.busy),
            "orphans": swept.orphans.count,
            "orphan_bytes": swept.orphans.size_bytes,
            "leftovers": swept.leftovers.count,
            "leftover_bytes": swept.leftovers.size_bytes,
        }
    )


@dg.op(
    description="Reads back a random sample of all captures, unpacks each and compares its digests. Fails when one is "
    "damaged, and names its file and offset.",
    out=NOTHING,
)
def check_sample(
    context: dg.OpExecutionContext,
    config: SampleConfig,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
) -> Iterator[dg.Output[None]]:
    """Read back a sample.

    Raises:
        Failure: a capture is damaged.
    """
    seed = random.SystemRandom().randrange(2**32) if config.seed is None else config.seed
    verdict = check_captures(tables, objects, captures=config.captures, seed=seed)
    numbers = {
        "captures": verdict.captures,
        "read_bytes": verdict.read_bytes,
        "faults": len(verdict.faults),
        "seed": seed,
    }
    if verdict.faults:
        for fault in verdict.faults:
            context.log.error("%s", fault)
        shown = "; ".join(verdict.faults[:_SHOWN])
        raise dg.Failure(
            f"{len(verdict.faults)} of {verdict.captures} captures are damaged: {shown}",
            metadata={**numbers, "damaged": dg.MetadataValue.json(list(verdict.faults))},
            allow_retries=False,
        )
    yield _told(numbers)


def maintenance_job(*, keep_versions_days: int, keep_runs_days: int) -> dg.JobDefinition:
    """Make the job.

    Args:
        keep_versions_days: for which old versions of tables stay readable, unless a run says otherwise.
        keep_runs_days: for which ended runs stay in Dagster's history, unless a run says otherwise.
    """

    @dg.op(
        description="Removes versions of tables that are older than what is kept, and files that killed writers left.",
        out=NOTHING,
    )
    def vacuum_tables(
        config: VacuumConfig, tables: dg.ResourceParam[TableStore], clock: dg.ResourceParam[Clock]
    ) -> Iterator[dg.Output[None]]:
        """Vacuum tables, one after the other."""
        keep_days = keep_versions_days if config.keep_days is None else config.keep_days
        done = {name: tables.vacuum(name, keep_days=keep_days, now=clock.now()) for name in _chosen(config.tables)}
        yield _told(
            {
                "files": sum(one.files for one in done.values()),
                "size_bytes": sum(one.size_bytes for one in done.values()),
                "keep_days": keep_days,
            },
            {name: (one.files, one.size_bytes) for name, one in done.items() if one != Vacuumed()},
            ("table", "files removed", "bytes"),
        )

    @dg.op(
        description="Deletes old ended runs from Dagster's history. A run that made the newest materialization of some "
        "partition stays, since its events say how that stands.",
        out=NOTHING,
    )
    def prune_runs(
        context: dg.OpExecutionContext, config: RunsConfig, clock: dg.ResourceParam[Clock]
    ) -> Iterator[dg.Output[None]]:
        """Prune the history."""
        keep_days = keep_runs_days if config.keep_days is None else config.keep_days
        pruned = prune_history(context.instance, created_before=clock.now() - timedelta(days=keep_days))
        yield _told({"deleted": pruned.deleted, "kept": pruned.kept, "keep_days": keep_days})

    @dg.job(
        name=MAINTENANCE,
        description="Compacts and vacuums tables, sweeps orphan files, checks a sample of digests, prunes old runs. "
        "Safe at any time, also while sites are crawled; choose ops in the launchpad to run some of it.",
        executor_def=dg.in_process_executor,
    )
    def maintenance() -> None:
        compact_tables()
        vacuum_tables()
        sweep_orphans()
        check_sample()
        prune_runs()

    return maintenance


def maintain_weekly(maintenance: dg.JobDefinition) -> dg.ScheduleDefinition:
    """Make the schedule of the maintenance."""
    return dg.ScheduleDefinition(
        name="maintain_weekly",
        job=maintenance,
        cron_schedule="0 4 * * 0",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.STOPPED,
        tags={"isobath/started_by": "weekly maintenance"},
        description="Each Sunday at 4:00 UTC, runs the maintenance.",
    )


def _chosen(tables: Iterable[str]) -> list[str]:
    """Give the tables that are asked for.

    Raises:
        BadSettings: there is no such table.
    """
    strangers = sorted(set(tables) - set(TABLES))
    if strangers:
        raise BadSettings(f"There is no table {', '.join(strangers)}: use some of {', '.join(TABLES)}.")
    return sorted(tables) or sorted(TABLES)


def _told(
    numbers: Mapping[str, int], rows: Mapping[str, tuple[int, ...]] | None = None, headings: tuple[str, ...] = ()
) -> dg.Output[None]:
    """Give the output of an op: numbers, and a table with a row for each that something was done to."""
    metadata: dict[str, Any] = dict(numbers)
    if rows:
        lines = [headings, ("---",) * len(headings), *((name, *map(str, row)) for name, row in rows.items())]
        metadata["tables"] = dg.MetadataValue.md("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return dg.Output(None, metadata=metadata)

"""The upkeep of a Delta table: small files made into large ones, and what no kept version needs removed.

Safe at any time, whoever reads and writes: a compaction that loses a race leaves the files as they are, and a file is
removed only when every version that names it is older than what is kept.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

import pyarrow as pa
import pyarrow.fs as pafs
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.fs import DeltaStorageHandler

from resources.errors import StoreBusy
from resources.ports.tables import Compacted, Vacuumed

# Of a site, or of a table that is not by site. Fewer are not worth a commit.
MANY_FILES: Final = 8
SMALL_BYTES: Final = 32 * 1024 * 1024
TARGET_BYTES: Final = 128 * 1024 * 1024
_SITES_A_COMMIT: Final = 50
_FILES_AT_ONCE: Final = 2  # in memory; more would be faster on a machine that does nothing else
_TRIES: Final = 4
_COMMIT_RETRIES: Final = 100
# Files that a writer has written and not yet committed are younger than this.
LONGEST_WRITE: Final = timedelta(days=1)
_LOG_RETENTION: Final = "delta.logRetentionDuration"

Answer = TypeVar("Answer")


def compact_table(table: DeltaTable, column: str | None) -> Compacted:
    """Make the small files of a table into large ones, wherever there are many; rows and their order stay.

    Args:
        table: its current version, opened for this alone.
        column: by which it is partitioned; None when it is not.
    """
    before = _sizes(table, column)
    crowded = sorted(
        value for value, sizes in before.items() if sum(size < SMALL_BYTES for size in sizes) >= MANY_FILES
    )
    compacted = Compacted()
    for start in range(0, len(crowded), _SITES_A_COMMIT):
        compacted += _compact(table, column, crowded[start : start + _SITES_A_COMMIT])
    return compacted


def vacuum_table(
    table: DeltaTable,
    storage_options: Mapping[str, str],
    *,
    keep_days: int,
    now: datetime,
    longest_write: timedelta = LONGEST_WRITE,
) -> Vacuumed:
    """Remove files and log entries that only versions older than ``keep_days`` need; newer ones stay readable.

    Args:
        table: its current version, opened for this alone.
        storage_options: as deltalake takes them.
        keep_days: versions that were current in the last so many days are kept.
        now: the present.
        longest_write: from the first file of a writer to its commit.
    """
    _shorten_log(table, keep_days)
    # What was current when the kept days began is needed to their last; files of later versions are young themselves.
    oldest = DeltaTable(table.table_uri, storage_options=dict(storage_options))
    oldest.load_as_version(now.astimezone(UTC) - timedelta(days=keep_days))
    hours = int((timedelta(days=keep_days) + longest_write) / timedelta(hours=1))

    def vacuum(*, dry_run: bool) -> list[str]:
        return table.vacuum(
            retention_hours=hours,
            enforce_retention_duration=False,
            dry_run=dry_run,
            full=True,  # without it, what killed writers left and what checkpoints have forgotten would stay for ever
            keep_versions=[oldest.version()],
            commit_properties=CommitProperties(max_commit_retries=_COMMIT_RETRIES),
        )

    # A vacuum is two commits, also when there is nothing to do.
    doomed = vacuum(dry_run=True)
    if not doomed:
        return Vacuumed()
    files = pafs.PyFileSystem(DeltaStorageHandler(table.table_uri, dict(storage_options)))
    sizes = {info.path: info.size or 0 for info in files.get_file_info(doomed)}
    removed = _won(table, lambda: vacuum(dry_run=False))
    return Vacuumed(len(removed), sum(sizes.get(path, 0) for path in removed))


def _sizes(table: DeltaTable, column: str | None) -> dict[str, list[int]]:
    """Give the sizes of files in bytes, by value of the partition column."""
    files = pa.table(table.get_add_actions(flatten=True))
    values = pa.repeat("", len(files)) if column is None else files[f"partition.{column}"]
    grouped = pa.table({"value": values, "size": files["size_bytes"]}).group_by("value").aggregate([("size", "list")])
    return dict(zip(grouped["value"].to_pylist(), grouped["size_list"].to_pylist(), strict=True))


def _compact(table: DeltaTable, column: str | None, values: Sequence[str]) -> Compacted:
    """Compact some partitions in one commit; those whose writers win every race are left for another time."""

    def compact() -> Compacted:
        done = table.optimize.compact(
            partition_filters=None if column is None else [(column, "in", list(values))],
            target_size=TARGET_BYTES,
            max_concurrent_tasks=_FILES_AT_ONCE,
            commit_properties=CommitProperties(max_commit_retries=_COMMIT_RETRIES),
        )
        size_bytes = int(json.loads(done["filesRemoved"])["totalSize"])
        return Compacted(int(done["numFilesRemoved"]), int(done["numFilesAdded"]), size_bytes)

    try:
        return _won(table, compact)
    except StoreBusy:
        return Compacted(places_left=len(values))


def _shorten_log(table: DeltaTable, keep_days: int) -> None:
    """Let the log begin at a checkpoint, and remove the entries before it that no kept version needs."""
    # A writer at work may still have to read the log from where it began.
    wanted = f"interval {max(keep_days, LONGEST_WRITE.days)} days"
    if table.metadata().configuration.get(_LOG_RETENTION) != wanted:
        _won(table, lambda: table.alter.set_table_properties({_LOG_RETENTION: wanted}))
    table.create_checkpoint()
    table.cleanup_metadata()


def _won(table: DeltaTable, commit: Callable[[], Answer]) -> Answer:
    """Commit, again from the current version when another commit got in between.

    Raises:
        StoreBusy: other writers won every race.
    """
    for _ in range(_TRIES):
        try:
            return commit()
        except CommitFailedError as error:
            lost = error
            table.update_incremental()
    raise StoreBusy(f"{table.table_uri}: other writers won all of {_TRIES} races") from lost

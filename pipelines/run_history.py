"""Dagster's run history: which old runs can go without the instance forgetting how any asset stands.

Deleting a run deletes its events. A partition whose only materialization was one of them would look as if it had never
been made, so a run that made the newest materialization of any partition stays, however old it is.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

import dagster as dg

_ENDED: Final = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_A_PAGE: Final = 200

# Asset -> partitions; of an asset without partitions: None.
_Made = dict[dg.AssetKey, set[str | None]]


@dataclass(frozen=True, slots=True)
class Pruned:
    """What became of the old runs."""

    deleted: int
    kept: int  # since they made what is newest of some partition


def prune_runs(instance: dg.DagsterInstance, *, created_before: datetime, runs_at_once: int = _A_PAGE) -> Pruned:
    """Delete the runs that were created before a moment and have ended, but those that are the newest of something."""
    deleted = kept = 0
    filters = dg.RunsFilter(statuses=_ENDED, created_before=created_before)
    # All at once, since the cursor of a page is a run, and may be deleted.
    old = iter(instance.get_run_ids(filters))
    while page := list(islice(old, runs_at_once)):
        needed = _makers(instance, _made_by(instance, page))
        for run_id in page:
            if run_id in needed:
                kept += 1
            else:
                instance.delete_run(run_id)
                deleted += 1
    return Pruned(deleted, kept)


def _made_by(instance: dg.DagsterInstance, run_ids: Sequence[str]) -> _Made:
    """Give what runs have materialized."""
    made: _Made = defaultdict(set)
    for run_id in run_ids:
        cursor, has_more = None, True
        while has_more:
            found = instance.get_records_for_run(
                run_id, cursor=cursor, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION, limit=_A_PAGE
            )
            for record in found.records:
                if record.asset_key is not None:
                    made[record.asset_key].add(record.partition_key)
            cursor, has_more = found.cursor, found.has_more
    return made


def _makers(instance: dg.DagsterInstance, made: _Made) -> set[str]:
    """Name the runs of the newest materializations of partitions."""
    makers: set[str] = set()
    for key, partitions in made.items():
        if None in partitions:
            newest = instance.get_latest_materialization_event(key)
            makers |= {newest.run_id} if newest else set()
        named = {partition for partition in partitions if partition is not None}
        ids = instance.get_latest_storage_id_by_partition(key, dg.DagsterEventType.ASSET_MATERIALIZATION, named)
        waiting = iter(sorted(ids.values()))
        while page := list(islice(waiting, _A_PAGE)):
            wanted = dg.AssetRecordsFilter(asset_key=key, storage_ids=page)
            makers |= {record.run_id for record in instance.fetch_materializations(wanted, limit=_A_PAGE).records}
    return makers

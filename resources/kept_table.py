"""A Delta table that is kept open: its current version and its files, at the price of what is new."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler

from resources.errors import StoreUnusable

# A table that stays open carries each commit since; from here on it costs less to read its last checkpoint.
_REOPENED_AFTER: Final = 25  # versions


class KeptTable:
    """One table of one process. Not safe for threads: its owner locks.

    Opening a table reads its log from the last checkpoint on; a table that is kept open reads only what is new.
    """

    def __init__(self, uri: str, *, storage_options: Mapping[str, str]) -> None:
        """Open nothing yet.

        Args:
            uri: an absolute folder or ``s3://bucket/prefix``.
            storage_options: as deltalake takes them.
        """
        self._log = None if uri.startswith("s3://") else Path(uri, "_delta_log")
        self._uri = uri
        self._storage_options = dict(storage_options)
        self._table: DeltaTable | None = None
        self._opened_at = 0
        self._files = pa.table({})
        self._files_at = -1

    def current(self) -> DeltaTable | None:
        """Give the current version, or None if the table was never written."""
        kept, self._table = self._table, None
        if kept is None or kept.version() - self._opened_at >= _REOPENED_AFTER:
            kept = self._reopened()
        elif self._may_be_newer(kept):
            try:
                kept.update_incremental()
            except DeltaError:
                # The log does not go on from there: the table was made anew, or its old versions were dropped.
                kept = self._reopened()
        self._table = kept
        return kept

    def take(self) -> DeltaTable | None:
        """Give the current version to be written to; until it is put back, nothing is kept.

        While a write is not done, a table may be half-way between two versions.
        """
        table = self.current()
        self._table = None
        return table

    def put_back(self, table: DeltaTable) -> None:
        """Keep a table, as its writer left it."""
        self._table = table

    def open(self) -> DeltaTable | None:
        """Open the current version apart from what is kept, or give None if the table was never written."""
        if self._log is not None:
            # delta-rs calls a folder that it may not read "not found".
            try:
                if not any(entry.suffix == ".json" for entry in self._log.iterdir()):
                    return None
            except FileNotFoundError:
                return None
        try:
            return DeltaTable(self._uri, storage_options=self._storage_options)
        except TableNotFoundError:
            if self._log is None:
                return None
            raise

    def open_as_of(self, moment: datetime) -> DeltaTable | None:
        """Open the version of a moment apart from what is kept, or give None if the table was never written.

        Raises:
            StoreUnusable: that version was dropped, and so was what came before it.
        """
        table = self.open()
        if table is None:
            return None
        table.load_as_version(moment)
        # Before its first commit a table has its first version, which is empty: creation is a commit.
        if table.version() and self._committed_at(table.version()) > moment:
            raise StoreUnusable(f"Of {self._uri} no version is kept that is as old as {moment}: ask for a later one.")
        return table

    def paths(self, table: DeltaTable, column: str, values: Sequence[str] | None) -> list[str]:
        """Give the files of the version that ``current`` gave, as absolute paths or ``s3://`` URIs.

        Args:
            table: what ``current`` gave.
            column: the partition column.
            values: of it, whose files are asked for; None: all files.
        """
        if self._files_at != table.version():
            # Asking deltalake for the files of a partition takes twenty times as long.
            self._files, self._files_at = pa.table(table.get_add_actions(flatten=True)), table.version()
        files = self._files
        if values is not None:
            files = files.filter(pc.is_in(files[f"partition.{column}"], pa.array(values, pa.string())))
        return [f"{self._uri}/{unquote(path)}" for path in files["path"].to_pylist()]

    def _reopened(self) -> DeltaTable | None:
        table = self.open()
        self._opened_at = -1 if table is None else table.version()
        self._files_at = -1  # a table that was made anew begins to count again
        return table

    def _committed_at(self, version: int) -> datetime:
        files = pafs.PyFileSystem(DeltaStorageHandler(self._uri, self._storage_options))
        at: datetime = files.get_file_info(f"_delta_log/{version:020}.json").mtime
        return at

    def _may_be_newer(self, table: DeltaTable) -> bool:
        """Say whether there is a later version: in a folder a look at the name of its commit tells."""
        return (
            self._log is None
            or not self._log.joinpath(f"{table.version():020}.json").exists()
            or (self._log.joinpath(f"{table.version() + 1:020}.json").exists())
        )

"""The table store: named tables with declared schemas, partitioned by site."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.dataset as ds


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction made of many small files."""

    files_before: int = 0
    files_after: int = 0
    size_bytes: int = 0  # of the files before
    places_left: int = 0  # sites, or whole tables, whose writers won every race: they are for the next time

    def __add__(self, other: "Compacted") -> "Compacted":
        return Compacted(
            self.files_before + other.files_before,
            self.files_after + other.files_after,
            self.size_bytes + other.size_bytes,
            self.places_left + other.places_left,
        )


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """What was removed since no kept version needs it."""

    files: int = 0
    size_bytes: int = 0


@runtime_checkable
class TableStore(Protocol):
    """Tables whose schemas were given when the store was made. Every table has a ``site`` column.

    A table that was never written reads as no rows of its schema. Each write is one atomic commit.
    """

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows in one commit; no rows, no commit.

        Raises:
            BadRows: the rows do not fit the table's schema, or a required column holds nulls.
            StoreBusy: other writers won every race.
        """
        ...

    def replace(self, table: str, *, sites: Sequence[str], rows: pa.Table) -> None:
        """Put ``rows`` in the place of all rows of ``sites``, in one commit.

        Raises:
            BadRows: as for ``append``, or a row of a site that is not among ``sites``.
            StoreBusy: other writers won every race.
        """
        ...

    def read(
        self,
        table: str,
        *,
        sites: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        where: ds.Expression | None = None,
        as_of: datetime | None = None,
    ) -> pa.Table:
        """Read rows, in no promised order.

        Args:
            table: a declared table.
            sites: only these sites; None reads all.
            columns: only these columns, in this order; None reads all.
            where: only rows for which this pyarrow expression is true.
            as_of: as the table was at this moment.
        """
        ...

    def files(self, table: str, *, sites: Sequence[str] | None = None) -> list[str]:
        """Give the Parquet files of the current version, as absolute paths or ``s3://`` URIs."""
        ...

    def compact(self, table: str) -> Compacted:
        """Make many small files of a site, or of a table that is not by site, into few large ones.

        The rows stay, and so do all readers and writers, who need not know.
        """
        ...

    def vacuum(self, table: str, *, keep_days: int, now: datetime) -> Vacuumed:
        """Remove what only versions need that were replaced more than ``keep_days`` ago; the others stay readable."""
        ...

    def location(self, table: str) -> str:
        """Say where a table lies, for people."""
        ...

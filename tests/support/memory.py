"""In-memory parts: a table store and an object store that are fast enough for property tests.

They keep to the ports and to nothing else; what a real store does is tested on the real ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from assets.schemas import TABLES
from resources.errors import BadRows, ObjectMissing
from resources.ports import Compacted, ObjectInfo, Vacuumed
from resources.ports.objects import Swept


@dataclass
class MemoryTables:
    """Tables in memory, as the ``TableStore`` port; ``as_of`` is not kept."""

    rows: dict[str, pa.Table] = field(default_factory=dict)

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows."""
        _check(table, rows)
        self.rows[table] = pa.concat_tables([self.read(table), rows])

    def replace(self, table: str, *, sites: Sequence[str], rows: pa.Table) -> None:
        """Put rows in the place of those of the sites."""
        _check(table, rows)
        if not set(rows["site"].to_pylist()) <= set(sites):
            raise BadRows(f"{table}: rows of other sites than {sites}")
        others = self.read(table).filter(~pc.field("site").isin(pa.array(list(sites), pa.string())))
        self.rows[table] = pa.concat_tables([others, rows])

    def read(
        self,
        table: str,
        *,
        sites: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        where: ds.Expression | None = None,
        as_of: datetime | None = None,
    ) -> pa.Table:
        """Read rows."""
        if as_of is not None:
            raise ValueError("as_of: only the current rows are kept")
        found = self.rows.get(table, TABLES[table].empty_table())
        if sites is not None:
            found = found.filter(pc.field("site").isin(pa.array(list(sites), pa.string())))
        if where is not None:
            found = found.filter(where)
        return found if columns is None else found.select(list(columns))

    def files(self, table: str, *, sites: Sequence[str] | None = None) -> list[str]:
        """Give no files."""
        return []

    def compact(self, table: str) -> Compacted:
        """Find no files."""
        return Compacted()

    def vacuum(self, table: str, *, keep_days: int, now: datetime) -> Vacuumed:
        """Find no old versions."""
        return Vacuumed()

    def location(self, table: str) -> str:
        """Say that it is in memory."""
        return f"memory:{table}"


def _check(table: str, rows: pa.Table) -> None:
    if not rows.schema.equals(TABLES[table]):
        raise BadRows(f"{table}: {rows.schema}")
    for column in rows.schema:
        if not column.nullable and rows[column.name].null_count:
            raise BadRows(f"{table}: nulls in {column.name}")


@dataclass
class MemoryObjects:
    """Objects in memory, as the ``ObjectStore`` port."""

    data: dict[str, bytes] = field(default_factory=dict)
    writes: int = 0
    reads: list[str] = field(default_factory=list)  # of whole objects

    def put(self, key: str, data: bytes) -> None:
        """Write an object."""
        self.writes += 1
        self.data[key] = data

    def put_file(self, key: str, path: Path) -> None:
        """Publish a file."""
        self.put(key, path.read_bytes())

    def create(self, key: str, data: bytes) -> str | None:
        """Write an object if none is there."""
        if key in self.data:
            return None
        self.put(key, data)
        return str(hash(data))

    def replace(self, key: str, data: bytes, *, etag: str) -> str | None:
        """Write an object if it is as expected."""
        if key not in self.data or str(hash(self.data[key])) != etag:
            return None
        self.put(key, data)
        return str(hash(data))

    def get(self, key: str, *, offset: int = 0, length: int | None = None) -> bytes:
        """Read an object."""
        if key not in self.data:
            raise ObjectMissing(key)
        if not offset and length is None:
            self.reads.append(key)
        return self.data[key][offset : None if length is None else offset + length]

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        """Read an object with its etag."""
        return self.get(key), str(hash(self.data[key]))

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Give objects in key order."""
        return iter([ObjectInfo(key, len(self.data[key])) for key in sorted(self.data) if key.startswith(prefix)])

    def delete(self, key: str) -> None:
        """Remove an object."""
        self.data.pop(key, None)

    def sweep(self, prefix: str) -> Swept:
        """Find nothing unfinished: a write here is done at once."""
        return Swept()

    def location(self, key: str) -> str:
        """Say that it is in memory."""
        return f"memory:{key}"

    def check(self) -> None:
        """Find nothing wrong."""

"""WARC batches: one file under construction, sealed and verified before anybody may see it.

The last record of every batch is a metadata record with the rows of the ``fetches`` table that the batch belongs to:
should a crash fall between publishing a file and committing its rows, they are read back from there, and an archive
alone can rebuild the table.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.json as pa_json

from assets.warc.member import DamagedMember, unpack_member
from assets.warc.records import (
    Place,
    StoredCopy,
    capture_members,
    metadata_member,
    warc_date,
    warcinfo_member,
)
from assets.warc.row_objects import row_objects
from resources.errors import DamagedArchive
from resources.ports import FetchResponse

FACTS_URI: Final = "urn:isobath:fetches"
FACTS_TYPE: Final = "application/x-ndjson"


class WarcBatch:
    """One WARC file being written at ``path``; ``key`` is the object that it will become.

    Not thread-safe. The file is flushed only when sealed: a process that dies leaves nothing that counts.
    """

    def __init__(self, path: Path, key: str, *, opened_at: datetime, info: Mapping[str, str]) -> None:
        self.path = path
        self.key = key
        self.opened_at = opened_at
        self.captures = 0
        self._places: list[tuple[int, int]] = []
        self._stream = path.open("wb")
        name = key.rsplit("/", 1)[-1]
        self._write(warcinfo_member(name, {**info, "format": "WARC File Format 1.1"}, opened_at))

    @property
    def size_bytes(self) -> int:
        """Bytes written so far."""
        return self._stream.tell()

    def add(self, response: FetchResponse, *, digest: str, original: StoredCopy | None = None) -> tuple[Place, bytes]:
        """Write an answer and its request; give the place of the answer and its gzip member.

        Args:
            response: an answer with a status.
            digest: payload digest of the body (of the stored copy for a 304).
            original: when given, a revisit record pointing at it is written instead of the payload.
        """
        answer, *rest = capture_members(response, digest=digest, original=original)
        offset, length = self._write(answer)
        for member in rest:
            self._write(member)
        self.captures += 1
        return Place(self.key, offset, length), answer

    def seal(self, rows: pa.Table, *, sealed_at: datetime) -> None:
        """Write the facts, close the file and verify it.

        Raises:
            DamagedArchive: what lies on the disk is not what was written.
        """
        lines = (json.dumps(row, default=_iso, ensure_ascii=False).encode("utf-8") for row in row_objects(rows))
        self._write(metadata_member(FACTS_URI, FACTS_TYPE, b"".join(line + b"\n" for line in lines), sealed_at))
        self._stream.close()
        verify_members(self.path, self._places)

    def discard(self) -> None:
        """Close and remove the file."""
        self._stream.close()
        self.path.unlink(missing_ok=True)

    def _write(self, member: bytes) -> tuple[int, int]:
        place = (self._stream.tell(), len(member))
        self._stream.write(member)
        self._places.append(place)
        return place


def verify_members(path: Path, places: Sequence[tuple[int, int]]) -> None:
    """Make sure that a file holds exactly these gzip members, each whole and with a true block digest.

    Raises:
        DamagedArchive: names the file, the offset and what is wrong.
    """
    expected = 0
    with path.open("rb") as stream:
        for offset, length in places:
            if offset != expected:
                raise DamagedArchive(f"{path.name}: a gap before offset {offset}")
            try:
                unpack_member(stream.read(length))
            except DamagedMember as error:
                raise DamagedArchive(f"{path.name}: record at offset {offset}: {error}") from error
            expected = offset + length
        if stream.read(1):
            raise DamagedArchive(f"{path.name}: bytes after the last record, from offset {expected}")


def facts_table(block: bytes, schema: pa.Schema) -> pa.Table:
    """Read the rows back that ``WarcBatch.seal`` wrote."""
    if not block.strip():
        return schema.empty_table()
    options = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    return pa_json.read_json(pa.BufferReader(block), parse_options=options).cast(schema)


def _iso(value: object) -> str:
    if isinstance(value, datetime):
        return warc_date(value)
    raise TypeError(f"not a fact: {value!r}")

"""Stored copies: which capture a conditional request may confirm, and which payloads are stored already. Pure.

A site may have millions of captures: they stay in Arrow columns, and an object is made only of the one that is wanted.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.fetch.item import Validators
from assets.fetch.outcome import FetchOutcome
from assets.warc.records import Place, StoredCopy

TRUST_304_FOR: Final = timedelta(days=90)

COPY_COLUMNS: Final = (
    "url",
    "url_key",
    "outcome",
    "requested_at",
    "content_type",
    "etag",
    "last_modified",
    "payload_digest",
    "record_type",
    "body_bytes",
    "body_warc_file",
    "body_warc_offset",
    "body_warc_bytes",
)
_PAYLOAD_COLUMNS: Final = (
    "url",
    "requested_at",
    "payload_digest",
    "body_warc_file",
    "body_warc_offset",
    "body_warc_bytes",
)


class PageCopies:
    """The newest whole copy of each page of a site, for conditional requests.

    A copy that only 304s have confirmed for 90 days is left out: the page is then asked without validators once.
    """

    def __init__(self, fetches: pa.Table, *, now: datetime) -> None:
        """Find them in rows of ``fetches`` that have ``COPY_COLUMNS``, in any order."""
        whole = fetches.select(list(COPY_COLUMNS)).filter(
            (pc.field("outcome") == FetchOutcome.FETCHED.value) & pc.field("body_warc_file").is_valid()
        )
        whole = whole.sort_by("requested_at").combine_chunks()
        newest = {key: row for row, key in enumerate(whole["url_key"].to_pylist())}
        last = whole.take(pa.array(sorted(newest.values()), pa.int64()))
        can_confirm = pc.or_(_is_given(last["etag"]), _is_given(last["last_modified"]))
        young = pc.greater(last["requested_at"], pa.scalar(now - TRUST_304_FOR, last["requested_at"].type))
        self._rows = _with_few_names(last.filter(pc.and_(can_confirm, young)))
        self._row_of = {key: row for row, key in enumerate(self._rows["url_key"].to_pylist())}

    def validators(self, url_key: str, url: str) -> Validators | None:
        """Give what a request for a page may state; of exactly this address."""
        index = self._row_of.get(url_key)
        if index is None:
            return None
        row = _row(self._rows, index)
        if row["url"] != url:
            return None
        return Validators(
            etag=row["etag"],
            last_modified=row["last_modified"],
            copy=_copy(row),
            content_type=row["content_type"],
            body_bytes=row["body_bytes"],
        )


class StoredPayloads:
    """The first published capture of each payload of a site, for revisit records."""

    def __init__(self, fetches: pa.Table) -> None:
        """Find them in rows of ``fetches`` that have ``COPY_COLUMNS``, in any order."""
        self._tables: list[pa.Table] = []
        self._ends: list[int] = []  # of each table's rows in the numbering of all
        self._row_of: dict[str, int] = {}
        self.add(fetches)

    def add(self, fetches: pa.Table) -> None:
        """Take rows of what was published since; a payload keeps the capture that it has."""
        stored = fetches.filter(pc.field("record_type") == "response").sort_by("requested_at")
        stored = _with_few_names(stored.select(list(_PAYLOAD_COLUMNS)).combine_chunks())
        start = self._ends[-1] if self._ends else 0
        for row, digest in enumerate(stored["payload_digest"].to_pylist(), start):
            self._row_of.setdefault(digest, row)
        self._tables.append(stored)
        self._ends.append(start + stored.num_rows)

    def get(self, digest: str) -> StoredCopy | None:
        """Give the capture that holds a payload."""
        index = self._row_of.get(digest)
        if index is None:
            return None
        table = next(at for at, end in enumerate(self._ends) if index < end)
        return _copy(_row(self._tables[table], index - (self._ends[table - 1] if table else 0)))


def _is_given(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.greater(pc.utf8_length(pc.fill_null(column, "")), 0)


def _with_few_names(rows: pa.Table) -> pa.Table:
    """Keep each file name once: thousands of captures lie in one file."""
    at = rows.schema.get_field_index("body_warc_file")
    return rows.set_column(at, "body_warc_file", pc.dictionary_encode(rows["body_warc_file"]))


def _row(rows: pa.Table, index: int) -> dict[str, Any]:
    # Several times as fast as a slice of one row: each table is one chunk.
    return {name: column.chunk(0)[index].as_py() for name, column in zip(rows.column_names, rows.columns, strict=True)}


def _copy(row: Mapping[str, Any]) -> StoredCopy:
    place = Place(row["body_warc_file"], row["body_warc_offset"], row["body_warc_bytes"])
    return StoredCopy(row["url"], row["requested_at"], row["payload_digest"], place)

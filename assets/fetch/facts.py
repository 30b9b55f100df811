"""Fetch facts: rows of the ``fetches`` table."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from assets.fetch.item import FetchItem
from assets.fetch.judge import Judgement
from assets.fetch.outcome import FetchOutcome
from assets.markup.link_header import links_about_pages
from assets.warc.records import Place
from resources.ports import FetchResponse

ROWS_AT_ONCE: Final = 1_000


def request_row(
    item: FetchItem,
    judgement: Judgement,
    response: FetchResponse,
    *,
    place: Place | None,
    body_place: Place | None,
    digest: str | None,
    retry_at: datetime | None = None,
) -> dict[str, Any]:
    """Make the row of a request that was sent.

    Args:
        place: of its own record, when it has one.
        body_place: of the payload: its own, or that of the stored copy.
        digest: of that payload.
    """
    not_modified = judgement.outcome is FetchOutcome.NOT_MODIFIED and item.validators is not None
    tags = [value for name, value in response.headers if name.lower() == "x-robots-tag"]
    return _row(item, judgement.outcome, judgement.reason, is_final=judgement.is_final) | {
        "requested_at": response.started_at,
        "fetch_ms": response.fetch_ms,
        "status": response.status,
        "peer_ip": response.peer_ip,
        "redirect_url": judgement.redirect_url,
        "content_type": item.validators.content_type
        if not_modified and item.validators
        else response.header("Content-Type"),
        # A 304 may leave its validators out; those of the copy still hold.
        "etag": response.header("ETag") or (item.validators.etag if not_modified and item.validators else None),
        "last_modified": response.header("Last-Modified")
        or (item.validators.last_modified if not_modified and item.validators else None),
        "robots_tag": ", ".join(tags) or None,
        "link_header": links_about_pages(value for name, value in response.headers if name.lower() == "link"),
        "retry_at": retry_at,
        "body_bytes": item.validators.body_bytes if not_modified and item.validators else len(response.body),
        "payload_digest": digest,
        "truncated": response.truncated.value if response.truncated else None,
        "record_type": None if place is None else ("response" if place == body_place else "revisit"),
        "warc_file": place.file if place else None,
        "warc_offset": place.offset if place else None,
        "warc_bytes": place.length if place else None,
        "body_warc_file": body_place.file if body_place else None,
        "body_warc_offset": body_place.offset if body_place else None,
        "body_warc_bytes": body_place.length if body_place else None,
    }


def decided_row(
    item: FetchItem, outcome: FetchOutcome, reason: str, *, at: datetime, retry_at: datetime | None = None
) -> dict[str, Any]:
    """Make the row of a request that was never sent: robots, scope, a host set aside. It is final."""
    return _row(item, outcome, reason, is_final=True) | {"requested_at": at, "retry_at": retry_at}


class RowBuffer:
    """Rows on their way into a table, kept as columns but for the newest few: as objects they weigh ten times more."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._tables: list[pa.Table] = []
        self._rows: list[Mapping[str, Any]] = []

    def __len__(self) -> int:
        return sum(len(table) for table in self._tables) + len(self._rows)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a row."""
        self._rows.append(row)
        if len(self._rows) == ROWS_AT_ONCE:
            self._tables.append(as_table(self._rows, self._schema))
            self._rows = []

    def table(self) -> pa.Table:
        """Give all rows."""
        return pa.concat_tables([*self._tables, as_table(self._rows, self._schema)])


def as_table(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Make a table of rows."""
    return pa.Table.from_pylist(list(rows), schema=schema)


def _row(item: FetchItem, outcome: FetchOutcome, reason: str, *, is_final: bool) -> dict[str, Any]:
    return {
        "site": item.site,
        "layer": item.layer,
        "purpose": item.purpose.value,
        "url": item.url,
        "url_key": item.url_key,
        "origin_key": item.origin_key,
        "hop": item.hop,
        "attempt": item.attempt,
        "is_final": is_final,
        "outcome": outcome.value,
        "reason": reason,
        "fetch_ms": 0,
        "body_bytes": 0,
    }

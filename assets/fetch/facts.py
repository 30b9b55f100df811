"""Fetch facts: rows of the ``fetches`` table, and what earlier rows say about stored copies."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow as pa

from assets.fetch.item import FetchItem, Validators
from assets.fetch.judge import Judgement
from assets.fetch.outcome import FetchOutcome
from assets.warc.records import Place, StoredCopy
from resources.ports import FetchResponse

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


def stored_copies(fetches: pa.Table, *, now: datetime) -> dict[str, Validators]:
    """Give the newest whole copy of each page by url_key, for conditional requests.

    A copy that only 304s have confirmed for 90 days is left out: the page is then asked without validators once.
    """
    rows = fetches.select(list(COPY_COLUMNS)).sort_by("requested_at").to_pylist()
    copies: dict[str, Validators] = {}
    for row in rows:
        if row["outcome"] != FetchOutcome.FETCHED or row["body_warc_file"] is None:
            continue
        if not (row["etag"] or row["last_modified"]):
            copies.pop(row["url_key"], None)
            continue
        place = Place(row["body_warc_file"], row["body_warc_offset"], row["body_warc_bytes"])
        copies[row["url_key"]] = Validators(
            etag=row["etag"],
            last_modified=row["last_modified"],
            copy=StoredCopy(row["url"], row["requested_at"], row["payload_digest"], place),
            content_type=row["content_type"],
            body_bytes=row["body_bytes"],
        )
    return {key: found for key, found in copies.items() if now - found.copy.fetched_at < TRUST_304_FOR}


def published_payloads(fetches: pa.Table) -> dict[str, StoredCopy]:
    """Give the first stored capture of each payload by its digest, for revisit records."""
    payloads: dict[str, StoredCopy] = {}
    for row in fetches.select(list(COPY_COLUMNS)).sort_by("requested_at").to_pylist():
        if row["record_type"] == "response" and row["payload_digest"] not in payloads:
            place = Place(row["body_warc_file"], row["body_warc_offset"], row["body_warc_bytes"])
            payloads[row["payload_digest"]] = StoredCopy(row["url"], row["requested_at"], row["payload_digest"], place)
    return payloads


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

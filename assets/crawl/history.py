"""The history of an address: found where, each attempt with its outcome, its captures, its texts. From tables only."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow.compute as pc

from assets import names
from resources.ports import TableStore


@dataclass(frozen=True, slots=True, order=True)
class HistoryEvent:
    """One thing that happened to an address."""

    at: datetime
    crawl_id: str
    what: str  # found, refused, asked, text
    detail: str


def history_of(url_key: str, site: str, tables: TableStore) -> list[HistoryEvent]:
    """Give all that happened to an address of a site, in order.

    A redirect that led here, or that it led to, is told too: requests are looked up by the address that was asked and
    by the frontier row that they served.
    """
    rows = tables.read(names.T_CRAWLS, sites=[site], columns=["crawl_id", "stage", "at"]).to_pylist()
    done_at = {(row["crawl_id"], row["stage"]): row["at"] for row in rows}

    def of_key(table: str, column: str = "url_key") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = tables.read(table, sites=[site], where=pc.field(column) == url_key).to_pylist()
        return found

    def frontier_time(row: dict[str, Any]) -> datetime | None:
        return done_at.get((row["crawl_id"], f"{row['layer']}/frontier"))

    events = [_asked(row) for row in _distinct(of_key(names.T_FETCHES) + of_key(names.T_FETCHES, "origin_key"))]
    events += [
        HistoryEvent(at, row["crawl_id"], "found", _found(row))
        for row in of_key(names.T_FRONTIER)
        if (at := frontier_time(row))
    ]
    events += [
        HistoryEvent(at, row["crawl_id"], "refused", f"{row['reason']}: {row['rule']}; linked on {row['found_on']}")
        for row in of_key(names.T_REFUSALS)
        if (at := frontier_time(row))
    ]
    events += [HistoryEvent(row["fetched_at"], row["crawl_id"], "text", _text(row)) for row in of_key(names.T_PAGES)]
    return sorted(events)


def _distinct(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # A page's own requests are found by both columns.
    return list({(row["requested_at"], row["url"], row["outcome"], row["attempt"]): row for row in rows}.values())


def _asked(row: dict[str, Any]) -> HistoryEvent:
    parts = [row["outcome"]]
    if row["status"]:
        parts.append(f"{row['status']} in {row['fetch_ms']} ms, {row['body_bytes']} bytes")
    if row["attempt"] > 1:
        parts.append(f"try {row['attempt']}")
    if row["redirect_url"]:
        parts.append(f"to {row['redirect_url']}")
    if row["reason"]:
        parts.append(row["reason"])
    if row["retry_at"]:
        parts.append(f"not before {row['retry_at']:%Y-%m-%d %H:%M:%S} UTC")
    if row["warc_file"]:
        parts.append(f"{row['record_type']} in {row['warc_file']} at {row['warc_offset']}")
    if row["payload_digest"]:
        parts.append(row["payload_digest"])
    return HistoryEvent(row["requested_at"], row["crawl_id"], "asked", f"{row['url']}: {'; '.join(parts)}")


def _found(row: dict[str, Any]) -> str:
    by = f"by {row['found_by']}" + (f" on {row['found_on']}" if row["found_on"] else "")
    return f"{row['layer']}, {by}, linked by {row['in_links']} pages, priority {row['priority']:.1f}"


def _text(row: dict[str, Any]) -> str:
    if row["reason"] and not row["characters"]:
        return f"none: {row['reason']}"
    parts = [
        f"{row['title']!r}",
        f"{row['characters']} characters",
        row["language"] or "no language",
        row["charset"],
        *row["flags"],
        f"text {row['text_digest'][:12]}",
        f"extractor {row['extractor_version']}",
    ]
    return ", ".join(parts)

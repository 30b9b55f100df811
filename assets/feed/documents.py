"""Index documents: which pages are documents, and what a document says."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa

from assets.schemas.content import NEVER_INDEXED_FLAGS
from resources.errors import PermanentError
from resources.ports import IndexDocument

STATE_COLUMNS: Final = ("site", "url", "url_key", "status", "page_crawl_id", "extractor_version", "characters", "flags")
PAGE_COLUMNS: Final = (
    "url_key",
    "crawl_id",
    "extractor_version",
    "fetched_at",
    "payload_digest",
    "title",
    "markdown",
    "text",
    "language",
    "published_on",
    "text_digest",
)
CAPTURE_COLUMNS: Final = (
    "url_key",
    "crawl_id",
    "requested_at",
    "payload_digest",
    "body_warc_file",
    "body_warc_offset",
)
# A page that was fetched again and says the same is not fed again, so what the visit alone changes does not count.
_NOT_CONTENT: Final = ("fetched_at", "warc_file", "warc_offset")

Captures = Mapping[tuple[str, str, str], tuple[str, int]]


def document_id(site: str, url_key: str) -> str:
    """Give the id of a page's document: the same in every crawl.

    >>> document_id("example.org", "https://example.org/")
    'c20f7a5b5a4878747251855422757467'
    """
    return hashlib.sha256(f"{site}\n{url_key}".encode()).hexdigest()[:32]


def document_digest(document: IndexDocument) -> str:
    """Give the SHA-256 of what a document says."""
    content = {name: value for name, value in asdict(document).items() if name not in _NOT_CONTENT}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def documents_to_be(state: pa.Table, stood_for: Collection[str]) -> dict[str, dict[str, Any]]:
    """Pick the rows of ``page_state`` whose pages are documents, by url_key: live, with text, not stood for."""
    return {
        row["url_key"]: row
        for row in state.to_pylist()
        if row["status"] == "live"
        and row["characters"] > 0
        and NEVER_INDEXED_FLAGS.isdisjoint(row["flags"])
        and row["url_key"] not in stood_for
    }


def captures_of(fetches: pa.Table) -> dict[tuple[str, str, str], tuple[str, int]]:
    """Say where the payload of each capture lies, by url_key, crawl and payload digest.

    A crawl that captured one payload of a page more than once is read in order of time: the last one counts.
    """
    return {
        (row["url_key"], row["crawl_id"], row["payload_digest"]): (row["body_warc_file"], row["body_warc_offset"])
        for row in fetches.sort_by("requested_at").to_pylist()
        if row["body_warc_file"] is not None
    }


def wanted_documents(
    site: str, rows: Mapping[str, Mapping[str, Any]], pages: pa.Table, captures: Captures
) -> dict[str, IndexDocument]:
    """Give a site's documents by id.

    Args:
        rows: what ``documents_to_be`` gave.
        pages: their versions from ``pages``; versions that are not current are passed over.
        captures: what ``captures_of`` gave.

    Raises:
        PermanentError: ``pages`` lacks a version that ``page_state`` names.
    """
    current = {(key, row["page_crawl_id"], row["extractor_version"]): row["url"] for key, row in rows.items()}
    wanted: dict[str, IndexDocument] = {}
    for page in _each(pages):
        url = current.get((page["url_key"], page["crawl_id"], page["extractor_version"]))
        if url is not None:
            document = _document(site, url, page, captures)
            wanted[document.document_id] = document
    lost = [key for key in rows if document_id(site, key) not in wanted]
    if lost:
        raise PermanentError(f"pages lacks the current version of {len(lost)} pages of {site}, such as {lost[0]}")
    return wanted


def _each(pages: pa.Table) -> Iterator[dict[str, Any]]:
    """Give rows one batch at a time: the texts of all at once as Python objects would double the memory."""
    for batch in pages.to_batches(max_chunksize=500):
        yield from batch.to_pylist()


def _document(site: str, url: str, page: Mapping[str, Any], captures: Captures) -> IndexDocument:
    warc_file, warc_offset = captures.get((page["url_key"], page["crawl_id"], page["payload_digest"]), ("", 0))
    fetched_at: datetime = page["fetched_at"]
    return IndexDocument(
        document_id=document_id(site, page["url_key"]),
        site=site,
        url=url,
        url_key=page["url_key"],
        title=page["title"],
        markdown=page["markdown"],
        text=page["text"],
        language=page["language"],
        published_on=page["published_on"],
        fetched_at=fetched_at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        text_digest=page["text_digest"],
        warc_file=warc_file,
        warc_offset=warc_offset,
    )

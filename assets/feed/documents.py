"""Index documents: which pages are documents, and what a document says."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import pyarrow as pa

from assets.feed.in_links import InLinks
from assets.schemas.content import NEVER_INDEXED_FLAGS
from resources.errors import PermanentError
from resources.ports import IndexDocument

# Part of what a document is made of: another version makes all documents anew.
DOCUMENT_VERSION: Final = "2"
STATE_COLUMNS: Final = (
    *("site", "url", "url_key", "status", "page_crawl_id", "extractor_version", "payload_digest", "text_digest"),
    *("characters", "flags", "forbidden_since"),
)
PAGE_COLUMNS: Final = (
    *("url_key", "crawl_id", "extractor_version", "fetched_at", "payload_digest", "title", "markdown", "text"),
    *("language", "published_on", "modified_on", "text_digest"),
)
CAPTURE_COLUMNS: Final = (
    *("url_key", "crawl_id", "requested_at", "payload_digest"),
    *("body_warc_file", "body_warc_offset", "body_warc_bytes"),
)
# A page that was fetched again and says the same is not fed again, so what the visit alone changes does not count; of
# in-links only the magnitude does, or one new page in a menu would feed a whole site.
_NOT_CONTENT: Final = ("fetched_at", "warc_file", "warc_offset", "warc_bytes", "extractor_version", "in_links")
_NO_LINKS: Final = InLinks()

Place = tuple[str, int, int]
Captures = Mapping[tuple[str, str, str], Place]
Row = Mapping[str, Any]


def document_id(site: str, url_key: str) -> str:
    """Give the id of a page's document: the same in every crawl.

    >>> document_id("example.org", "https://example.org/")
    'c20f7a5b5a4878747251855422757467'
    """
    return hashlib.sha256(f"{site}\n{url_key}".encode()).hexdigest()[:32]


def document_digest(document: IndexDocument) -> str:
    """Give the SHA-256 of what a document says."""
    content = {name: value for name, value in asdict(document).items() if name not in _NOT_CONTENT}
    content["in_links_magnitude"] = document.in_links.bit_length()
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def source_digest(state: Row, links: InLinks) -> str:
    """Give the digest of what a document is made of: while it stays, the document need not be made again."""
    made_of = [
        *(DOCUMENT_VERSION, state["url"], state["page_crawl_id"], state["extractor_version"]),
        *(state["payload_digest"], state["text_digest"], links.pages.bit_length(), links.anchor_texts),
    ]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def documents_to_be(state: pa.Table, stood_for: Collection[str]) -> dict[str, dict[str, Any]]:
    """Pick the rows of ``page_state`` that are documents, by url_key: live, allowed, with text, not stood for."""
    return {
        row["url_key"]: row
        for row in state.to_pylist()
        if row["status"] == "live"
        and row["characters"] > 0
        and row["forbidden_since"] is None
        and NEVER_INDEXED_FLAGS.isdisjoint(row["flags"])
        and row["url_key"] not in stood_for
    }


def captures_of(fetches: pa.Table) -> dict[tuple[str, str, str], Place]:
    """Say where the payload of each capture lies, by url_key, crawl and payload digest.

    A crawl that captured one payload of a page more than once is read in order of time: the last one counts.
    """
    return {
        (row["url_key"], row["crawl_id"], row["payload_digest"]): (
            row["body_warc_file"],
            row["body_warc_offset"],
            row["body_warc_bytes"],
        )
        for row in fetches.sort_by("requested_at").to_pylist()
        if row["body_warc_file"] is not None
    }


def made_documents(
    site: str, rows: Mapping[str, Row], pages: pa.Table, captures: Captures, links: Mapping[str, InLinks]
) -> dict[str, IndexDocument]:
    """Make documents, by id.

    Args:
        site: whose pages.
        rows: their rows of ``page_state``, by url_key.
        pages: their versions from ``pages``; versions that are not current are passed over.
        captures: what ``captures_of`` gave.
        links: what leads to them, by url_key.

    Raises:
        PermanentError: ``pages`` lacks a version that ``page_state`` names.
    """
    current = {(key, row["page_crawl_id"], row["extractor_version"]): row["url"] for key, row in rows.items()}
    made: dict[str, IndexDocument] = {}
    for page in _each(pages):
        url = current.get((page["url_key"], page["crawl_id"], page["extractor_version"]))
        if url is not None:
            document = _document(site, url, page, captures, links.get(page["url_key"], _NO_LINKS))
            made[document.document_id] = document
    lost = [key for key in rows if document_id(site, key) not in made]
    if lost:
        raise PermanentError(f"pages lacks the current version of {len(lost)} pages of {site}, such as {lost[0]}")
    return made


def _each(pages: pa.Table) -> Iterator[dict[str, Any]]:
    """Give rows one batch at a time: the texts of all at once as Python objects would double the memory."""
    for batch in pages.to_batches(max_chunksize=500):
        yield from batch.to_pylist()


def _document(site: str, url: str, page: Row, captures: Captures, links: InLinks) -> IndexDocument:
    place = captures.get((page["url_key"], page["crawl_id"], page["payload_digest"]), ("", 0, 0))
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
        warc_file=place[0],
        warc_offset=place[1],
        warc_bytes=place[2],
        headings=headings(page["markdown"]),
        section=section(url),
        modified_on=page["modified_on"],
        extractor_version=page["extractor_version"],
        in_links=links.pages,
        anchor_texts=links.anchor_texts,
    )


def section(url: str) -> str:
    """Give the path of a URL without its last segment.

    >>> section("https://a.example/guide/start?page=2"), section("https://a.example")
    ('/guide/', '/')
    """
    return urlsplit(url).path.rpartition("/")[0] + "/"


def headings(markdown: str) -> tuple[str, ...]:
    """Give the ATX headings of a Markdown text, without those in fenced code.

    >>> headings("# One\\n```\\n# a comment\\n```\\n## Two")
    ('One', 'Two')
    """
    found: list[str] = []
    fenced = False
    for line in markdown.split("\n"):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif line.startswith("#") and not fenced:
            found.append(line.lstrip("#").strip())
    return tuple(heading for heading in found if heading)

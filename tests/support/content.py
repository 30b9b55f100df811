"""Rows of the content tables, made from a text: what a crawl and an extraction would have left."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from assets import names
from assets.markup.fingerprint import FINGERPRINT_VERSION, bands, shingles, simhash, text_digest
from assets.schemas import FETCHES, PAGE_STATE, PAGES
from resources.ports import TableStore
from tests.support.hand_made_crawl import blank

DAY_ONE = datetime(2026, 1, 1, tzinfo=UTC)
VERSION = "1"


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as it was seen last."""

    site: str
    url_key: str
    text: str
    title: str = "A title"
    crawl_id: str = "20260101T000000Z"
    status: str = "live"
    forbidden_since: datetime | None = None
    language: str = "en"
    canonical: str = ""
    flags: tuple[str, ...] = ()
    first_seen_at: datetime = DAY_ONE
    fetched_at: datetime = DAY_ONE
    warc_file: str = "raw/a.warc.gz"


def state_rows(pages: Iterable[StoredPage]) -> pa.Table:
    """Give the rows of ``page_state``."""
    return pa.Table.from_pylist([_state(page) for page in pages], schema=PAGE_STATE)


def store(tables: TableStore, pages: Iterable[StoredPage]) -> None:
    """Write pages as if each site of theirs had just been crawled and extracted; other sites stay."""
    pages = list(pages)
    tables.append(names.T_PAGES, pa.Table.from_pylist([_version(page) for page in pages], schema=PAGES))
    tables.append(names.T_FETCHES, pa.Table.from_pylist([_fetch(page) for page in pages], schema=FETCHES))
    tables.replace(names.T_PAGE_STATE, sites=sorted({page.site for page in pages}), rows=state_rows(pages))


def _payload(page: StoredPage) -> str:
    return f"sha1:{text_digest(page.text + page.title)[:32]}"


def _state(page: StoredPage) -> dict[str, object]:
    features = shingles(page.text)
    return {
        "site": page.site,
        "url": page.url_key,
        "url_key": page.url_key,
        "status": page.status,
        "page_crawl_id": page.crawl_id,
        "extractor_version": VERSION,
        "payload_digest": _payload(page),
        "text_digest": text_digest(page.text),
        "simhash": simhash(features) if len(features) else None,
        "features": len(features),
        "bands": bands(features),
        "fingerprint_version": FINGERPRINT_VERSION,
        "characters": len(page.text),
        "language": page.language,
        "declared_canonical_key": page.canonical,
        "flags": list(page.flags),
        "first_seen_at": page.first_seen_at,
        "last_asked_at": page.fetched_at,
        "gone_since": None,
        "gone_visits": 0,
        "forbidden_since": page.forbidden_since,
    }


def _version(page: StoredPage) -> dict[str, object]:
    facts = {
        "site": page.site,
        "crawl_id": page.crawl_id,
        "url": page.url_key,
        "url_key": page.url_key,
        "fetched_at": page.fetched_at,
        "payload_digest": _payload(page),
        "extractor_version": VERSION,
        "title": page.title,
        "markdown": page.text,
        "text": page.text,
        "language": page.language,
        "charset": "utf-8",
        "charset_source": "header",
        "declared_canonical": page.canonical,
        "characters": len(page.text),
        "flags": list(page.flags),
        "text_digest": text_digest(page.text),
    }
    return blank(PAGES, facts)


def _fetch(page: StoredPage) -> dict[str, object]:
    return {
        "site": page.site,
        "crawl_id": page.crawl_id,
        "layer": "depth_0",
        "purpose": "page",
        "url": page.url_key,
        "url_key": page.url_key,
        "origin_key": page.url_key,
        "hop": 0,
        "attempt": 1,
        "is_final": True,
        "outcome": "fetched",
        "reason": "",
        "requested_at": page.fetched_at,
        "fetch_ms": 1,
        "body_bytes": 1,
        "payload_digest": _payload(page),
        "body_warc_file": page.warc_file,
        "body_warc_offset": 7,
        "body_warc_bytes": 1,
    }

"""Live pages: the current version of each page that may be a document, as a table for whoever wants the texts."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from assets import names
from assets.feed.documents import CAPTURE_COLUMNS, STATE_COLUMNS, captures_of, document_id, documents_to_be, section
from assets.feed.standing import stood_for_of_site
from assets.schemas import PAGES
from assets.schemas.columns import column
from resources.ports import TableStore

_OF_PAGE: Final = (
    *("site", "url", "url_key", "title", "language", "author", "description", "published_on", "modified_on"),
    *("fetched_at", "characters", "text_digest", "payload_digest", "crawl_id", "extractor_version", "flags"),
    *("markdown", "text"),
)
LIVE_PAGES: Final = pa.schema(
    [
        column("document_id", pa.string(), "id in the index feed, stable over crawls"),
        *(PAGES.field(name) for name in _OF_PAGE),
        column("section", pa.string(), "path of the URL without its last segment"),
        column("warc_file", pa.string(), "object key of the WARC file that holds the capture; empty when unknown"),
        column("warc_offset", pa.int64(), "where its record starts", unit="bytes"),
        column("warc_bytes", pa.int64(), "length of its gzip member", unit="bytes"),
    ]
)
_VERSION: Final = ("url_key", "crawl_id", "extractor_version")


def live_pages(site: str, tables: TableStore, *, with_duplicates: bool = False) -> pa.Table:
    """Give the live pages of a site, in ``url_key`` order; without those that another page stands for, unless asked."""
    state = tables.read(names.T_PAGE_STATE, sites=[site], columns=STATE_COLUMNS)
    rows = documents_to_be(state, () if with_duplicates else stood_for_of_site(tables, site, state))
    crawls = pa.array(sorted({row["page_crawl_id"] for row in rows.values()}), pa.string())
    of_crawls = ds.field("crawl_id").isin(crawls)
    pages = tables.read(names.T_PAGES, sites=[site], columns=_OF_PAGE, where=of_crawls)
    current = {(key, row["page_crawl_id"], row["extractor_version"]) for key, row in rows.items()}
    # A version that was extracted twice has two rows; the last one counts.
    last = {version: at for at, version in enumerate(_tuples(pages, _VERSION)) if version in current}
    pages = pages.take(pa.array([last[version] for version in sorted(last)], pa.int64()))
    captured = (ds.field("purpose") == "page") & ds.field("body_warc_file").is_valid() & of_crawls
    captures = captures_of(tables.read(names.T_FETCHES, sites=[site], columns=CAPTURE_COLUMNS, where=captured))
    places = [captures.get(one, ("", 0, 0)) for one in _tuples(pages, ("url_key", "crawl_id", "payload_digest"))]
    urls = [rows[key]["url"] for key in pages["url_key"].to_pylist()]
    made = {
        "document_id": [document_id(site, key) for key in pages["url_key"].to_pylist()],
        "url": urls,
        "section": [section(url) for url in urls],
        "warc_file": [place[0] for place in places],
        "warc_offset": [place[1] for place in places],
        "warc_bytes": [place[2] for place in places],
    }
    columns = [
        pa.array(made[field.name], field.type) if field.name in made else pages[field.name] for field in LIVE_PAGES
    ]
    return pa.table(columns, schema=LIVE_PAGES)


def _tuples(rows: pa.Table, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return list(zip(*(rows[name].to_pylist() for name in columns), strict=True))

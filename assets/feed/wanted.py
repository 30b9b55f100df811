"""Wanted documents: what a site's index must hold by its tables. Pages that were fed as they are now are not read."""

import pyarrow as pa
import pyarrow.dataset as ds

from assets import names
from assets.feed.difference import Fed, Wanted
from assets.feed.documents import (
    CAPTURE_COLUMNS,
    PAGE_COLUMNS,
    captures_of,
    document_digest,
    document_id,
    documents_to_be,
    made_documents,
    source_digest,
)
from assets.feed.in_links import InLinks, in_links_of_site
from assets.feed.standing import stood_for_of_site
from resources.ports import TableStore

_NO_LINKS = InLinks()


def wanted_of_site(site: str, tables: TableStore, state: pa.Table, fed: Fed) -> Wanted:
    """Read what documents are made of, and make those that may differ from what was fed.

    Args:
        site: whose pages.
        tables: the store.
        state: the site's rows of ``page_state``.
        fed: what was fed; a document whose source is as it was then is not made again.
    """
    rows = documents_to_be(state, stood_for_of_site(tables, site, state))
    live = [row["url_key"] for row in state.select(["url_key", "status"]).to_pylist() if row["status"] == "live"]
    links = in_links_of_site(site, tables, live, rows.keys())
    sources = {document_id(site, key): source_digest(row, links.get(key, _NO_LINKS)) for key, row in rows.items()}
    digests, changed = {}, {}
    for key, row in rows.items():
        one = document_id(site, key)
        if one in fed and fed[one].source == sources[one]:
            digests[one] = fed[one].document_digest
        else:
            changed[key] = row
    if not changed:
        return Wanted(digests, sources)
    keys = ds.field("url_key").isin(pa.array(sorted(changed), pa.string()))
    crawls = pa.array(sorted({row["page_crawl_id"] for row in changed.values()}), pa.string())
    where = keys & ds.field("crawl_id").isin(crawls)
    pages = tables.read(names.T_PAGES, sites=[site], columns=PAGE_COLUMNS, where=where)
    captured = (ds.field("purpose") == "page") & ds.field("body_warc_file").is_valid()
    fetches = tables.read(names.T_FETCHES, sites=[site], columns=CAPTURE_COLUMNS, where=where & captured)
    documents = made_documents(site, changed, pages, captures_of(fetches), links)
    digests |= {one: document_digest(document) for one, document in documents.items()}
    return Wanted(digests, sources, documents)

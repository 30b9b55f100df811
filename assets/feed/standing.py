"""Standing: which pages need no document because another page's document says the same.

The duplicate tables are marks, and those of two sites may be of different age. A mark counts only if it leads, page by
page, to one that may be a document and is not marked itself; else the page keeps its document. So a stale mark can
cause a document too many until its site is materialized again, but never lose a text from the index.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from assets import names
from assets.feed.documents import STATE_COLUMNS, documents_to_be
from resources.ports import TableStore

Page = tuple[str, str]  # site and url_key

_MARK_COLUMNS: Final = ("site", "url_key", "representative_site", "representative_key")
_MARK_TABLES: Final = (names.T_NEAR_DUPLICATES, names.T_EXACT_DUPLICATES)


def stood_for(pages: Iterable[Page], marks: Mapping[Page, Page], standing: Collection[Page]) -> frozenset[Page]:
    """Pick the pages whose marks lead to one that stands.

    >>> marks = {("a", "1"): ("b", "1"), ("b", "1"): ("c", "1")}
    >>> stood_for([("a", "1")], marks, {("c", "1")})
    frozenset({('a', '1')})
    >>> stood_for([("a", "1")], marks | {("c", "1"): ("a", "1")}, {("c", "1")})
    frozenset()
    """
    return frozenset(page for page in pages if page in marks and _end(page, marks) in standing)


def _end(page: Page, marks: Mapping[Page, Page]) -> Page | None:
    """Follow the marks of a page to the one without a mark; None when they go round."""
    seen = {page}
    while page in marks:
        page = marks[page]
        if page in seen:
            return None
        seen.add(page)
    return page


def stood_for_of_site(tables: TableStore, site: str, state: pa.Table) -> frozenset[str]:
    """Read the marks of a site and of the pages they lead to; give the url_keys of the pages that are stood for.

    Args:
        state: the site's rows of ``page_state``.
    """
    marks = _marks(tables, site, None)
    own = list(marks)
    standing = {(site, key) for key in documents_to_be(state, ())}
    read: set[Page] = set()
    while foreign := {page for page in marks.values() if page[0] != site and page not in read}:
        read |= foreign
        for other in sorted({page[0] for page in foreign}):
            keys = sorted(key for page_site, key in foreign if page_site == other)
            marks |= _marks(tables, other, keys)
            rows = tables.read(
                names.T_PAGE_STATE, sites=[other], columns=STATE_COLUMNS, where=ds.field("url_key").isin(keys)
            )
            standing |= {(other, key) for key in documents_to_be(rows, ())}
    return frozenset(key for _, key in stood_for(own, marks, standing))


def _marks(tables: TableStore, site: str, keys: list[str] | None) -> dict[Page, Page]:
    """Give the representatives of pages that have another one than themselves, exact ones before near ones."""
    marks: dict[Page, Page] = {}
    where = None if keys is None else ds.field("url_key").isin(keys)
    for table in _MARK_TABLES:
        rows: list[dict[str, Any]] = tables.read(table, sites=[site], columns=_MARK_COLUMNS, where=where).to_pylist()
        for row in rows:
            page = (row["site"], row["url_key"])
            representative = (row["representative_site"], row["representative_key"])
            if page != representative:
                marks[page] = representative
    return marks

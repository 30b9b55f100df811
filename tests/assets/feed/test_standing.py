"""Which pages are stood for, when the marks of several sites disagree."""

import pyarrow as pa

from assets import names
from assets.feed.standing import stood_for_of_site
from assets.schemas import EXACT_DUPLICATES
from tests.support.content import StoredPage, store
from tests.support.memory import MemoryTables


def marked(marks: dict[tuple[str, str], tuple[str, str]], *, gone: tuple[str, ...] = ()) -> MemoryTables:
    """Make a store in which each page is marked as an exact duplicate of another."""
    tables = MemoryTables()
    pages = sorted({*marks, *marks.values()})
    for site in sorted({site for site, _ in pages}):
        live = [(key, "gone" if key in gone else "live") for page_site, key in pages if page_site == site]
        store(tables, [StoredPage(site, key, "text", status=status) for key, status in live])
    rows = [
        {
            "site": site,
            "url": key,
            "url_key": key,
            "text_digest": "d",
            "representative_site": other_site,
            "representative_key": other_key,
            "chosen_by": "earliest",
            "cluster_pages": 2,
        }
        for (site, key), (other_site, other_key) in marks.items()
    ]
    tables.append(names.T_EXACT_DUPLICATES, pa.Table.from_pylist(rows, schema=EXACT_DUPLICATES))
    return tables


def stood_for(tables: MemoryTables, site: str) -> frozenset[str]:
    return stood_for_of_site(tables, site, tables.read(names.T_PAGE_STATE, sites=[site]))


def test_a_page_is_stood_for_by_a_page_of_another_site_through_others() -> None:
    tables = marked({("a", "a1"): ("b", "b1"), ("b", "b1"): ("c", "c1"), ("c", "c1"): ("c", "c2")})

    assert stood_for(tables, "a") == {"a1"}


def test_a_representative_that_represents_itself_is_not_stood_for() -> None:
    assert stood_for(marked({("a", "a1"): ("a", "a1"), ("a", "a2"): ("a", "a1")}), "a") == {"a2"}


def test_two_sites_that_each_point_at_the_other_both_keep_their_documents() -> None:
    tables = marked({("a", "a1"): ("b", "b1"), ("b", "b1"): ("a", "a1")})

    assert (stood_for(tables, "a"), stood_for(tables, "b")) == (frozenset(), frozenset())


def test_a_representative_that_is_gone_stands_for_nobody() -> None:
    assert stood_for(marked({("a", "a1"): ("b", "b1")}, gone=("b1",)), "a") == frozenset()

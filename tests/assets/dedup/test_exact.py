"""Exact duplicates over the whole store."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import permutations
from typing import Any

import ibis
import pytest

from assets import names
from assets.dedup.exact import exact_clusters, exact_duplicates_of_sites
from resources.duckdb_engine import DuckDBEngine
from resources.ports import QueryEngine
from tests.support.content import DAY_ONE, StoredPage, state_rows, store
from tests.support.memory import MemoryTables

ENGINE = DuckDBEngine()
LATER = DAY_ONE + timedelta(days=1)


def clusters(pages: Sequence[StoredPage], engine: QueryEngine = ENGINE) -> dict[str, tuple[str, str]]:
    """Give the representative of each page, and what it was chosen by."""
    rows = engine.run(exact_clusters(ibis.memtable(state_rows(pages)))).to_pylist()
    return {row["url_key"]: (row["representative_key"], row["chosen_by"]) for row in rows}


def page(url_key: str, text: str = "same", **facts: Any) -> StoredPage:
    return StoredPage("a", url_key, text, **facts)


def test_every_page_of_a_cluster_has_a_row_and_others_have_none() -> None:
    pages = [page("https://a/x"), page("https://a/y", first_seen_at=LATER), page("https://a/z", "other")]

    rows = ENGINE.run(exact_clusters(ibis.memtable(state_rows(pages)))).to_pylist()

    assert {row["url_key"]: row["representative_key"] for row in rows} == {
        "https://a/x": "https://a/x",
        "https://a/y": "https://a/x",
    }
    assert {row["cluster_pages"] for row in rows} == {2}


@pytest.mark.parametrize(
    ("pages", "representative", "chosen_by"),
    [
        pytest.param(
            [
                page("https://a/old"),
                page("https://a/new", first_seen_at=LATER),
                page("https://a/b", canonical="https://a/new"),
            ],
            "https://a/new",
            "canonical",
            id="the declared canonical stands before the earliest",
        ),
        pytest.param(
            [page("https://a/long"), page("https://a/b", first_seen_at=LATER, canonical="https://a/gone")],
            "https://a/long",
            "earliest",
            id="a canonical that was not fetched counts for nothing",
        ),
        pytest.param(
            [
                page("https://a/a", canonical="https://a/a"),
                page("https://a/b", first_seen_at=LATER, canonical="https://a/b"),
            ],
            "https://a/a",
            "earliest",
            id="pages that all name themselves are as good as pages that name nobody",
        ),
        pytest.param([page("https://a/long"), page("https://a/b")], "https://a/b", "shortest", id="the shortest"),
        pytest.param([page("https://a/c"), page("https://a/b")], "https://a/b", "shortest", id="the first in order"),
        pytest.param(
            [page("https://a/b", flags=("noindex",)), page("https://a/c", first_seen_at=LATER)],
            "https://a/c",
            "earliest",
            id="a page that may not be indexed stands for none that may",
        ),
    ],
)
def test_the_representative_is_the_canonical_else_the_earliest_else_the_shortest(
    pages: list[StoredPage], representative: str, chosen_by: str
) -> None:
    for order in permutations(pages):
        assert set(clusters(order).values()) == {(representative, chosen_by)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(page("https://a/3.11/x"), page("https://a/3.12/x"), id="versions"),
        pytest.param(page("https://a/v1/x"), page("https://a/x"), id="a version and none"),
        pytest.param(page("https://a/x"), page("https://a/y", language="de"), id="languages"),
        pytest.param(page("https://a/x?page=2"), page("https://a/x?page=3"), id="pages of a row"),
        pytest.param(
            page("https://a/x", canonical="https://a/p"),
            page("https://a/y", canonical="https://a/q"),
            id="declared different canonicals",
        ),
        pytest.param(page("https://a/x", ""), page("https://a/y", ""), id="empty texts"),
        pytest.param(page("https://a/x"), page("https://a/y", status="gone"), id="a page that is gone"),
        pytest.param(page("https://a/x", "!!!"), page("https://a/y", "???"), id="texts without words"),
    ],
)
def test_these_are_never_duplicates(one: StoredPage, other: StoredPage) -> None:
    assert clusters([one, other]) == {}


def test_where_two_canonicals_are_declared_each_page_goes_with_its_own(engine: QueryEngine) -> None:
    pages = [page(f"https://a/{name}") for name in ("p", "q")]
    copies = [
        page(f"https://a/{name}/{number}", canonical=f"https://a/{name}") for name in "pq" for number in (111, 222)
    ]

    found = clusters([*pages, *copies], engine)

    assert {key: representative for key, (representative, _) in found.items()} == {
        **{f"https://a/p{rest}": "https://a/p" for rest in ("", "/111", "/222")},
        **{f"https://a/q{rest}": "https://a/q" for rest in ("", "/111", "/222")},
    }


def test_an_untranslated_page_is_a_duplicate_wherever_its_url_says_it_is() -> None:
    assert clusters([page("https://a/en/x"), page("https://a/de/x", language="en-GB")]).keys() == {
        "https://a/en/x",
        "https://a/de/x",
    }


def test_sites_give_the_same_rows_in_whatever_order_they_are_materialized() -> None:
    pages = [
        StoredPage("a", "https://a/x", "same", first_seen_at=LATER),
        StoredPage("b", "https://b/x", "same", canonical="https://c/x"),
        StoredPage("c", "https://c/x", "same", first_seen_at=LATER),
        StoredPage("c", "https://c/alone", "alone"),
        StoredPage("a", "https://both/x", "twice"),
        StoredPage("b", "https://both/x", "twice"),
    ]
    seen = set()
    for order in (["a", "b", "c"], ["c", "b", "a"]):
        tables = MemoryTables()
        store(tables, pages)
        for site in order:
            tables.replace(
                names.T_EXACT_DUPLICATES, sites=[site], rows=exact_duplicates_of_sites(tables, ENGINE, [site])
            )
        rows = tables.read(names.T_EXACT_DUPLICATES).to_pylist()
        assert {row["representative_site"] for row in rows if row["url_key"].endswith("/x")} == {"c", "a"}
        seen.add(str(sorted(rows, key=lambda row: (row["site"], row["url_key"]))))
    assert len(seen) == 1

"""Kinds of addresses that always repeat others, and mirrors."""

import pytest

from assets import names
from assets.dedup.exact import exact_duplicates_of_sites
from assets.dedup.near import near_duplicates_of_sites
from assets.dedup.repeats import LEAST_PAGES, mirrored_hosts, repeating_marks, repeats_of_site
from resources.duckdb_engine import DuckDBEngine
from tests.support.content import StoredPage, store
from tests.support.memory import MemoryTables

ENGINE = DuckDBEngine()
PAGES = [f"https://a/docs/{number}x" for number in range(LEAST_PAGES)]


def print_of(page: str) -> str:
    return page.replace("/docs/", "/docs/print/")


def test_a_mark_whose_pages_all_repeat_pages_without_it_is_found() -> None:
    printed = {print_of(page): page for page in PAGES}
    sessions = {f"{page}?s=1": page for page in PAGES}
    among_themselves = {f"{page}?view=2": f"{PAGES[0]}?view=1" for page in PAGES}

    found = repeating_marks([*PAGES, *printed, *sessions, *among_themselves], printed | sessions | among_themselves)

    assert found == {"/print/": (LEAST_PAGES, min(printed)), "?s": (LEAST_PAGES, min(sessions))}


@pytest.mark.parametrize("kept", [1, LEAST_PAGES - 1])
def test_one_page_of_its_own_or_too_few_of_all_say_nothing(kept: int) -> None:
    printed = {print_of(page): page for page in PAGES}
    assert repeating_marks([*PAGES, *printed, "https://a/docs/print/own"], printed) == {}
    assert repeating_marks([*PAGES, *printed], dict(list(printed.items())[:kept])) == {}


def test_of_two_mirrors_the_later_name_says_so_with_the_share_of_the_smaller() -> None:
    keys = [f"https://b/{number}" for number in range(12)]
    other = ("a", "https://a")

    rows = mirrored_hosts([(key, other) for key in keys], {"https://b": 40}, {other: 16}.__getitem__)

    assert rows == [
        {"host": "https://b", "other_site": "a", "other_host": "https://a", "shared_pages": 12, "share": 0.75}
    ]
    assert mirrored_hosts([(key, other) for key in keys], {"https://b": 40}, lambda _: 30) == []
    assert mirrored_hosts([(f"https://a/{n}", ("b", "https://b")) for n in range(12)], {"https://a": 12}, len) == []


def test_sites_tell_of_their_mirrors_and_print_pages_once() -> None:
    words = [f"word{number}" for number in range(90)]
    texts = [" ".join([*words[number:], *words[:number]]) for number in range(LEAST_PAGES)]
    tables = MemoryTables()
    store(
        tables,
        [
            *(StoredPage("a", page, text) for page, text in zip(PAGES, texts, strict=True)),
            *(StoredPage("a", print_of(page), text) for page, text in zip(PAGES, texts, strict=True)),
            *(StoredPage("b", page.replace("//a/", "//b/"), text) for page, text in zip(PAGES, texts, strict=True)),
        ],
    )
    found = {}
    for site in ("b", "a"):
        rows = exact_duplicates_of_sites(tables, ENGINE, [site])
        tables.replace(names.T_EXACT_DUPLICATES, sites=[site], rows=rows)
        near = near_duplicates_of_sites(tables, ENGINE, [site])
        found[site] = repeats_of_site(tables, site, near.pairs, near.duplicates)

    assert [(row["host"], row["other_host"]) for row in found["b"].mirrors.to_pylist()] == [("https://b", "https://a")]
    assert found["a"].mirrors.num_rows == 0
    assert found["a"].patterns["mark"].to_pylist() == ["/print/"]

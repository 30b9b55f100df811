from collections import Counter
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.frontier.candidates import CANDIDATES, with_sitemap_entries
from assets.frontier.expand import Expansion, expand, priority
from assets.frontier.linked import LinkedAddresses
from assets.frontier.traps import TrapBudgets
from assets.links.unread import unread_links
from assets.schemas import LINKS, SITEMAP_ENTRIES
from assets.url.scope import Refusal, RejectReason
from resources.duckdb_engine import DuckDBEngine
from tests.support.answers import NOON


def candidate(url: str, **changes: Any) -> dict[str, Any]:
    return {
        "url_key": url,
        "url": url,
        "other_urls": [],
        "found_by": "link",
        "found_on": "http://e.test/",
        "in_links": 1,
        "sitemap_priority": None,
        "worth": None,
        **changes,
    }


def expanded(*candidates: dict[str, Any], budget: int = 100, repeating: frozenset[str] = frozenset()) -> Expansion:
    def refusal(url: str) -> Refusal | None:
        return None if url.startswith("http://e.test/") else Refusal(RejectReason.OUT_OF_SCOPE, "e.test")

    rows = pa.Table.from_pylist(list(candidates), schema=CANDIDATES)
    return expand(rows, depth=1, budget=budget, scope_refusal=refusal, traps=TrapBudgets(), repeating=repeating)


def test_what_is_out_of_scope_is_a_row_with_its_rule() -> None:
    found = expanded(candidate("http://e.test/a"), candidate("http://other.test/"))
    assert found.frontier["url"].to_pylist() == ["http://e.test/a"]
    assert found.refusals.select(["url", "reason", "rule"]).to_pylist() == [
        {"url": "http://other.test/", "reason": "out_of_scope", "rule": "e.test"}
    ]


def test_a_trap_is_a_row_with_its_rule() -> None:
    found = expanded(candidate("http://e.test/a/b/a/b/a/b/a/b"), candidate("http://e.test/guide/guide-2"))
    assert found.refusals["reason"].to_pylist() == ["path_repeat"]
    assert found.frontier.num_rows == 1


def test_the_budget_cuts_the_lowest_priorities() -> None:
    candidates = [candidate(f"http://e.test/{n}", in_links=n) for n in range(1, 6)]
    found = expanded(*candidates, budget=2)
    assert found.frontier["in_links"].to_pylist() == [5, 4]
    assert set(found.refusals["reason"].to_pylist()) == {"page_budget"}


def test_addresses_whose_kind_always_repeats_others_come_last() -> None:
    printed = candidate("http://e.test/print/a", in_links=500)
    chosen = candidate("http://e.test/print/b", found_by="hub")
    found = expanded(printed, candidate("http://e.test/a"), chosen, repeating=frozenset({"/print/"}))
    assert found.frontier["url"].to_pylist() == ["http://e.test/print/b", "http://e.test/a", "http://e.test/print/a"]
    assert expanded(printed, candidate("http://e.test/a")).frontier["url"][0].as_py() == "http://e.test/print/a"


def test_what_a_person_chose_is_no_trap() -> None:
    url = "http://e.test/a/b/a/b/a/b/a/b"
    assert expanded(candidate(url, found_by="seed"), candidate(url + "/c", found_by="hub")).frontier.num_rows == 2


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 50)), unique_by=lambda pair: pair[0]),
    st.integers(0, 6),
)
def test_every_candidate_becomes_one_row(pairs: list[tuple[str, int]], budget: int) -> None:
    found = expanded(*(candidate(f"http://e.test/{name}", in_links=links) for name, links in pairs), budget=budget)
    urls = found.frontier["url"].to_pylist() + found.refusals["url"].to_pylist()
    assert sorted(urls) == sorted(f"http://e.test/{name}" for name, _ in pairs)
    assert found.frontier.num_rows == min(budget, len(pairs))
    # Best first, and of equals the one that was found first.
    in_order = [f"http://e.test/{name}" for name, links in sorted(pairs, key=lambda pair: -pair[1])]
    assert found.frontier["url"].to_pylist() == in_order[:budget]


def test_hubs_come_first_and_sitemaps_and_links_count() -> None:
    def rank(**changes: Any) -> float:
        return priority(**{"depth": 1, "in_links": 1, "found_by": "link", "sitemap_priority": None, **changes})

    assert rank(found_by="hub") > rank(sitemap_priority=1.0) > rank(in_links=2) > rank() > rank(depth=2)


def parsed_page(key: str, *links: tuple[str, str]) -> dict[str, Any]:
    hyperlinks = [{"url": url, "url_key": target, "kind": "a", "anchor": "", "rel": ""} for url, target in links]
    facts = {"site": "e.test", "crawl_id": "1", "layer": "depth_0", "url": key, "url_key": key, "requested_at": NOON}
    return {**unread_links(""), **facts, "hyperlinks": hyperlinks}


@pytest.fixture
def engine() -> DuckDBEngine:
    return DuckDBEngine()


def targets(
    engine: DuckDBEngine, pages: list[dict[str, Any]], known: list[str], **settings: Any
) -> list[dict[str, Any]]:
    """Give the candidates among what pages link; the pages are added one by one when ``links_at_once`` is given."""
    again = [key for key, count in Counter(page["url_key"] for page in pages).items() if count > 1]
    linked = LinkedAddresses(engine.run, known=known, read_again=pa.array(again, pa.string()), **settings)
    for some in [[page] for page in pages] if settings else [pages]:
        linked.add(pa.Table.from_pylist(some, schema=LINKS))
    found = linked.candidates()
    assert found.schema.equals(CANDIDATES)
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def test_links_are_grouped_by_key_and_the_first_spelling_is_asked(engine: DuckDBEngine) -> None:
    pages = [
        parsed_page("p1", ("http://e.test/x/", "x"), ("http://e.test/y", "y")),
        parsed_page("p2", ("http://e.test/x", "x"), ("http://e.test/x", "x")),
    ]
    rows = {row["url_key"]: row for row in targets(engine, pages, [])}
    assert (rows["x"]["url"], rows["x"]["other_urls"]) == ("http://e.test/x/", ["http://e.test/x"])
    assert (rows["x"]["in_links"], rows["x"]["found_on"]) == (2, "p1")
    assert rows["y"]["in_links"] == 1


def test_what_is_known_is_not_a_candidate(engine: DuckDBEngine) -> None:
    pages = [parsed_page("p1", ("http://e.test/x", "x"), ("http://e.test/y", "y"))]
    assert [row["url_key"] for row in targets(engine, pages, ["x"])] == ["y"]


@pytest.mark.parametrize("links_at_once", [1, 3, 10])
def test_links_grouped_in_parts_are_the_same(engine: DuckDBEngine, links_at_once: int) -> None:
    targets_of = ["abcab", "bA", "", "dBbb", "aeC", "e"]
    pages = [
        # p1 and p2 come again, with other links.
        parsed_page(f"p{min(number, 6 - number)}", *((f"http://e.test/{name}", name.lower()) for name in linked))
        | {"requested_at": NOON + timedelta(seconds=number)}
        for number, linked in enumerate(targets_of, 1)
    ]
    whole = targets(engine, pages, ["d"])
    assert [(row["url"][-1], row["in_links"], row["other_urls"]) for row in whole] == [
        ("a", 2, ["http://e.test/A"]),
        ("b", 2, ["http://e.test/B"]),
        ("c", 1, ["http://e.test/C"]),
        ("e", 2, []),
    ]
    assert targets(engine, pages, ["d"], links_at_once=links_at_once) == whole


def test_sitemaps_rank_what_is_linked_and_add_what_is_not() -> None:
    linked = pa.Table.from_pylist([candidate("http://e.test/b"), candidate("http://e.test/c")], schema=CANDIDATES)
    listed = [("http://e.test/d", 0.9), ("http://e.test/b", 0.4), ("http://e.test/a", None)]
    rows = [{"url": url, "url_key": url, "sitemap_url": "map.xml", "sitemap_priority": rank} for url, rank in listed]
    entries = pa.Table.from_pylist(rows, schema=SITEMAP_ENTRIES).select(list(rows[0]))
    found = with_sitemap_entries(linked, entries).to_pylist()
    assert [(row["url"][-1], row["found_by"], row["found_on"][-4:], row["sitemap_priority"]) for row in found] == [
        ("b", "link", "est/", 0.4),
        ("c", "link", "est/", None),
        ("a", "sitemap", ".xml", None),
        ("d", "sitemap", ".xml", 0.9),
    ]


@pytest.mark.parametrize("pages", [[], [parsed_page("p1")]], ids=["no pages", "no links"])
def test_nothing_linked_is_no_candidates(engine: DuckDBEngine, pages: list[dict[str, Any]]) -> None:
    assert targets(engine, pages, []) == []

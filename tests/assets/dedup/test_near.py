"""Near-duplicates, from stored texts to the tables."""

import random
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any

import pyarrow as pa
import pytest

from assets import names
from assets.dedup.near import NearResult, NearSettings, near_duplicates_of_sites
from assets.markup.fingerprint import FINGERPRINT_VERSION
from assets.schemas import DUPLICATE_VERDICTS
from resources.duckdb_engine import DuckDBEngine
from resources.errors import PermanentError
from resources.ports import QueryEngine
from tests.support.content import DAY_ONE, StoredPage, store
from tests.support.memory import MemoryTables

ENGINE = DuckDBEngine()
# Any distance: these tests are about what becomes of candidates. Which pairs are candidates, test_pairs tells.
ANY = NearSettings(max_distance=8)


def text_of(seed: int, words: int = 400) -> list[str]:
    dice = random.Random(seed)
    return [f"word{dice.randrange(3_000)}" for _ in range(words)]


def edited(words: list[str], start: int, count: int) -> list[str]:
    return [*words[:start], *(f"edit{start}x{place}" for place in range(count)), *words[start + count :]]


def materialized(pages: list[StoredPage], order: tuple[str, ...]) -> tuple[dict[str, str], list[dict[str, object]]]:
    """Give whom each page joined, and the pairs, after the sites were materialized in an order."""
    tables = MemoryTables()
    store(tables, pages)
    for site in order:
        result = near_duplicates_of_sites(tables, ENGINE, [site], ANY)
        tables.replace(names.T_NEAR_PAIRS, sites=[site], rows=result.pairs)
        tables.replace(names.T_NEAR_DUPLICATES, sites=[site], rows=result.duplicates)
    rows = tables.read(names.T_NEAR_DUPLICATES).to_pylist()
    pairs = tables.read(names.T_NEAR_PAIRS).to_pylist()
    return {row["url_key"]: row["representative_key"] for row in rows}, sorted(pairs, key=str)


def chain(sites: tuple[str, ...]) -> list[StoredPage]:
    """Make pages each of which is like the one before it and the one after it, and no other."""
    words, pages = text_of(1), []
    for place, site in enumerate(sites):
        words = edited(words, place * 60, 30)
        seen = DAY_ONE + timedelta(days=place)
        pages.append(StoredPage(site, f"https://{site}/text{place}", " ".join(words), first_seen_at=seen))
    return pages


@pytest.mark.slow
def test_a_chain_of_small_edits_is_not_one_cluster_and_sites_agree_in_any_order() -> None:
    sites = ("a", "b", "c", "d")
    answers = [materialized(chain(sites), order) for order in list(permutations(sites))[::23]]

    assert answers[0][0] == {"https://b/text1": "https://a/text0", "https://d/text3": "https://c/text2"}
    assert [(pair["url_key"], pair["other_key"]) for pair in answers[0][1]] == [
        ("https://a/text0", "https://b/text1"),
        ("https://b/text1", "https://a/text0"),
        ("https://b/text1", "https://c/text2"),
        ("https://c/text2", "https://b/text1"),
        ("https://c/text2", "https://d/text3"),
        ("https://d/text3", "https://c/text2"),
    ]
    assert all(answer == answers[0] for answer in answers)


def test_a_page_far_down_the_chain_gets_the_same_answer_alone() -> None:
    tables = MemoryTables()
    store(tables, chain(("a", "b", "c")))

    result = near_duplicates_of_sites(tables, ENGINE, ["c"], ANY)

    assert result.duplicates.num_rows == 0  # b is no representative, and a is not alike
    assert result.pairs["other_key"].to_pylist() == ["https://b/text1"]


def test_versions_and_languages_are_kept_apart_and_the_veto_is_recorded(engine: QueryEngine) -> None:
    words = text_of(2)
    pages = [
        StoredPage("a", "https://a/3.11/x", " ".join(words)),
        StoredPage("a", "https://a/3.12/x", " ".join(edited(words, 10, 5))),
        StoredPage("a", "https://a/3.11/y", " ".join(edited(words, 50, 5)), language="de"),
    ]
    tables = MemoryTables()
    store(tables, pages)

    result = near_duplicates_of_sites(tables, engine, ["a"], ANY)

    assert result.duplicates.num_rows == 0
    assert sorted(result.pairs["veto"].to_pylist()) == ["language"] * 2 + ["version"] * 4
    assert (result.alike, result.vetoed) == (3, 3)
    assert min(result.pairs["similarity"].to_pylist()) >= 0.8


def test_only_one_page_of_a_cluster_of_exact_duplicates_is_compared() -> None:
    words = text_of(3)
    pages = [StoredPage("a", f"https://a/copy{number}", " ".join(words)) for number in range(5)]
    pages.append(StoredPage("a", "https://a/edited-copy", " ".join(edited(words, 100, 4))))
    tables = MemoryTables()
    store(tables, pages)

    result = near_duplicates_of_sites(tables, ENGINE, ["a"], ANY)

    assert (result.compared_pages, result.candidates) == (2, 1)
    assert result.duplicates.select(["url_key", "representative_key"]).to_pylist() == [
        {"url_key": "https://a/edited-copy", "representative_key": "https://a/copy0"}
    ]


def test_a_page_that_another_declares_canonical_stands_for_the_earlier_one() -> None:
    words = text_of(4)
    pages = [
        StoredPage("a", "https://a/early", " ".join(words), canonical="https://a/declared"),
        StoredPage("a", "https://a/declared", " ".join(edited(words, 9, 4)), first_seen_at=DAY_ONE + timedelta(days=1)),
    ]

    assert materialized(pages, ("a",))[0] == {"https://a/early": "https://a/declared"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("明天下午三点在图书馆开会", "明天下午三点在体育馆开会"),
        ("", "!!! ???"),
        ("ok", "no"),
    ],
)
def test_texts_with_few_features_get_no_verdict(one: str, other: str) -> None:
    tables = MemoryTables()
    store(tables, [StoredPage("a", "https://a/one", one), StoredPage("a", "https://a/two", other)])

    result = near_duplicates_of_sites(tables, ENGINE, ["a"], NearSettings(max_distance=62))

    assert (result.compared_pages, result.pairs.num_rows) == (0, 0)


def test_an_empty_store_has_no_duplicates() -> None:
    result = near_duplicates_of_sites(MemoryTables(), ENGINE, ["a"])

    assert (result.pairs.num_rows, result.duplicates.num_rows, result.candidates) == (0, 0, 0)


def test_a_lost_page_version_is_an_error_not_an_empty_text() -> None:
    words = text_of(5)
    tables = MemoryTables()
    store(
        tables,
        [
            StoredPage("a", "https://a/one", " ".join(words)),
            StoredPage("a", "https://a/two", " ".join(edited(words, 1, 1))),
        ],
    )
    del tables.rows[names.T_PAGES]

    with pytest.raises(PermanentError, match="that pages does not hold"):
        near_duplicates_of_sites(tables, ENGINE, ["a"], ANY)


def near(pages: list[StoredPage], settings: NearSettings = ANY, **facts: Any) -> NearResult:
    """Materialize site a of a store of these pages."""
    tables = MemoryTables()
    store(tables, pages)
    return near_duplicates_of_sites(tables, ENGINE, ["a"], settings, **facts)


def test_a_pair_tells_what_each_page_has_alone_and_that_bands_found_it() -> None:
    words = text_of(6)
    pages = [
        StoredPage("a", "https://a/x", " ".join(words)),
        StoredPage("a", "https://a/y", " ".join(edited(words, 9, 2))),
    ]

    row = near(pages, NearSettings(max_distance=0)).pairs.to_pylist()[0]

    assert (row["only_here"], row["only_there"]) == (" ".join(words[9:11]), "edit9x0 edit9x1")
    assert row["distance"] > 0


def test_fingerprints_of_an_older_version_are_not_compared() -> None:
    words = text_of(7)
    tables = MemoryTables()
    store(tables, [StoredPage("a", f"https://a/{n}", " ".join(edited(words, 9, n))) for n in range(3)])
    state = tables.read(names.T_PAGE_STATE)
    old = pa.array([FINGERPRINT_VERSION, FINGERPRINT_VERSION - 1, FINGERPRINT_VERSION], pa.int32())
    place = state.column_names.index("fingerprint_version")
    tables.replace(names.T_PAGE_STATE, sites=["a"], rows=state.set_column(place, state.schema.field(place), old))

    result = near_duplicates_of_sites(tables, ENGINE, ["a"], ANY)

    assert set(result.pairs["url_key"].to_pylist()) == {"https://a/0", "https://a/2"}


def test_of_two_sites_the_stricter_threshold_counts() -> None:
    words = text_of(8)
    pages = [
        StoredPage("a", "https://a/x", " ".join(words)),
        StoredPage("a", "https://a/y", " ".join(edited(words, 50, 25))),
        StoredPage("b", "https://b/x", " ".join(edited(words, 250, 25))),
    ]
    strict = {"a": 0.8, "b": 0.99}

    assert near(pages).alike == 2
    pairs = near(pages, least_similarity=strict.__getitem__).pairs
    assert {(row["url_key"], row["other_key"]) for row in pairs.to_pylist()} == {
        ("https://a/x", "https://a/y"),
        ("https://a/y", "https://a/x"),
    }


def test_in_a_crowd_of_one_template_pairs_are_bounded_and_all_join_the_best_page() -> None:
    words = text_of(9)
    pages = [
        StoredPage(
            "a",
            f"https://a/text{number}",
            " ".join([*words, f"number{number}"]),
            first_seen_at=DAY_ONE + timedelta(number),
        )
        for number in range(40)
    ]

    result = near(pages, NearSettings(crowd=2))

    assert result.candidates < 40 * 39 / 2 / 3
    assert result.duplicates["representative_key"].to_pylist() == ["https://a/text0"] * 39


@pytest.mark.parametrize(("verdict", "veto", "joined"), [("different", "reviewer", 0), ("same", "", 1)])
def test_a_persons_word_stands_above_similarity_and_vetoes(verdict: str, veto: str, joined: int) -> None:
    words = text_of(10) if verdict == "different" else text_of(11)
    other = edited(words, 9, 2) if verdict == "different" else text_of(12)
    tables = MemoryTables()
    pages = [StoredPage("b", "https://b/v1/x", " ".join(words)), StoredPage("a", "https://a/v1/x", " ".join(other))]
    store(tables, pages if verdict == "different" else [pages[0], replace(pages[1], url_key="https://a/v2/x")])
    page, other_page = ((row["site"], row["url_key"]) for row in tables.read(names.T_PAGE_STATE).to_pylist())
    pair = dict(zip(("site", "url_key", "other_site", "other_key"), (*page, *other_page), strict=True))
    said = pa.Table.from_pylist([{**pair, "verdict": verdict}], schema=DUPLICATE_VERDICTS)
    tables.append(names.T_DUPLICATE_VERDICTS, said)

    results = [near_duplicates_of_sites(tables, ENGINE, [asked]) for asked in ("a", "b")]

    for result in results:
        assert [(row["veto"], row["verdict"]) for row in result.pairs.to_pylist()] == [(veto, verdict)]
    assert sum(result.duplicates.num_rows for result in results) == joined


def test_texts_without_spaces_are_compared_by_characters() -> None:
    dice = random.Random(13)
    text = "".join(chr(0x4E00 + dice.randrange(2_000)) for _ in range(600))
    other = "".join(chr(0x4E00 + dice.randrange(2_000)) for _ in range(600))
    pages = [
        StoredPage("a", "https://a/x", text, language="zh"),
        StoredPage("a", "https://a/y", f"{text[:200]}図書館{text[210:]}", language="zh"),
        StoredPage("a", "https://a/z", other, language="zh"),
    ]

    pairs = near(pages, NearSettings()).pairs.to_pylist()

    assert {(row["url_key"], row["other_key"]) for row in pairs} == {
        ("https://a/x", "https://a/y"),
        ("https://a/y", "https://a/x"),
    }
    assert 0.9 < pairs[0]["similarity"] < 1

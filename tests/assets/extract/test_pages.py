"""The pages of one site: what is extracted, what is reused, what the state says."""

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from assets import names
from assets.extract.checks import flags_kept, texts_found, texts_kept, texts_readable
from assets.schemas import PAGE_STATE, PAGES
from resources.ports.catalog import TextLimits
from tests.support.answers import NOON
from tests.support.crawled import LONG, SITE, Crawled, html


@pytest.fixture
def site() -> Crawled:
    return Crawled()


def test_a_page_gets_a_row_and_a_state(site: Crawled) -> None:
    site.fetch("/a", html(head="<link rel=canonical href='/b/?utm_source=x'>"))
    result = site.extract()
    (row,) = site.versions()
    assert (row["title"], row["crawl_id"], row["flags"]) == ("Tides", "crawl-0", [])
    state = site.state("/a")
    assert (state["status"], state["page_crawl_id"]) == ("live", "crawl-0")
    assert (state["text_digest"], state["simhash"]) == (row["text_digest"], row["simhash"])
    assert state["declared_canonical_key"] == f"http://{SITE}/b"
    assert (result.metadata["rows_in"], result.metadata["rows_out"], result.live_pages) == (1, 1, 1)


def test_a_second_run_does_nothing_and_says_the_same(site: Crawled) -> None:
    site.fetch("/a", html())
    first = site.extract()
    second = site.extract()
    assert site.workers.done == []
    assert len(site.versions()) == 1
    assert (first.digest, second.metadata["carried_over"]) == (second.digest, 1)


def test_a_page_that_did_not_change_is_not_extracted_again(site: Crawled) -> None:
    site.fetch("/a", html())
    site.extract()
    site.fetch("/a", html(), day=3)
    site.extract()
    assert site.workers.done == []
    assert site.state("/a")["page_crawl_id"] == "crawl-0"
    assert site.state("/a")["last_asked_at"] == NOON + timedelta(days=3)


def test_a_page_that_changed_gets_another_version(site: Crawled) -> None:
    site.fetch("/a", html())
    site.fetch("/b", html("Another page. " * 30))
    before = site.extract()
    site.fetch("/a", html(LONG.replace("dawn", "dusk")), day=3)
    after = site.extract()
    assert site.workers.done == [f"http://{SITE}/a"]
    assert len(site.versions()) == 3
    assert site.state("/a")["page_crawl_id"] == "crawl-3"
    assert before.digest != after.digest


def test_the_same_bytes_with_another_robots_header_are_read_anew(site: Crawled) -> None:
    site.fetch("/a", html())
    site.extract()
    site.fetch("/a", html(), day=3, robots_tag="noindex")
    site.extract()
    assert site.state("/a")["flags"] == ["noindex"]


def test_a_page_that_names_several_canonicals_names_none(site: Crawled) -> None:
    site.fetch("/a", html(head="<link rel=canonical href=/b>"), link_header="</c>; rel=canonical")
    site.fetch("/d", html(head="<link rel=canonical href=/b>"), link_header="</b>; rel=canonical")
    site.extract()
    keys = [site.state(path)["declared_canonical_key"] for path in ("/a", "/d")]
    assert keys == ["", f"http://{SITE}/b"]
    assert [row["canonical_verdict"] for row in site.versions()] == ["conflicting", "same_host"]


def test_equal_payloads_of_one_directory_are_extracted_once(site: Crawled) -> None:
    site.fetch("/d/a", html())
    site.fetch("/d/b", html())
    site.fetch("/other/a", html())
    result = site.extract()
    assert len(site.workers.done) == 2
    assert result.metadata["copied"] == 1
    site.fetch("/d/c", html(), day=2)
    site.extract()
    assert site.workers.done == []
    texts = {row["url_key"]: (row["url"], row["text_digest"]) for row in site.versions()}
    assert len(texts) == 4
    assert len({digest for _, digest in texts.values()}) == 1
    assert all(key == url for key, (url, _) in texts.items())


def test_a_copy_without_a_title_of_its_own_is_named_by_its_own_path(site: Crawled) -> None:
    site.fetch("/high-tide", f"<p>{LONG}</p>")
    site.fetch("/low-tide", f"<p>{LONG}</p>")
    site.extract()
    assert sorted(row["title"] for row in site.versions()) == ["high tide", "low tide"]


def test_a_run_that_died_before_its_state_is_carried_on(site: Crawled) -> None:
    site.fetch("/a", html())
    site.extract()
    state = site.state("/a")
    del site.tables.rows[names.T_PAGE_STATE]
    site.extract()
    assert site.workers.done == []
    assert len(site.versions()) == 1
    assert site.state("/a") == state


def test_full_refresh_extracts_everything_again(site: Crawled) -> None:
    site.fetch("/a", html())
    site.extract()
    site.extract(full_refresh=True)
    assert site.workers.done == [f"http://{SITE}/a"]


def test_a_page_that_costs_too_much_is_a_row_with_a_reason(site: Crawled) -> None:
    site.fetch("/slow", html())
    site.fetch("/a", html("Another page. " * 30))
    site.workers.killed = f"http://{SITE}/slow"
    result = site.extract()
    reasons = {row["url"]: row["reason"] for row in site.versions()}
    assert reasons == {f"http://{SITE}/slow": "timeout: over 30 s", f"http://{SITE}/a": ""}
    assert result.metadata["without_text_by_reason"] == {"timeout": 1}
    site.extract()
    assert site.workers.done == []


def test_what_turns_out_to_be_no_page_is_looked_at_once(site: Crawled) -> None:
    site.fetch("/data", "%PDF-1.7", content_type=None)
    site.fetch("/picture", "x", content_type="image/png")
    site.extract()
    assert site.workers.done == [f"http://{SITE}/data"]
    assert {site.state(path)["status"] for path in ("/data", "/picture")} == {"not_a_page"}
    assert site.versions() == []
    site.extract()
    assert site.workers.done == []


def test_a_gone_page_keeps_its_version(site: Crawled) -> None:
    site.fetch("/a", html())
    site.extract()
    site.fetch("/a", outcome="gone", day=1)
    site.extract()
    assert (site.state("/a")["status"], site.state("/a")["gone_visits"]) == ("live", 1)
    site.fetch("/a", outcome="gone", day=2)
    site.extract()
    assert (site.state("/a")["status"], site.state("/a")["gone_visits"]) == ("gone", 2)
    assert site.state("/a")["page_crawl_id"] == "crawl-0"


def test_what_was_never_there_has_a_state_without_a_version(site: Crawled) -> None:
    site.fetch("/missing", outcome="gone")
    site.fetch("/down", outcome="timeout")
    site.fetch("/moved", outcome="redirected")
    site.fetch("/denied", outcome="robots_denied")
    site.extract()
    states = {row["url_key"]: row["status"] for row in site.tables.read(names.T_PAGE_STATE).to_pylist()}
    assert states == {f"http://{SITE}/missing": "gone", f"http://{SITE}/down": "error"}


def test_a_site_that_was_never_fetched_has_no_pages(site: Crawled) -> None:
    assert site.extract().metadata["rows_out"] == 0


@pytest.mark.parametrize(("live", "empty", "passed"), [(0, 0, True), (10, 5, True), (10, 6, False), (1, 1, False)])
def test_the_check_fails_when_most_pages_have_no_text(live: int, empty: int, passed: bool) -> None:
    assert texts_found(live, empty, TextLimits()).passed is passed


def test_a_new_extractor_says_what_it_changed_and_asks_nobody(site: Crawled) -> None:
    for path in ("/a", "/b", "/c"):
        site.fetch(path, html(f"{LONG} {path}"))
    assert "changed_by_extractor" not in site.extract().metadata
    # As if an older extractor had done it, with another title of one page and hardly a text of another.
    old: dict[str, dict[str, Any]] = {
        "/a": {"title": "Old"},
        "/b": {"text": "x", "characters": 1, "text_digest": "old"},
        "/c": {},
    }
    for table, schema in ((names.T_PAGES, PAGES), (names.T_PAGE_STATE, PAGE_STATE)):
        rows = site.tables.read(table).to_pylist()
        for row in rows:
            edits = old[row["url_key"].removeprefix(f"http://{SITE}")] | {"extractor_version": "0"}
            row.update({name: value for name, value in edits.items() if name in schema.names})
        site.tables.replace(table, sites=[SITE], rows=pa.Table.from_pylist(rows, schema=schema))
    result = site.extract()
    changed = result.metadata["changed_by_extractor"]
    assert {name: value for name, value in changed.items() if name != "examples"} == {
        "from_versions": ["0"],
        "pages": 3,
        "other_text": 1,
        "other_length": 1,
        "other_title": 1,
        "emptied": 0,
    }
    assert [example["url"] for example in changed["examples"]] == [f"http://{SITE}/b", f"http://{SITE}/a"]
    assert changed["examples"][1]["title"] == ["Old", "Tides"]
    assert "changed_by_extractor" not in site.extract(full_refresh=True).metadata


def test_checks_see_unreadable_and_vanished_texts(site: Crawled) -> None:
    for path in ("/a", "/b"):
        site.fetch(path, html(f"{LONG} {path}"))
    first = site.extract()
    limits = TextLimits()
    assert texts_readable(first.new_characters, first.replacement_characters, limits).passed
    assert texts_kept(first.pages_before, first.characters_before, first.characters_of_those, limits).passed
    assert flags_kept(first.flags_before, first.flags, limits).passed
    for path in ("/a", "/b"):
        site.fetch(path, html("Sorry, \ufffd"), day=1)
    later = site.extract()
    assert later.pages_before == 2
    assert not texts_readable(later.new_characters, later.replacement_characters, limits).passed
    assert not texts_kept(later.pages_before, later.characters_before, later.characters_of_those, limits).passed
    flags = flags_kept(later.flags_before, later.flags, limits)
    assert flags.description == "too_short on 100.0% after 0.0%: look at flag_evidence of these pages."
    assert not flags.passed
    assert flags.metadata["largest_growth"] == 1.0
    patient = TextLimits(max_unreadable=1, max_text_lost=1, max_flag_growth=1)
    assert texts_readable(later.new_characters, later.replacement_characters, patient).passed
    assert texts_kept(later.pages_before, later.characters_before, later.characters_of_those, patient).passed
    assert flags_kept(later.flags_before, later.flags, patient).passed

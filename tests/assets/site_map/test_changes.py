"""What differs between two hand-made crawls, of one site and of two."""

from typing import Any

import pytest

from assets import names
from assets.markup.fingerprint import shingles, simhash, text_digest
from assets.schemas import CRAWLS, FETCHES, PAGES
from assets.site_map.changes import Change, changes, counts_by_kind
from assets.site_map.mapped_crawl import map_crawl
from assets.site_map.moves import TextPrint, same_texts
from assets.site_map.text_diff import LINES_MAX, text_diff
from resources.duckdb_engine import DuckDBEngine
from resources.errors import StageMissing
from tests.support.hand_made_crawl import HOST, SITE, START, Crawl
from tests.support.memory import MemoryTables

LONG = " ".join(f"fathom{number}" for number in range(200))


def shown(crawl: Crawl, path: str, text: str = "", *targets: str, title: str = "") -> None:
    """Note a live page with its text and links."""
    payload = f"sha1:{path}{text}"
    crawl.frontier(path)
    crawl.answer(path, status=200, payload_digest=payload)
    crawl.page(path, *targets, title=title)
    features = shingles(text)
    url = HOST + path
    crawl.add(
        names.T_PAGES,
        PAGES,
        url=url,
        url_key=url,
        payload_digest=payload,
        text=text,
        text_digest=text_digest(text),
        simhash=simhash(features),
        features=len(features),
    )


def compared(before: Crawl, after: Crawl) -> dict[str, list[dict[str, Any]]]:
    for crawl in (before, after):
        crawl.add(names.T_CRAWLS, CRAWLS, stage="crawl_report", at=START)
    engine = DuckDBEngine()
    one, other = (map_crawl(SITE, crawl.tables, engine, crawl.crawl_id) for crawl in (before, after))
    rows = changes(one, other, after.tables).to_pylist()
    return {kind: [row for row in rows if row["change"] == kind] for kind in Change}


@pytest.fixture
def crawls() -> tuple[Crawl, Crawl]:
    tables = MemoryTables()
    return Crawl("1", tables=tables), Crawl("2", tables=tables)


def test_each_kind_of_change_is_told_once(crawls: tuple[Crawl, Crawl]) -> None:
    before, after = crawls
    shown(before, "/", "home", "/gone", title="Home")
    shown(before, "/same", "same")
    shown(before, "/edited", "one\ntwo")
    shown(before, "/old/place", LONG)
    shown(before, "/guide/near", LONG.replace("fathom", "cable") + " and more")
    shown(before, "/gone", "gone soon")
    shown(before, "/removed", "removed")
    shown(after, "/", "home", "/gone", title="Start")
    shown(after, "/same", "same")
    shown(after, "/edited", "one\n2")
    shown(after, "/new/place", LONG)
    shown(after, "/docs/near", LONG.replace("fathom", "cable") + " and less")
    shown(after, "/added", "brand new")
    after.asked("/gone", outcome="gone", status=404)
    found = compared(before, after)
    short = {
        kind: [(row["before_url"] or row["on_url"], row["url"], row["before"], row["after"]) for row in rows]
        for kind, rows in found.items()
    }
    assert {kind: [tuple(text.replace(HOST, "") for text in row) for row in rows] for kind, rows in short.items()} == {
        "added": [("", "/added", "", "")],
        "removed": [("", "/gone", "200", "404"), ("", "/removed", "200", "")],
        "moved": [("/guide/near", "/docs/near", "/guide/", "/docs/"), ("/old/place", "/new/place", "/old/", "/new/")],
        "changed": [("", "/edited", "", "")],
        "status_changed": [("", "/gone", "200", "404")],
        "title_changed": [("", "/", "Home", "Start")],
        "newly_dead_link": [("/", "/gone", "200", "404")],
    }
    near, same = (row["similarity"] for row in found["moved"])
    assert same == 1.0
    assert 0.9 < near < 1.0
    assert found["changed"][0]["text_diff"] == " one\n-two\n+2"


def test_a_crawl_that_found_the_same_changed_nothing(crawls: tuple[Crawl, Crawl]) -> None:
    for crawl in crawls:
        shown(crawl, "/", "home", "/dead")
        crawl.asked("/dead", outcome="gone", status=404)
        is_second = crawl is crawls[1]
        crawl.asked("/kept", outcome="not_modified" if is_second else "fetched", status=304 if is_second else 200)
    for crawl in crawls:
        crawl.add(names.T_CRAWLS, CRAWLS, stage="crawl_report", at=START)
    engine = DuckDBEngine()
    one, other = (map_crawl(SITE, crawl.tables, engine, crawl.crawl_id) for crawl in crawls)
    rows = changes(one, other, crawls[0].tables)
    assert counts_by_kind(rows) == dict.fromkeys(Change, 0)


def test_of_several_copies_of_a_text_the_one_at_the_likest_address_moved() -> None:
    def at(*urls: str) -> list[TextPrint]:
        return [TextPrint(url, url, "digest", None, 0) for url in urls]

    moves = same_texts(at("/da/caching", "/en/caching", "/ja/caching"), at("/en/moved/caching", "/x"))
    assert [(move.before.url, move.after.url) for move in moves] == [
        ("/en/caching", "/en/moved/caching"),
        ("/ja/caching", "/x"),
    ]


def test_pages_of_two_sites_are_the_same_by_path() -> None:
    tables = MemoryTables()
    old, new = Crawl("1", tables=tables), Crawl("2", tables=tables)
    shown(old, "/a", "kept")
    shown(old, "/b", LONG)
    for path, text in (("/a", "kept"), ("/c", LONG)):
        url = f"https://new.example{path}"
        common = {"site": "new.example", "url": url, "url_key": url, "payload_digest": url}
        new.add(
            names.T_FETCHES,
            FETCHES,
            origin_key=url,
            purpose="page",
            is_final=True,
            outcome="fetched",
            status=200,
            **common,
        )
        new.add(names.T_PAGES, PAGES, text=text, text_digest=text_digest(text), **common)
    for crawl, site in ((old, SITE), (new, "new.example")):
        crawl.add(names.T_CRAWLS, CRAWLS, stage="crawl_report", at=START, site=site)
    engine = DuckDBEngine()
    rows = changes(map_crawl(SITE, tables, engine), map_crawl("new.example", tables, engine), tables).to_pylist()
    assert [(row["change"], row["site"], row["before_url"], row["url"]) for row in rows] == [
        ("moved", "new.example", f"{HOST}/b", "https://new.example/c")
    ]


def test_a_crawl_that_is_not_known_is_said(crawls: tuple[Crawl, Crawl]) -> None:
    crawls[0].add(names.T_CRAWLS, CRAWLS, stage="crawl_report", at=START)
    with pytest.raises(StageMissing, match="there is no finished crawl '9'; known are 1"):
        map_crawl(SITE, crawls[0].tables, DuckDBEngine(), "9")


def test_a_long_diff_says_how_much_is_left_out() -> None:
    lines = [str(number) for number in range(LINES_MAX)]
    told = text_diff("\n".join(lines), "\n".join(f"new {line}" for line in lines)).splitlines()
    assert (len(told), told[-1]) == (LINES_MAX + 1, f"... {LINES_MAX} more lines")

"""The site map of hand-made crawls: depth, parents, redirects, files."""

import csv
import io
import json
from datetime import timedelta

import pytest

from assets import names
from assets.schemas import CRAWLS, SEEDS
from assets.site_map.site_map import site_map_of_site
from resources.duckdb_engine import DuckDBEngine
from resources.errors import StageMissing
from tests.support.hand_made_crawl import HOST, SITE, START, Crawl
from tests.support.memory import MemoryObjects, MemoryTables


@pytest.fixture
def crawl() -> Crawl:
    made = Crawl()
    made.add(names.T_SEEDS, SEEDS, seed_url=f"{HOST}/", usable=True)
    made.asked("/", "depth_0", "seed")
    return made


def test_pages_have_depth_parent_section_and_link_counts(crawl: Crawl) -> None:
    for path in ("/docs/b", "/docs/c", "/docs/deep/d"):
        crawl.asked(path)
    crawl.page("/", "/docs/b", "/docs/b", "/docs/c", "/", title="Home", words=12)
    crawl.page("/docs/b", "/docs/c", "/docs/deep/d", "https://other.example/")
    crawl.page("/docs/c", "/docs/deep/d", "/")
    shown = {
        path: (row["depth"], row["parent_key"].removeprefix(HOST), row["section"], row["in_links"], row["out_links"])
        for path, row in crawl.nodes().items()
    }
    assert shown == {
        "/": (0, "", "/", 1, 2),
        "/docs/b": (1, "/", "/docs/", 1, 3),
        "/docs/c": (1, "/", "/docs/", 2, 2),
        "/docs/deep/d": (2, "/docs/b", "/docs/deep/", 2, 0),
    }
    assert next((row["title"], row["words"]) for row in crawl.nodes().values()) == ("Home", 12)


def test_a_page_that_no_link_reaches_has_the_depth_of_its_layer(crawl: Crawl) -> None:
    crawl.asked("/from-sitemap", "depth_1", "sitemap")
    crawl.asked("/below", "depth_2")
    crawl.page("/from-sitemap", "/below")
    nodes = crawl.nodes()
    assert [(nodes[path]["depth"], nodes[path]["parent_key"]) for path in ("/from-sitemap", "/below")] == [
        (1, ""),
        (2, f"{HOST}/from-sitemap"),
    ]


def test_a_redirect_joins_an_address_with_the_page_where_it_ends(crawl: Crawl) -> None:
    crawl.frontier("/old")
    crawl.redirect("/old", "/new")
    crawl.page("/", "/old")
    crawl.page("/new", "/")
    nodes = crawl.nodes()
    assert list(nodes) == ["/", "/new"]
    assert (nodes["/new"]["depth"], nodes["/new"]["parent_key"], nodes["/new"]["in_links"]) == (1, f"{HOST}/", 1)


def test_a_redirect_to_a_page_that_was_known_joins_too(crawl: Crawl) -> None:
    crawl.asked("/new")
    crawl.asked("/older")
    crawl.answer("/old", to="/new", outcome="redirected", status=301)
    crawl.answer("/oldest", to="/old", outcome="redirected", status=301)
    crawl.page("/", "/oldest")
    nodes = crawl.nodes()
    assert list(nodes) == ["/", "/new", "/older"]
    assert nodes["/new"]["in_links"] == 1


def test_a_redirect_that_leaves_the_site_ends_at_its_own_address(crawl: Crawl) -> None:
    crawl.frontier("/away")
    crawl.redirect("/away", "https://other.example/", outcome="out_of_scope", status=None)
    nodes = crawl.nodes()
    assert [(row["url"], row["outcome"]) for row in nodes.values()] == [
        (f"{HOST}/", "fetched"),
        (f"{HOST}/away", "out_of_scope"),
    ]


def test_a_seed_that_redirects_starts_at_depth_zero() -> None:
    crawl = Crawl()
    crawl.frontier("/", "depth_0", "seed")
    crawl.redirect("/", "/en/", layer="seeds")
    assert {path: row["depth"] for path, row in crawl.nodes().items()} == {"/en/": 0}


def test_the_last_answer_of_a_crawl_counts(crawl: Crawl) -> None:
    crawl.asked("/late", outcome="deferred", status=429)
    crawl.answer("/late", status=200)
    assert [(row["outcome"], row["status"]) for row in crawl.nodes().values()][1] == ("fetched", 200)


def test_the_latest_finished_crawl_is_mapped() -> None:
    tables = MemoryTables()
    for crawl_id, stage, path in (("1", "crawl_report", "/one"), ("2", "crawl_report", "/two"), ("3", "started", "/3")):
        older = Crawl(crawl_id, stage, tables)
        older.asked(path, "depth_0", "seed")
        older.add(names.T_CRAWLS, CRAWLS, stage=stage, at=START)
    result = site_map_of_site(SITE, tables, MemoryObjects(), DuckDBEngine())
    assert result.crawl_id == "2"
    assert [row["url"] for row in tables.read(names.T_SITE_MAP).to_pylist()] == [f"{HOST}/two"]


def test_an_unfinished_crawl_is_mapped_when_there_is_no_other() -> None:
    crawl = Crawl(stage="depth_0/frontier")
    crawl.asked("/", "depth_0", "seed")
    assert crawl.mapped().metadata["pages"] == 1


def test_a_site_that_was_never_crawled_cannot_be_mapped() -> None:
    with pytest.raises(StageMissing, match=r"a\.example: there is no crawl to map; materialize crawl_report first"):
        site_map_of_site(SITE, MemoryTables(), MemoryObjects(), DuckDBEngine())


def test_a_crawl_that_fetched_nothing_makes_an_empty_map() -> None:
    crawl = Crawl()
    crawl.add(names.T_SEEDS, SEEDS, seed_url=f"{HOST}/", usable=False)
    result = crawl.mapped()
    assert (result.metadata["pages"], result.metadata["findings"], result.metadata["seeds_usable"]) == (0, 0, 0)
    assert json.loads(crawl.file("tree.json"))["children"] == []


def test_the_files_hold_what_the_tables_hold(crawl: Crawl) -> None:
    crawl.asked("/gone", outcome="gone", status=404)
    crawl.page("/", "/gone|=cmd()", title="@home")
    result = crawl.mapped()
    pages = list(csv.DictReader(io.StringIO(crawl.file("pages.csv"))))
    assert [(row["url"], row["title"], row["status"]) for row in pages] == [
        (f"{HOST}/", "'@home", "200"),
        (f"{HOST}/gone", "", "404"),
    ]
    assert crawl.file("links.csv") == (f"from,to,anchor,rel,kind,position\r\n{HOST}/,{HOST}/gone,'=cmd(),,a,0\r\n")
    assert crawl.file("findings.csv").splitlines()[1].endswith(f"dead_link,{HOST}/gone,{HOST}/,'=cmd()")
    root = json.loads(crawl.file("tree.json"))["children"][0]
    assert (root["title"], [child["name"] for child in root["children"]]) == ("@home", ["gone"])
    assert result.metadata["export_bytes"] == sum(map(len, crawl.objects.data.values()))
    assert "| gone | 1 |" in str(result.metadata["summary"])
    assert "| dead_link | 1 |" in str(result.metadata["summary"])


def test_the_digest_changes_with_the_site_and_not_with_the_crawl() -> None:
    def digest(crawl_id: str, status: int, fetch_ms: int) -> str:
        crawl = Crawl(crawl_id)
        crawl.frontier("/", "depth_0", "seed")
        crawl.answer("/", status=status, fetch_ms=fetch_ms)
        return crawl.mapped().digest

    assert digest("1", 200, 5) == digest("2", 200, 9)
    assert digest("1", 200, 5) != digest("1", 203, 5)


def test_a_second_run_gives_the_same_rows(crawl: Crawl) -> None:
    crawl.asked("/b")
    crawl.page("/", "/b")
    first = crawl.mapped()
    rows = crawl.tables.read(names.T_SITE_MAP)
    assert crawl.mapped() == first
    assert crawl.tables.read(names.T_SITE_MAP).equals(rows)


def test_rows_of_a_page_that_was_parsed_twice_count_once(crawl: Crawl) -> None:
    crawl.asked("/b")
    crawl.page("/", "/gone", title="old")
    crawl.page("/", "/b", title="new", requested_at=START + timedelta(seconds=1))
    nodes = crawl.nodes()
    assert (nodes["/"]["title"], nodes["/"]["out_links"]) == ("new", 1)

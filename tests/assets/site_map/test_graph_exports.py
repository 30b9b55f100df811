"""Maps for other programs: each format read back by the reader that people use."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from assets import names
from assets.schemas import CRAWLS, PAGES, SEEDS, SITE_MAP
from assets.site_map.graph_exports import graphml, map_json, write_sqlite
from assets.site_map.mapped_crawl import MappedCrawl, map_crawl
from assets.site_map.sitemap_export import redirect_map, sitemap_files
from resources.duckdb_engine import DuckDBEngine
from tests.support.hand_made_crawl import HOST, SITE, START, Crawl, blank
from tests.support.memory import MemoryTables

HOSTILE = '</title>]]><script>alert("1")</script>&\x00\x0b'


@pytest.fixture(scope="module")
def mapped() -> MappedCrawl:
    crawl = Crawl()
    crawl.add(names.T_SEEDS, SEEDS, seed_url=f"{HOST}/", usable=True)
    crawl.asked("/", "depth_0", "seed")
    crawl.asked("/a?b=1&c=2")
    crawl.asked("/gone", outcome="gone", status=404)
    crawl.page("/", "/a?b=1&c=2|<b>", "/a?b=1&c=2", "/gone", title=HOSTILE, resources=["/logo.png"])
    crawl.add(names.T_CRAWLS, CRAWLS, stage="crawl_report", at=START)
    return map_crawl(SITE, crawl.tables, DuckDBEngine())


def test_json_holds_all_tables(mapped: MappedCrawl) -> None:
    read = json.loads("".join(map_json(mapped)))
    assert (read["site"], [page["url"] for page in read["pages"]]) == (
        SITE,
        [f"{HOST}{p}" for p in ("/", "/a?b=1&c=2", "/gone")],
    )
    assert (read["pages"][0]["title"], len(read["links"]), len(read["resources"])) == (HOSTILE, 3, 1)


def test_graphml_is_xml_whatever_titles_say(mapped: MappedCrawl) -> None:
    graph = ElementTree.fromstring("".join(graphml(mapped)))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    titles = [data.text for data in graph.iter(f"{space}data") if data.get("key") == "title"]
    assert titles[0] == HOSTILE.replace("\x00", "\ufffd").replace("\x0b", "\ufffd")
    edges = [(edge.get("source"), edge.get("target"), edge[0].text) for edge in graph.iter(f"{space}edge")]
    assert edges == [("n0", "n1", "2"), ("n0", "n2", "1")]


def test_sqlite_has_the_four_tables(mapped: MappedCrawl, tmp_path: Path) -> None:
    path = tmp_path / "map.sqlite"
    for _ in range(2):
        write_sqlite(mapped, path)
    with closing(sqlite3.connect(path)) as database:
        counts = {
            name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        }
        dead = database.execute(
            "SELECT p.url, u.status FROM relations r JOIN urls u ON u.url_key = r.to_key "
            "JOIN urls p ON p.url_key = r.from_key WHERE u.status = 404"
        ).fetchall()
    assert counts == {"urls": 3, "resources": 1, "relations": 3, "runtime_log": 3}
    assert dead == [(f"{HOST}/", 404)]


def test_a_sitemap_names_what_searching_may_find() -> None:
    pages: list[dict[str, Any]] = [
        {"url": f"{HOST}/a?x=1&y=2", "changed_at": START},
        {"url": f"{HOST}/b", "flags": ["noindex"]},
        {"url": f"{HOST}/c", "canonical_key": f"{HOST}/a"},
        {"url": f"{HOST}/d", "outcome": "gone"},
        {"url": f"{HOST}/e"},
    ]
    rows = [blank(SITE_MAP, {"outcome": "fetched", "url_key": page["url"], **page}) for page in pages]
    nodes = pa.Table.from_pylist(rows, schema=SITE_MAP)
    (single,) = sitemap_files(nodes, f"{HOST}/").values()
    places = ElementTree.fromstring(single)
    assert [[part.text for part in url] for url in places] == [[f"{HOST}/a?x=1&y=2", "2024-05-01"], [f"{HOST}/e"]]
    files = sitemap_files(nodes, f"{HOST}/", urls_max=1)
    assert list(files) == ["sitemap.xml", "sitemap-1.xml", "sitemap-2.xml"]
    index = ElementTree.fromstring(files["sitemap.xml"])
    assert [part.text for entry in index for part in entry] == [f"{HOST}/sitemap-1.xml", f"{HOST}/sitemap-2.xml"]


def test_a_redirect_map_leads_old_pages_to_new_ones() -> None:
    tables = MemoryTables()
    for crawl_id, pages in (
        ("1", {"/same": "x", "/moved": "y", "/moved/copy": "y", "/lost": "z"}),
        ("2", {"/same": "w", "/new": "y"}),
    ):
        crawl = Crawl(crawl_id, tables=tables)
        for path, digest in pages.items():
            crawl.frontier(path)
            crawl.answer(path, status=200, payload_digest=digest)
            crawl.page(path, title=path.title())
            url = HOST + path
            crawl.add(names.T_PAGES, PAGES, url=url, url_key=url, payload_digest=digest, text_digest=digest)
        crawl.add(names.T_CRAWLS, CRAWLS, stage="crawl_report", at=START)
    engine = DuckDBEngine()
    old, new = (map_crawl(SITE, tables, engine, crawl_id) for crawl_id in ("1", "2"))
    rows = redirect_map(old, new, tables).to_pylist()
    assert [tuple(str(cell).replace(HOST, "") for cell in row.values()) for row in rows] == [
        ("/lost", "", "None", "", "/Lost"),
        ("/moved", "/new", "1.0", "same text", "/Moved"),
        ("/moved/copy", "/new", "1.0", "same text", "/Moved/Copy"),
        ("/same", "/same", "None", "same path", "/Same"),
    ]

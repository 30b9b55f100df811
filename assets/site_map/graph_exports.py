"""Graph exports: a mapped crawl for other programs. JSON, GraphML for graph tools, SQLite for those who ask in SQL."""

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

import pyarrow as pa

from assets.site_map.mapped_crawl import MappedCrawl

# XML 1.0 has no way to write these.
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS: Final = {
    **dict.fromkeys(("url", "title", "section", "outcome"), "string"),
    **dict.fromkeys(("depth", "status", "in_links", "out_links", "words", "body_bytes"), "long"),
    **dict.fromkeys(("page_rank", "hub", "authority"), "double"),
}
_SQL_TABLES: Final = """
CREATE TABLE urls (
    url_key TEXT PRIMARY KEY, url TEXT NOT NULL, title TEXT, depth INTEGER, parent_key TEXT, section TEXT, outcome TEXT,
    status INTEGER, body_bytes INTEGER, fetch_ms INTEGER, in_links INTEGER, out_links INTEGER, words INTEGER,
    forms INTEGER, iframes INTEGER, scripts INTEGER, videos INTEGER, images INTEGER, flags TEXT, canonical_key TEXT,
    changed_at TEXT, page_rank REAL, hub REAL, authority REAL
);
CREATE TABLE resources (url TEXT PRIMARY KEY, kind TEXT, pages INTEGER, uses INTEGER, status INTEGER, outcome TEXT);
CREATE TABLE relations (
    from_key TEXT NOT NULL, to_key TEXT NOT NULL, to_url TEXT, kind TEXT, anchor TEXT, rel TEXT, position INTEGER
);
CREATE TABLE runtime_log (
    requested_at TEXT, url TEXT, outcome TEXT, status INTEGER, fetch_ms INTEGER, body_bytes INTEGER, redirect_url TEXT
);
"""
_SQL_INDEXES: Final = """
CREATE INDEX relations_from ON relations (from_key);
CREATE INDEX relations_to ON relations (to_key);
"""


def map_json(crawl: MappedCrawl) -> Iterator[str]:
    """Give a mapped crawl as one JSON object, in parts: site, crawl, pages, links, resources, redirects, sections."""
    yield json.dumps({"site": crawl.site, "crawl_id": crawl.crawl_id}, ensure_ascii=False)[:-1]
    tables = {
        "pages": crawl.nodes.drop_columns(["site", "crawl_id"]),
        "links": crawl.hyperlinks,
        "resources": crawl.resources.drop_columns(["site", "crawl_id"]),
        "redirects": crawl.redirects.drop_columns(["site", "crawl_id"]),
        "sections": crawl.sections.drop_columns(["site", "crawl_id"]),
    }
    for name, table in tables.items():
        yield f', "{name}": ['
        for number, row in enumerate(_rows(table)):
            yield (",\n" if number else "\n") + json.dumps(row, ensure_ascii=False, default=str)
        yield "]"
    yield "}\n"


def graphml(crawl: MappedCrawl) -> Iterator[str]:
    """Give pages and the links between them as GraphML, in parts; each pair of pages once, with the number of links."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, kind in _NODE_KEYS.items():
        yield f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<key id="links" for="edge" attr.name="links" attr.type="long"/>\n<graph edgedefault="directed">\n'
    numbers: dict[str, int] = {}
    for number, row in enumerate(_rows(crawl.nodes)):
        numbers[row["url_key"]] = number
        data = "".join(
            f'<data key="{name}">{_xml(str(row[name]))}</data>' for name in _NODE_KEYS if row[name] is not None
        )
        yield f'<node id="n{number}">{data}</node>\n'
    pairs: dict[tuple[int, int], int] = {}
    columns = (crawl.hyperlinks[name].to_pylist() for name in ("from_key", "to_page"))
    for from_key, to_page in zip(*columns, strict=True):
        if from_key in numbers and to_page in numbers:
            pair = numbers[from_key], numbers[to_page]
            pairs[pair] = pairs.get(pair, 0) + 1
    for (start, end), links in pairs.items():
        yield f'<edge source="n{start}" target="n{end}"><data key="links">{links}</data></edge>\n'
    yield "</graph>\n</graphml>\n"


def write_sqlite(crawl: MappedCrawl, path: Path) -> None:
    """Write a database of the tables ``urls``, ``resources``, ``relations`` and ``runtime_log``, a new file."""
    path.unlink(missing_ok=True)
    log = crawl.facts.fetches.sort_by("requested_at").to_pylist()
    tables: dict[str, Iterable[dict[str, Any]]] = {
        "urls": crawl.nodes.to_pylist(),
        "resources": crawl.resources.to_pylist(),
        "relations": ({**row, "to_key": row["to_page"]} for row in _rows(crawl.hyperlinks)),
        "runtime_log": log,
    }
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_SQL_TABLES)
        for name, rows in tables.items():
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
            marks = ", ".join("?" * len(columns))
            database.executemany(
                f"INSERT INTO {name} VALUES ({marks})", ([_cell(row[column]) for column in columns] for row in rows)
            )
        database.executescript(_SQL_INDEXES)


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _cell(value: object) -> object:
    if isinstance(value, list):
        return " ".join(map(str, value))
    # A text that is no Unicode, as a lone surrogate, cannot be stored.
    return value if value is None or isinstance(value, int | float | str) else str(value)


def _xml(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text))

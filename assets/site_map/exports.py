"""Exports: the site map as files that people open. CSV for spreadsheets, JSON trees for mind maps."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from assets.site_map.mapped_crawl import MappedCrawl

# A spreadsheet would run a cell that starts like this. The texts come from strangers.
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_bytes(table: pa.Table) -> bytes:
    """Write a table of texts and numbers as CSV (RFC 4180) in UTF-8, with a header; no text starts a formula."""
    out = io.StringIO()
    writer = csv.writer(out)  # with lines that end in a bare \n, Python would not quote a \r
    writer.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=65_536):
        columns = [_cells(column) for column in batch.columns]
        writer.writerows(zip(*columns, strict=True))
    return out.getvalue().encode()


def csv_files(crawl: MappedCrawl) -> dict[str, bytes]:
    """Give the tables of a mapped crawl as CSV files, by name."""
    return {
        "pages.csv": csv_bytes(crawl.nodes),
        "links.csv": links_csv(crawl.hyperlinks),
        "resources.csv": csv_bytes(crawl.resources),
        "redirects.csv": csv_bytes(crawl.redirects),
        "sections.csv": csv_bytes(crawl.sections),
    }


def links_csv(hyperlinks: pa.Table) -> bytes:
    """Write the hyperlinks as CSV: from, to, anchor, rel, kind, and the place in document order."""
    columns = {"from": "from_url", "to": "to_url", "anchor": "anchor", "rel": "rel", "kind": "kind"}
    columns["position"] = "position"
    return csv_bytes(pa.table({title: hyperlinks[name] for title, name in columns.items()}))


def tree_json(site: str, nodes: pa.Table) -> bytes:
    """Write the pages as a tree by parent: ``name, url, title, children``; the root is the site."""
    children: dict[str, list[Mapping[str, Any]]] = {}
    for row in nodes.select(["url", "url_key", "title", "parent_key"]).to_pylist():
        children.setdefault(row["parent_key"], []).append(row)
    text: list[str] = [_opening(site, "", site)]
    # Parents can be nested deeper than Python can recurse: a stack of the siblings that are left, a level each.
    stack = [iter(children.get("", []))]
    is_first = True
    while stack:
        row = next(stack[-1], None)
        if row is None:
            stack.pop()
            text.append("]}")
            is_first = False
            continue
        text.append(("" if is_first else ",") + _opening(_name(row["url"]), row["url"], row["title"]))
        stack.append(iter(children.get(row["url_key"], [])))
        is_first = True
    return "".join(text).encode()


def _cells(column: pa.Array) -> Iterable[Any]:
    cells: Sequence[Any] = column.to_pylist()
    if pa.types.is_list(column.type):
        cells = [None if cell is None else " ".join(map(str, cell)) for cell in cells]
    elif not pa.types.is_string(column.type):
        return cells
    return [f"'{cell}" if cell is not None and cell.startswith(_FORMULA_STARTS) else cell for cell in cells]


def _opening(name: str, url: str, title: str) -> str:
    entry = json.dumps({"name": name, "url": url, "title": title}, ensure_ascii=False)
    return entry[:-1] + ', "children": ['


def _name(url: str) -> str:
    """Give the last segment of a URL's path with its query; the host for a root.

    >>> _name("https://a.example/docs/?p=1"), _name("https://a.example/")
    ('docs/?p=1', 'a.example')
    """
    rest = url.partition("://")[2]
    host, _, path = rest.partition("/")
    path, mark, query = path.partition("?")
    last = path.rstrip("/").rpartition("/")[2]
    slash = "/" if last and path.endswith("/") else ""
    return f"{last or host}{slash}{mark}{query}"

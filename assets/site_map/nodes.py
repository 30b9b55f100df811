"""Nodes: one row of the site map for each page that the crawl asked for."""

from collections.abc import Mapping
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from assets.schemas import SITE_MAP
from assets.site_map.crawl_facts import CrawlFacts
from assets.site_map.edges import link_counts, page_pairs
from assets.site_map.paths import Paths, shortest_paths
from assets.site_map.redirects import Endings
from resources.ports import QueryEngine


def site_nodes(facts: CrawlFacts, ends: Endings, hyperlinks: pa.Table, engine: QueryEngine) -> pa.Table:
    """Make the rows of ``site_map``, in the order of their keys."""
    keys = list(ends.pages)
    paths = _paths(keys, facts, ends, hyperlinks, engine)
    counts = {row["url_key"]: row for row in engine.run(link_counts(ibis.memtable(hyperlinks))).to_pylist()}
    read = {row["url_key"]: row for row in facts.links.select(["url_key", "title", "words"]).to_pylist()}
    rows = [
        _node(facts, page, read.get(key, {}), counts.get(key, {}))
        | {
            "depth": int(paths.depth[number]),
            "parent_key": keys[paths.parent[number]] if paths.parent[number] >= 0 else "",
        }
        for number, (key, page) in enumerate(ends.pages.items())
    ]
    return pa.Table.from_pylist(rows, schema=SITE_MAP)


def section_of(url: str) -> str:
    """Give the path prefix of a URL without its last segment.

    >>> section_of("https://a.example/docs/intro.html?x=/y"), section_of("https://a.example")
    ('/docs/', '/')
    """
    rest = url.partition("://")[2]
    path = rest[rest.find("/") :] if "/" in rest else "/"
    path = path.partition("?")[0].partition("#")[0]
    return path[: path.rfind("/") + 1] or "/"


def _node(
    facts: CrawlFacts, page: Mapping[str, Any], read: Mapping[str, Any], counts: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "site": facts.site,
        "crawl_id": facts.crawl_id,
        "url": page["url"],
        "url_key": page["url_key"],
        "title": read.get("title", ""),
        "section": section_of(page["url"]),
        "outcome": page["outcome"],
        "status": page["status"],
        "body_bytes": page["body_bytes"],
        "fetch_ms": page["fetch_ms"],
        "in_links": counts.get("in_links", 0),
        "out_links": counts.get("out_links", 0),
        "words": read.get("words", 0),
    }


def _paths(keys: list[str], facts: CrawlFacts, ends: Endings, hyperlinks: pa.Table, engine: QueryEngine) -> Paths:
    numbers = ibis.memtable(
        pa.table({"key": pa.array(keys, pa.string()), "number": pa.array(range(len(keys)), pa.int64())})
    )
    pairs = page_pairs(ibis.memtable(hyperlinks))
    starts, targets = numbers, numbers.view()
    joined = pairs.join(starts, pairs.from_key == starts.key).select("to_page", from_number="number")
    numbered = joined.join(targets, joined.to_page == targets.key).select("from_number", to_number="number")
    edges = engine.run(numbered)
    return shortest_paths(
        len(keys),
        edges["from_number"].to_numpy().astype(np.int64),
        edges["to_number"].to_numpy().astype(np.int64),
        _entries(keys, facts, ends),
    )


def _entries(keys: list[str], facts: CrawlFacts, ends: Endings) -> dict[int, int]:
    """Give the depth at which the crawl came upon each page: seeds at 0, those of a sitemap at 1, and so on."""
    depths: dict[str, int] = {}
    for row in facts.frontier.to_pylist():
        key = ends.page_of(row["url_key"])
        depth = 0 if row["found_by"] == "seed" else max(1, _depth_of(row["layer"]))
        depths[key] = min(depth, depths.get(key, depth))
    return {number: depths.get(key, _depth_of(ends.pages[key]["layer"])) for number, key in enumerate(keys)}


def _depth_of(layer: str) -> int:
    digits = layer.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else 0

"""Nodes: one row of the site map for each page that the crawl asked for."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import ibis
import numpy as np
import pyarrow as pa

from assets.schemas import SITE_MAP
from assets.site_map.crawl_facts import CrawlFacts
from assets.site_map.edges import link_counts, page_pairs
from assets.site_map.paths import Numbers, shortest_paths
from assets.site_map.ranks import hubs_and_authorities, page_ranks
from assets.site_map.redirects import Endings
from assets.url.key import url_key as key_of
from resources.ports import QueryEngine

_READ: Final = (
    *("title", "declared_canonical", "robots_meta"),
    *("words", "forms", "iframes", "scripts", "videos", "images"),
)
_NOTHING_READ: Final[Mapping[str, Any]] = {
    name: "" if name in ("title", "declared_canonical", "robots_meta") else 0 for name in _READ
}


def site_nodes(facts: CrawlFacts, ends: Endings, hyperlinks: pa.Table, engine: QueryEngine) -> pa.Table:
    """Make the rows of ``site_map``, in the order of their keys."""
    keys = list(ends.pages)
    from_pages, to_pages = _numbered_edges(keys, hyperlinks, engine)
    paths = shortest_paths(len(keys), from_pages, to_pages, _entries(keys, facts, ends))
    ranks = page_ranks(len(keys), from_pages, to_pages)
    hubs, authorities = hubs_and_authorities(len(keys), from_pages, to_pages)
    counts = {row["url_key"]: row for row in engine.run(link_counts(ibis.memtable(hyperlinks))).to_pylist()}
    read = {row["url_key"]: row for row in facts.links.select(["url_key", *_READ]).to_pylist()}
    texts = {row["url_key"]: row for row in facts.texts.to_pylist()}
    rows = [
        _node(facts, page, read.get(key, _NOTHING_READ), counts.get(key, {}), texts.get(key))
        | {
            "depth": int(paths.depth[number]),
            "parent_key": keys[paths.parent[number]] if paths.parent[number] >= 0 else "",
            "page_rank": float(ranks[number]),
            "hub": float(hubs[number]),
            "authority": float(authorities[number]),
        }
        for number, (key, page) in enumerate(ends.pages.items())
    ]
    return pa.Table.from_pylist(rows, schema=SITE_MAP)


def path_of(url_key: str) -> str:
    """Give path and query of an address.

    >>> path_of("https://a.example/b?c=d"), path_of("https://a.example/")
    ('b?c=d', '')
    """
    return url_key.partition("://")[2].partition("/")[2]


def section_of(url: str) -> str:
    """Give the path prefix of a URL without its last segment.

    >>> section_of("https://a.example/docs/intro.html?x=/y"), section_of("https://a.example")
    ('/docs/', '/')
    """
    rest = url.partition("://")[2]
    path = rest[rest.find("/") :] if "/" in rest else "/"
    path = path.partition("?")[0].partition("#")[0]
    return path[: path.rfind("/") + 1] or "/"


def changed_at(modified_on: str, last_modified: str) -> datetime | None:
    """Say when a page changed: as it says itself, else as its server says; None when neither is a date.

    >>> changed_at("2024-05-01", "").isoformat(), changed_at("", "Wed, 21 Oct 2015 07:28:00 GMT").year
    ('2024-05-01T00:00:00+00:00', 2015)
    >>> changed_at("soon", "never")
    """
    for text, read in ((modified_on, datetime.fromisoformat), (last_modified, parsedate_to_datetime)):
        try:
            found = read(text)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        # Whatever a page calls a date: text, a year 0, an hour that no time zone has.
        except (ValueError, OverflowError):
            continue
    return None


def _node(
    facts: CrawlFacts,
    page: Mapping[str, Any],
    read: Mapping[str, Any],
    counts: Mapping[str, Any],
    text: Mapping[str, Any] | None,
) -> dict[str, Any]:
    canonical = read["declared_canonical"]
    return {
        "site": facts.site,
        "crawl_id": facts.crawl_id,
        "url": page["url"],
        "url_key": page["url_key"],
        "section": section_of(page["url"]),
        "outcome": page["outcome"],
        "status": page["status"],
        "body_bytes": page["body_bytes"],
        "fetch_ms": page["fetch_ms"],
        "in_links": counts.get("in_links", 0),
        "out_links": counts.get("out_links", 0),
        **{name: read[name] for name in ("title", "words", "forms", "iframes", "scripts", "videos", "images")},
        "flags": _flags(text["flags"] if text else (), read["robots_meta"]),
        "canonical_key": key_of(canonical) if canonical else "",
        "payload_digest": page["payload_digest"] or "",
        "text_digest": text["text_digest"] if text else "",
        "changed_at": changed_at(text["modified_on"] if text else "", page["last_modified"] or ""),
    }


def _flags(of_text: Sequence[str], robots_meta: str) -> list[str]:
    """Add to the flags of a text what its robots meta says, which is known before the text is extracted."""
    is_closed = not {"noindex", "none"}.isdisjoint(robots_meta.split(","))
    return [*of_text, *(["noindex"] if is_closed and "noindex" not in of_text else [])]


def _numbered_edges(keys: list[str], hyperlinks: pa.Table, engine: QueryEngine) -> tuple[Numbers, Numbers]:
    """Give the pairs of pages that a link joins, by their places among the keys, in order."""
    numbers = ibis.memtable(
        pa.table({"key": pa.array(keys, pa.string()), "number": pa.array(range(len(keys)), pa.int64())})
    )
    pairs = page_pairs(ibis.memtable(hyperlinks))
    starts, targets = numbers, numbers.view()
    joined = pairs.join(starts, pairs.from_key == starts.key).select("to_page", from_number="number")
    numbered = joined.join(targets, joined.to_page == targets.key).select("from_number", to_number="number")
    # Sums of floats depend on their order, and a second run must give the same rows.
    edges = engine.run(numbered.order_by(["from_number", "to_number"]))
    return edges["from_number"].to_numpy().astype(np.int64), edges["to_number"].to_numpy().astype(np.int64)


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

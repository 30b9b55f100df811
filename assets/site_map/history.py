"""History: a crawl in a row of numbers, so that a site can be followed through time."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.schemas import MAP_HISTORY
from assets.site_map.findings import Finding
from assets.site_map.mapped_crawl import MappedCrawl
from assets.site_map.outcomes import LIVE, is_dead
from resources.ports import TableStore


def history_row(crawl: MappedCrawl, findings: pa.Table) -> dict[str, Any]:
    """Sum a crawl up as a row of ``map_history``."""
    nodes = crawl.nodes
    live = nodes.filter(pc.field("outcome").isin(sorted(LIVE)))
    ends = zip(nodes["outcome"].to_pylist(), nodes["status"].to_pylist(), strict=True)
    kinds = findings["finding"].to_pylist()
    median = pc.quantile(live["fetch_ms"], 0.5)[0].as_py() if live.num_rows else 0.0
    return {
        "site": crawl.site,
        "crawl_id": crawl.crawl_id,
        "crawled_at": crawl.crawled_at,
        "pages": nodes.num_rows,
        "live_pages": live.num_rows,
        "dead_pages": sum(is_dead(outcome, status) for outcome, status in ends),
        "links": crawl.hyperlinks.num_rows,
        "dead_links": kinds.count(Finding.DEAD_LINK),
        "orphans": kinds.count(Finding.ORPHAN),
        "findings": len(kinds),
        "words": pc.sum(live["words"]).as_py() or 0,
        "body_bytes": pc.sum(live["body_bytes"]).as_py() or 0,
        "median_fetch_ms": median,
        "max_depth": pc.max(nodes["depth"]).as_py() or 0,
    }


def remember(row: Mapping[str, Any], tables: TableStore) -> None:
    """Put a crawl's row in its place among those of its site."""
    others = [old for old in read_history(row["site"], tables) if old["crawl_id"] != row["crawl_id"]]
    rows = sorted([*others, dict(row)], key=lambda crawl: str(crawl["crawl_id"]))
    tables.replace(names.T_MAP_HISTORY, sites=[row["site"]], rows=pa.Table.from_pylist(rows, schema=MAP_HISTORY))


def read_history(site: str, tables: TableStore) -> list[dict[str, Any]]:
    """Give the rows of a site's crawls, oldest first."""
    rows: list[dict[str, Any]] = tables.read(names.T_MAP_HISTORY, sites=[site]).to_pylist()
    return sorted(rows, key=lambda row: str(row["crawl_id"]))

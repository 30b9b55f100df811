"""Sections: what lies under each path prefix of a site, with all that lies below it."""

from datetime import datetime

import ibis
import pyarrow as pa

from assets.schemas import MAP_SECTIONS
from assets.site_map.outcomes import LIVE, is_dead
from resources.ports import QueryEngine


def prefixes(section: str) -> list[str]:
    """Give a section and all around it, the outermost first.

    >>> prefixes("/docs/deep/")
    ['/', '/docs/', '/docs/deep/']
    """
    ends = [place + 1 for place, character in enumerate(section) if character == "/"]
    return [section[:end] for end in ends]


def parent_of(section: str) -> str:
    """Give the section around a section; the root has none.

    >>> parent_of("/docs/deep/"), parent_of("/")
    ('/docs/', '')
    """
    return section[: section.rstrip("/").rfind("/") + 1] if section != "/" else ""


def site_sections(nodes: pa.Table, crawled_at: datetime, engine: QueryEngine) -> pa.Table:
    """Make the rows of ``map_sections``, in the order of their paths; ages are counted from ``crawled_at``."""
    if not nodes.num_rows:
        return MAP_SECTIONS.empty_table()
    rows = [
        {
            "section": prefix,
            "own": int(prefix == row["section"]),
            "depth": row["depth"],
            "dead": int(is_dead(row["outcome"], row["status"])),
            "age": max((crawled_at - changed).total_seconds() / 86_400, 0.0) if changed else None,
            "changed_at": changed,
        }
        for row in nodes.select(["section", "depth", "outcome", "status", "changed_at"]).to_pylist()
        for changed in (row["changed_at"] if row["outcome"] in LIVE else None,)
        for prefix in prefixes(row["section"])
    ]
    kinds = [("section", pa.string()), ("own", pa.int64()), ("depth", pa.int32()), ("dead", pa.int64())]
    schema = pa.schema([*kinds, ("age", pa.float64()), ("changed_at", nodes.schema.field("changed_at").type)])
    pages = ibis.memtable(pa.Table.from_pylist(rows, schema=schema))
    found = engine.run(
        pages.group_by("section")
        .agg(
            pages=pages.count(),
            own_pages=pages.own.sum(),
            min_depth=pages.depth.min(),
            max_depth=pages.depth.max(),
            median_age_days=pages.age.median(),
            newest_change_at=pages.changed_at.max(),
            dead_share=pages.dead.mean(),
        )
        .order_by("section")
    )
    site, crawl_id = nodes["site"][0].as_py(), nodes["crawl_id"][0].as_py()
    fixed = [
        {"site": site, "crawl_id": crawl_id, "parent": parent_of(row["section"]), **row} for row in found.to_pylist()
    ]
    return pa.Table.from_pylist(fixed, schema=MAP_SECTIONS)

"""Crawl facts: the rows of one crawl that the site map is made of, read once. Nothing is judged here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from resources.errors import StageMissing
from resources.ports import TableStore

FETCH_COLUMNS: Final = (
    "layer",
    "url",
    "url_key",
    "origin_key",
    "hop",
    "is_final",
    "outcome",
    "requested_at",
    "fetch_ms",
    "status",
    "redirect_url",
    "body_bytes",
)
FRONTIER_COLUMNS: Final = ("layer", "url", "url_key", "found_by")
LINK_COLUMNS: Final = ("url", "url_key", "requested_at", "title", "words", "hyperlinks", "resources")


@dataclass(frozen=True, slots=True)
class CrawlFacts:
    """What a crawl of a site left in the tables."""

    site: str
    crawl_id: str
    fetches: pa.Table  # requests for pages, every hop and attempt
    frontier: pa.Table
    links: pa.Table  # one row a page: its newest
    sitemap_entries: pa.Table
    seeds: pa.Table


def read_facts(site: str, tables: TableStore) -> CrawlFacts:
    """Read the site's latest finished crawl, or its latest one when none was finished.

    Raises:
        StageMissing: the site was never crawled.
    """
    crawls = tables.read(names.T_CRAWLS, sites=[site], columns=["crawl_id", "stage"]).to_pylist()
    if not crawls:
        raise StageMissing(f"{site}: there is no crawl to map; materialize {names.CRAWL_REPORT.to_user_string()} first")
    report = names.CRAWL_REPORT.to_user_string()
    finished = [row["crawl_id"] for row in crawls if row["stage"] == report]
    crawl_id = max(finished or [row["crawl_id"] for row in crawls])

    def rows(table: str, columns: Sequence[str]) -> pa.Table:
        return tables.read(table, sites=[site], columns=columns, where=pc.field("crawl_id") == crawl_id)

    # The filter needs a column that is not wanted afterwards.
    fetches = rows(names.T_FETCHES, [*FETCH_COLUMNS, "crawl_id", "purpose"])
    return CrawlFacts(
        site=site,
        crawl_id=crawl_id,
        fetches=fetches.filter(pc.field("purpose") == "page").select(list(FETCH_COLUMNS)),
        frontier=rows(names.T_FRONTIER, [*FRONTIER_COLUMNS, "crawl_id"]).select(list(FRONTIER_COLUMNS)),
        links=_newest(rows(names.T_LINKS, [*LINK_COLUMNS, "crawl_id"]).select(list(LINK_COLUMNS))),
        sitemap_entries=rows(names.T_SITEMAP_ENTRIES, ["sitemap_url", "url", "url_key", "crawl_id"]),
        seeds=rows(names.T_SEEDS, ["seed_url", "usable", "crawl_id"]),
    )


def _newest(links: pa.Table) -> pa.Table:
    """Keep the newest row of each page, in the order of their keys."""
    newest: dict[str, tuple[object, int]] = {}
    stamps = zip(links["url_key"].to_pylist(), links["requested_at"].to_pylist(), strict=True)
    for row, (url_key, requested_at) in enumerate(stamps):
        newest[url_key] = max(newest.get(url_key, (requested_at, row)), (requested_at, row))
    return links.take(pa.array([newest[url_key][1] for url_key in sorted(newest)], pa.int64()))

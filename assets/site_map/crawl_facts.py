"""Crawl facts: the rows of one crawl that the site map is made of, read once. Nothing is judged here."""

from collections.abc import Iterable, Sequence
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
    "payload_digest",
    "last_modified",
)
FRONTIER_COLUMNS: Final = ("layer", "url", "url_key", "found_by")
LINK_COLUMNS: Final = (
    *("url", "url_key", "requested_at", "title", "declared_canonical", "robots_meta", "words", "reason"),
    *("forms", "iframes", "scripts", "videos", "images", "hyperlinks", "resources"),
)
TEXT_COLUMNS: Final = (
    *("url_key", "payload_digest", "fetched_at", "extractor_version", "description", "modified_on"),
    *("flags", "text_digest", "simhash", "features"),
)


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
    texts: pa.Table  # what was extracted of the pages, without the text itself; one row a page


def crawl_ids(site: str, tables: TableStore) -> list[str]:
    """Give the crawls of a site that can be mapped, oldest first: the finished ones, or all when none was finished."""
    rows = tables.read(names.T_CRAWLS, sites=[site], columns=["crawl_id", "stage"]).to_pylist()
    report, refresh = names.CRAWL_REPORT.to_user_string(), names.REFRESH_REPORT.to_user_string()
    refreshes = {row["crawl_id"] for row in rows if row["stage"] in ("refresh_started", refresh)}
    finished = {row["crawl_id"] for row in rows if row["stage"] == report}
    return sorted(finished or {row["crawl_id"] for row in rows} - refreshes)


def read_facts(site: str, tables: TableStore, crawl_id: str | None = None) -> CrawlFacts:
    """Read a crawl of a site; by default its latest finished one, or its latest one when none was finished.

    Raises:
        StageMissing: the site was never crawled, or this crawl of it is not known.
    """
    known = crawl_ids(site, tables)
    if not known:
        raise StageMissing(f"{site}: there is no crawl to map; materialize {names.CRAWL_REPORT.to_user_string()} first")
    if crawl_id is not None and crawl_id not in known:
        raise StageMissing(f"{site}: there is no finished crawl {crawl_id!r}; known are {', '.join(known[-5:])}")
    crawl_id = crawl_id or known[-1]

    def rows(table: str, columns: Sequence[str]) -> pa.Table:
        return tables.read(table, sites=[site], columns=columns, where=pc.field("crawl_id") == crawl_id)

    # The filter needs a column that is not wanted afterwards.
    fetches = rows(names.T_FETCHES, [*FETCH_COLUMNS, "crawl_id", "purpose"])
    fetches = fetches.filter(pc.field("purpose") == "page").select(list(FETCH_COLUMNS))
    return CrawlFacts(
        site=site,
        crawl_id=crawl_id,
        fetches=fetches,
        frontier=rows(names.T_FRONTIER, [*FRONTIER_COLUMNS, "crawl_id"]).select(list(FRONTIER_COLUMNS)),
        links=_newest(rows(names.T_LINKS, [*LINK_COLUMNS, "crawl_id"]).select(list(LINK_COLUMNS))),
        sitemap_entries=rows(names.T_SITEMAP_ENTRIES, ["sitemap_url", "url", "url_key", "crawl_id"]),
        seeds=rows(names.T_SEEDS, ["seed_url", "usable", "crawl_id"]),
        texts=_texts(tables.read(names.T_PAGES, sites=[site], columns=TEXT_COLUMNS), fetches),
    )


def _texts(versions: pa.Table, fetches: pa.Table) -> pa.Table:
    """Keep the versions of pages that were made of the bytes that the crawl met; the newest, when there are several.

    Their crawl says nothing: a page that did not change was extracted by the crawl that met it first.
    """
    met = set(_captures(fetches))
    return _newest(versions.filter(pa.array([one in met for one in _captures(versions)], pa.bool_())), "fetched_at")


def _captures(rows: pa.Table) -> Iterable[tuple[str, str | None]]:
    return zip(rows["url_key"].to_pylist(), rows["payload_digest"].to_pylist(), strict=True)


def _newest(rows: pa.Table, time: str = "requested_at") -> pa.Table:
    """Keep the newest row of each page, in the order of their keys."""
    newest: dict[str, tuple[object, int]] = {}
    stamps = zip(rows["url_key"].to_pylist(), rows[time].to_pylist(), strict=True)
    for row, (url_key, at) in enumerate(stamps):
        newest[url_key] = max(newest.get(url_key, (at, row)), (at, row))
    return rows.take(pa.array([newest[url_key][1] for url_key in sorted(newest)], pa.int64()))

"""The changes of one site: compares its last two crawls, writes the table and what people look at."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from assets import names
from assets.schemas import MAP_CHANGES
from assets.site_map.changes import changes, counts_by_kind
from assets.site_map.crawl_facts import crawl_ids
from assets.site_map.exports import csv_bytes
from assets.site_map.history import read_history
from assets.site_map.mapped_crawl import map_crawl
from resources.errors import StageMissing
from resources.ports import ObjectStore, QueryEngine, TableStore


@dataclass(frozen=True, slots=True)
class SiteChanges:
    """What changed between the last two crawls of a site."""

    crawl_id: str
    before_crawl_id: str  # empty when there is only one crawl
    counts: Mapping[str, int]
    before: Mapping[str, Any] | None  # the crawls' rows of ``map_history``, where they were mapped
    after: Mapping[str, Any] | None
    location: str
    digest: str


def changes_of_site(site: str, tables: TableStore, objects: ObjectStore, engine: QueryEngine) -> SiteChanges:
    """Compare the last two crawls of a site: ``map_changes``, and a file beside the report.

    Raises:
        StageMissing: the site was never crawled.
    """
    known = crawl_ids(site, tables)
    if not known:
        raise StageMissing(f"{site}: there is no crawl; materialize {names.CRAWL_REPORT.to_user_string()} first")
    before_id, after_id = ("", known[-1]) if len(known) < 2 else known[-2:]
    rows = compared_crawls(site, before_id, site, after_id, tables, engine) if before_id else MAP_CHANGES.empty_table()
    tables.replace(names.T_MAP_CHANGES, sites=[site], rows=rows)
    key = names.report_prefix(site, after_id) + "changes.csv"
    objects.put(key, csv_bytes(rows))
    history = {row["crawl_id"]: row for row in read_history(site, tables)}
    return SiteChanges(
        crawl_id=after_id,
        before_crawl_id=before_id,
        counts=counts_by_kind(rows),
        before=history.get(before_id),
        after=history.get(after_id),
        location=objects.location(key),
        digest=hashlib.sha256(repr(rows.to_pylist()).encode("utf-8", "replace")).hexdigest(),
    )


def compared_crawls(
    site: str,
    crawl_id: str | None,
    other_site: str,
    other_crawl_id: str | None,
    tables: TableStore,
    engine: QueryEngine,
) -> pa.Table:
    """Compare any two crawls, the earlier one first; by default the last of each site.

    Raises:
        StageMissing: a crawl is not known.
    """
    before = map_crawl(site, tables, engine, crawl_id)
    return changes(before, map_crawl(other_site, tables, engine, other_crawl_id), tables)

"""Comparable pages: those that get a near verdict, what must be known of them, and which of two is the better one.

The fingerprints of the whole store are read as narrow columns; all else only of the pages that meet another.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from assets import names
from assets.dedup.exact import STATE_COLUMNS, exact_clusters
from assets.dedup.vetoes import Identity
from assets.markup.fingerprint import FINGERPRINT_VERSION
from assets.schemas.content import NEVER_INDEXED_FLAGS
from resources.ports import QueryEngine, TableStore

Rank = tuple[bool, bool, datetime, int, str, str, str]

_PRINT_COLUMNS: Final = ("site", "url_key", "simhash", "bands")
_KNOWN_COLUMNS: Final = (*STATE_COLUMNS, "page_crawl_id", "extractor_version")


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """A page that gets a near verdict."""

    site: str
    url: str
    url_key: str
    version: tuple[str, str, str, str]  # site, url_key, crawl_id, extractor_version: its row in pages
    identity: Identity
    rank: Rank  # the better page has the lower one


def stored_fingerprints(tables: TableStore, min_features: int) -> pa.Table:
    """Read the fingerprints of all live pages of the store that have enough features; ``page_id`` is the row."""
    comparable = (
        (ds.field("status") == "live")
        & (ds.field("text_digest") != "")
        & (ds.field("features") >= min_features)
        & (ds.field("fingerprint_version") == FINGERPRINT_VERSION)
    )
    rows = tables.read(names.T_PAGE_STATE, columns=_PRINT_COLUMNS, where=comparable)
    return rows.append_column("page_id", pa.array(np.arange(rows.num_rows)))


def compared_pages(
    tables: TableStore, engine: QueryEngine, fingerprints: pa.Table, page_ids: Sequence[int]
) -> dict[int, ComparedPage]:
    """Give those of some pages that are compared: one of each cluster of exact duplicates.

    Args:
        page_ids: with a page come all that have the same fingerprint, and so its whole cluster.
    """
    if not page_ids:
        return {}
    wanted = fingerprints.take(pa.array(page_ids))
    ids = {key: page for page, key in zip(page_ids, _keys(wanted), strict=True)}
    sites, url_keys = (pc.unique(wanted[name]) for name in ("site", "url_key"))
    rows = tables.read(
        names.T_PAGE_STATE, sites=sites.to_pylist(), columns=_KNOWN_COLUMNS, where=ds.field("url_key").isin(url_keys)
    )
    rows = rows.filter(pa.array([key in ids for key in _keys(rows)], pa.bool_()))
    left_out = _stood_for(engine, rows)
    declared = _declared(tables, url_keys)
    return {
        ids[row["site"], row["url_key"]]: _page(row, declared)
        for row in rows.to_pylist()
        if (row["site"], row["url_key"]) not in left_out
    }


def _keys(rows: pa.Table) -> Iterable[tuple[str, str]]:
    return zip(rows["site"].to_pylist(), rows["url_key"].to_pylist(), strict=True)


def _stood_for(engine: QueryEngine, rows: pa.Table) -> frozenset[tuple[str, str]]:
    if len(pc.unique(rows["text_digest"])) == rows.num_rows:
        return frozenset()
    exact = exact_clusters(ibis.memtable(rows))
    stood_for = exact.filter((exact.representative_site != exact.site) | (exact.representative_key != exact.url_key))
    return frozenset(_keys(engine.run(stood_for.select("site", "url_key"))))


def _declared(tables: TableStore, url_keys: pa.Array) -> frozenset[str]:
    """Give those addresses that another page of the store declares canonical."""
    named = (
        (ds.field("status") == "live")
        & (ds.field("text_digest") != "")
        & ds.field("declared_canonical_key").isin(url_keys)
        & (ds.field("declared_canonical_key") != ds.field("url_key"))
    )
    rows = tables.read(names.T_PAGE_STATE, columns=["declared_canonical_key"], where=named)
    return frozenset(rows["declared_canonical_key"].to_pylist())


def _page(row: dict[str, Any], declared: frozenset[str]) -> ComparedPage:
    site, url, key = row["site"], row["url"], row["url_key"]
    # A page that may not be indexed stands for none that may; then the declared one, the earliest, the shortest.
    banned = not NEVER_INDEXED_FLAGS.isdisjoint(row["flags"])
    return ComparedPage(
        site=site,
        url=url,
        url_key=key,
        version=(site, key, row["page_crawl_id"], row["extractor_version"]),
        identity=Identity(key, row["language"], row["declared_canonical_key"]),
        rank=(banned, key not in declared, row["first_seen_at"], len(url), url, site, key),
    )

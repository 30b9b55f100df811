"""Exact duplicates: pages of the whole store with the same text, and the page that stands for them."""

from collections.abc import Sequence
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from assets import names
from assets.dedup.vetoes import language_column, page_number_column, version_column
from assets.schemas import EXACT_DUPLICATES
from assets.schemas.content import NEVER_INDEXED_FLAGS
from resources.ports import QueryEngine, TableStore

STATE_COLUMNS: Final = (
    "site",
    "url",
    "url_key",
    "status",
    "text_digest",
    "language",
    "declared_canonical_key",
    "flags",
    "first_seen_at",
)
_ALIKE: Final = ["text_digest", "language", "version", "page_number"]
_CLUSTER: Final = [*_ALIKE, "canonical"]


def comparable_pages(state: ir.Table) -> ir.Table:
    """Give the live pages that have a text, with what keeps equal texts apart, and ``indexable``."""
    live = state.filter((state.status == "live") & (state.text_digest != ""))
    pages = live.mutate(
        version=version_column(live.url_key),
        page_number=page_number_column(live.url_key),
        language=language_column(live.language),
        indexable=indexable(live),
    )
    # A page that names itself says no more than one that names nobody: templates do that. Where two others are named,
    # each page goes with the one it names.
    named = pages.declared_canonical_key
    pages = pages.mutate(other=(named != "").ifelse(named, None).nullif(pages.url_key))
    alike = ibis.window(group_by=_ALIKE)
    parted = pages.other.min().over(alike) != pages.other.max().over(alike)
    own = ibis.coalesce(pages.other, pages.url_key)
    return pages.mutate(canonical=ibis.coalesce(parted, False).ifelse(own, "")).drop("other")


def indexable(state: ir.Table) -> ir.BooleanValue:
    """Say whether a page may be a document of an index. One that may not cannot stand for one that may."""
    banned: Any = ibis.literal(False)
    for flag in sorted(NEVER_INDEXED_FLAGS):
        banned = banned | state.flags.contains(flag)
    return ~banned


def exact_clusters(state: ir.Table) -> ir.Table:
    """Give every page of a cluster of two or more, in the columns of ``exact_duplicates``.

    The representative has a row too: its own. The page that most others of the cluster declare canonical represents
    it, else the earliest, else the one with the shortest URL.

    Args:
        state: rows of ``page_state`` of the whole store.
    """
    pages = comparable_pages(state)
    pages = pages.mutate(cluster_pages=pages.count().over(ibis.window(group_by=_CLUSTER)))
    pages = pages.filter(pages.cluster_pages >= 2)
    ranked = _with_votes(pages)
    order = ibis.window(
        group_by=_CLUSTER,
        order_by=[
            ranked.indexable.desc(),
            ranked.votes.desc(),
            ranked.first_seen_at,
            ranked.url.length(),
            ranked.url,
            ranked.site,
            ranked.url_key,
        ],
    )
    ranked = ranked.mutate(
        place=ibis.row_number().over(order),
        next_indexable=ranked.indexable.lead().over(order),
        next_votes=ranked.votes.lead().over(order),
        next_seen_at=ranked.first_seen_at.lead().over(order),
    )
    first = ranked.filter(ranked.place == 0)
    alone = first.next_indexable != first.indexable  # the rest of the cluster cannot stand for it
    chosen = first.select(
        *_CLUSTER,
        representative_site=first.site,
        representative_key=first.url_key,
        chosen_by=ibis.cases(
            ((first.votes > first.next_votes) | (alone & (first.votes > 0)), "canonical"),
            ((first.first_seen_at < first.next_seen_at) | alone, "earliest"),
            else_="shortest",
        ),
    )
    return ranked.join(chosen, _CLUSTER).select(*EXACT_DUPLICATES.names)


def _with_votes(pages: ir.Table) -> ir.Table:
    """Count for each page the pages of its cluster that declare it canonical, itself among them."""
    votes = pages.group_by(*_CLUSTER, voted_key=pages.declared_canonical_key).aggregate(votes=pages.count())
    same = [pages[name] == votes[name] for name in _CLUSTER]
    joined = pages.left_join(votes, [*same, pages.url_key == votes.voted_key])
    return joined.select(*pages.columns, votes=ibis.coalesce(votes.votes, 0))


def exact_duplicates_of_sites(tables: TableStore, engine: QueryEngine, sites: Sequence[str]) -> pa.Table:
    """Give the rows of ``exact_duplicates`` of some sites, compared against the whole store."""
    own = tables.read(names.T_PAGE_STATE, sites=sites, columns=["text_digest"])["text_digest"]
    shared = ds.field("text_digest").isin(pc.unique(own))
    state = ibis.memtable(tables.read(names.T_PAGE_STATE, columns=STATE_COLUMNS, where=shared))
    clusters = exact_clusters(state)
    asked = clusters.filter(clusters.site.isin(list(sites)))
    return engine.run(asked.order_by("site", "url_key")).cast(EXACT_DUPLICATES)

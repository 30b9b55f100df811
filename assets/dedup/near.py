"""Near-duplicates: pages whose texts differ in little, verified, clustered and marked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assets import names
from assets.dedup.clusters import AlikePair, representatives
from assets.dedup.exact import STATE_COLUMNS, comparable_pages, exact_clusters
from assets.dedup.pairs import FINGERPRINT_BITS, candidate_pairs
from assets.dedup.similarity import similarities
from assets.dedup.vetoes import veto
from assets.schemas import NEAR_DUPLICATES, NEAR_PAIRS
from resources.ports import QueryEngine, TableStore

_NEAR_STATE_COLUMNS: Final = (*STATE_COLUMNS, "simhash", "features", "page_crawl_id", "extractor_version")


@dataclass(frozen=True, slots=True)
class NearSettings:
    """How alike two texts must be to count as near-duplicates."""

    max_distance: int = 6  # differing bits of the fingerprints of a candidate pair
    min_features: int = 32  # texts of fewer shingles get no verdict: one word would decide it
    min_similarity: float = 0.8  # Jaccard similarity of the shingles

    def __post_init__(self) -> None:
        if not 0 <= self.max_distance <= FINGERPRINT_BITS - 2:
            raise ValueError(f"max_distance must be in 0..{FINGERPRINT_BITS - 2}, got {self.max_distance}")
        if self.min_features < 1 or not 0 < self.min_similarity <= 1:
            raise ValueError(f"out of range: {self.min_features=} {self.min_similarity=}")


@dataclass(frozen=True, slots=True)
class NearResult:
    """Rows of ``near_pairs`` and ``near_duplicates`` of the asked sites, and how they came about."""

    pairs: pa.Table
    duplicates: pa.Table
    compared_pages: int  # of the whole store, one a cluster of exact duplicates
    candidates: int
    alike: int
    vetoed: int


def ranked_pages(state: ir.Table, min_features: int) -> ir.Table:
    """Give the pages that get a near verdict, best representative first: its place is ``page_id``, from 0.

    One page a cluster of exact duplicates. A page that another page declares canonical comes before the others, then
    the earliest, then the one with the shortest URL.
    """
    pages = comparable_pages(state)
    enough = pages.filter(pages.simhash.notnull() & (pages.features >= min_features))
    exact = exact_clusters(state)
    stood_for = exact.filter((exact.representative_site != exact.site) | (exact.representative_key != exact.url_key))
    enough = enough.anti_join(stood_for, ["site", "url_key"])
    named = pages.filter(pages.declared_canonical_key != pages.url_key).select("declared_canonical_key").distinct()
    ranked = enough.mutate(declared=enough.url_key.isin(named.declared_canonical_key))
    order = [
        ranked.indexable.desc(),
        ranked.declared.desc(),
        ranked.first_seen_at,
        ranked.url.length(),
        ranked.url,
        ranked.site,
        ranked.url_key,
    ]
    ranked = ranked.mutate(page_id=ibis.row_number().over(ibis.window(order_by=order)))
    return ranked.select(
        "page_id", "site", "url", "url_key", "page_crawl_id", "extractor_version", "simhash", "version", "language"
    ).order_by("page_id")


def near_duplicates_of_sites(
    tables: TableStore, engine: QueryEngine, sites: Sequence[str], settings: NearSettings | None = None
) -> NearResult:
    """Find the near-duplicates of the pages of some sites, in the whole store."""
    settings = settings or NearSettings()
    state = ibis.memtable(tables.read(names.T_PAGE_STATE, columns=_NEAR_STATE_COLUMNS))
    pages = engine.run(ranked_pages(state, settings.min_features))
    asked_sites = frozenset(sites)
    asked = frozenset(page for page, site in enumerate(pages["site"].to_pylist()) if site in asked_sites)
    pairs, candidates = _alike_pairs(tables, engine, pages, asked, settings)
    own = [pair for pair in pairs if pair.better in asked or pair.worse in asked]
    return NearResult(
        pairs=_pair_rows(own, pages, asked),
        duplicates=_duplicate_rows(representatives(pairs).values(), pages, asked),
        compared_pages=pages.num_rows,
        candidates=candidates,
        alike=len(own),
        vetoed=sum(1 for pair in own if pair.veto),
    )


def _alike_pairs(
    tables: TableStore, engine: QueryEngine, pages: pa.Table, asked: frozenset[int], settings: NearSettings
) -> tuple[list[AlikePair], int]:
    """Give all alike pairs of the asked pages, and those on which their clusters depend; count the candidates.

    Whom a page joins depends on which better pages are representatives, and so on upwards: those pairs are followed,
    else two sites would get different answers about the same pages.
    """
    prints = ibis.memtable(pages.select(["page_id", "simhash"]))
    found: list[AlikePair] = []
    compared: set[tuple[int, int]] = set()
    expanded: set[int] = set()
    wanted = set(asked)
    while wanted:
        ids = ibis.memtable(pa.table({"page_id": pa.array(sorted(wanted), pages["page_id"].type)}))
        expanded |= wanted
        met = engine.run(candidate_pairs(prints, ids, settings.max_distance))
        fresh = {
            (min(page, other), max(page, other)): distance
            for page, other, distance in zip(*(column.to_pylist() for column in met.columns), strict=True)
            if page in asked or other < page
        }
        fresh = {pair: fresh[pair] for pair in sorted(fresh.keys() - compared)}
        compared |= fresh.keys()
        found += _verified(tables, pages, fresh, settings.min_similarity)
        wanted = {pair.better for pair in found if pair.worse in expanded and not pair.veto} - expanded
    return found, len(compared)


def _verified(
    tables: TableStore, pages: pa.Table, candidates: dict[tuple[int, int], int], min_similarity: float
) -> list[AlikePair]:
    """Keep the candidates whose texts are alike, with the veto that lies on them."""
    rows: NDArray[np.int64] = np.array(list(candidates), dtype=np.int64).reshape(-1, 2)
    versions, languages = pages["version"], pages["language"]
    alike: list[AlikePair] = []
    for ((better, worse), distance), similarity in zip(
        candidates.items(), similarities(tables, pages, rows), strict=True
    ):
        if similarity >= min_similarity:
            reason = veto(*(column[row].as_py() for column in (versions, languages) for row in (better, worse)))
            alike.append(AlikePair(better, worse, distance, similarity, reason))
    return alike


def _pair_rows(pairs: Iterable[AlikePair], pages: pa.Table, asked: frozenset[int]) -> pa.Table:
    """Give a row for each asked page of each pair, so that a site's rows are replaced by that site's work."""
    sites, keys = pages["site"].to_pylist(), pages["url_key"].to_pylist()
    rows = [
        (sites[page], keys[page], sites[other], keys[other], pair.distance, pair.similarity, pair.veto)
        for pair in pairs
        for page, other in ((pair.better, pair.worse), (pair.worse, pair.better))
        if page in asked
    ]
    return _table(sorted(rows), NEAR_PAIRS)


def _duplicate_rows(joined: Iterable[AlikePair], pages: pa.Table, asked: frozenset[int]) -> pa.Table:
    sites, urls, keys = (pages[name].to_pylist() for name in ("site", "url", "url_key"))
    rows = [
        (sites[pair.worse], urls[pair.worse], keys[pair.worse], sites[pair.better], keys[pair.better], pair.similarity)
        for pair in joined
        if pair.worse in asked
    ]
    return _table(sorted(rows), NEAR_DUPLICATES)


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)

"""Near-duplicates: pages whose texts differ in little, verified, clustered and marked."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from assets.dedup.candidates import Candidates
from assets.dedup.clusters import AlikePair, representatives
from assets.dedup.comparable import ComparedPage, stored_fingerprints
from assets.dedup.differences import differing_parts
from assets.dedup.pairs import FINGERPRINT_BITS
from assets.dedup.similarity import comparisons
from assets.dedup.verdicts import Verdict, Verdicts, read_verdicts
from assets.dedup.vetoes import Veto, veto
from assets.schemas import NEAR_DUPLICATES, NEAR_PAIRS
from resources.ports import QueryEngine, TableStore

LEAST_SIMILARITY: Final = 0.8  # the bands are made to find pairs from here on


@dataclass(frozen=True, slots=True)
class NearSettings:
    """Which pairs are compared."""

    max_distance: int = 3  # differing bits of simhashes that make a pair; what is further away, bands find
    min_features: int = 32  # texts of fewer shingles get no verdict: one word would decide it
    crowd: int = 100  # of more pages with the same part of a fingerprint, each is compared with so many first ones

    def __post_init__(self) -> None:
        if not 0 <= self.max_distance <= FINGERPRINT_BITS - 2:
            raise ValueError(f"max_distance must be in 0..{FINGERPRINT_BITS - 2}, got {self.max_distance}")
        if self.min_features < 1 or self.crowd < 1:
            raise ValueError(f"out of range: {self.min_features=} {self.crowd=}")


@dataclass(frozen=True, slots=True)
class NearResult:
    """Rows of ``near_pairs`` and ``near_duplicates`` of the asked sites, and how they came about."""

    pairs: pa.Table
    duplicates: pa.Table
    compared_pages: int  # of the asked sites, one a cluster of exact duplicates
    candidates: int
    alike: int
    vetoed: int
    similarities: Sequence[float]  # of all candidates, alike or not


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two pages that are alike, or that a person said something of; the better one first."""

    better: int
    worse: int
    distance: int
    similarity: float
    veto: str
    verdict: str
    parts: tuple[str, str]  # words that only the better page has, and only the worse


@dataclass(slots=True)
class _Search:
    """The work on some asked pages: all alike pairs of theirs, and those on which their clusters depend."""

    tables: TableStore
    candidates: Candidates
    verdicts: Verdicts
    least_similarity: Callable[[str], float]  # by site
    found: list[_Pair] = field(default_factory=list)
    similarities: dict[tuple[int, int], float] = field(default_factory=dict)

    def run(self, asked: Collection[int]) -> None:
        """Find the pairs.

        Whom a page joins depends on which better pages are representatives, and so on upwards: those pairs are
        followed, else two sites would get different answers about the same pages.
        """
        wanted, expanded = set(asked), set[int]()
        while wanted:
            expanded |= wanted
            met = self.candidates.of(wanted, asked)
            fresh = {pair: met[pair] for pair in sorted(met.keys() - self.similarities.keys())}
            self.found += self._verified(fresh)
            wanted = {pair.better for pair in self.found if pair.worse in expanded and not pair.veto} - expanded

    def _verified(self, fresh: dict[tuple[int, int], int]) -> Iterable[_Pair]:
        pages = self.candidates.pages
        versions = [(pages[better].version, pages[worse].version) for better, worse in fresh]
        for ((better, worse), distance), compared in zip(
            fresh.items(), comparisons(self.tables, versions), strict=True
        ):
            one, other = pages[better], pages[worse]
            self.similarities[better, worse] = compared.similarity
            verdict = self.verdicts.get(frozenset(((one.site, one.url_key), (other.site, other.url_key))))
            least = max(self.least_similarity(one.site), self.least_similarity(other.site))
            if compared.similarity >= least or verdict:
                parts = differing_parts(compared.text, compared.other)
                reason = _veto(one, other, verdict)
                yield _Pair(better, worse, distance, compared.similarity, reason, verdict or "", parts)


def _veto(one: ComparedPage, other: ComparedPage, verdict: Verdict | None) -> str:
    if verdict is None:
        return veto(one.identity, other.identity)
    return "" if verdict is Verdict.SAME else Veto.REVIEWER


def near_duplicates_of_sites(
    tables: TableStore,
    engine: QueryEngine,
    sites: Sequence[str],
    settings: NearSettings | None = None,
    least_similarity: Callable[[str], float] = lambda _: LEAST_SIMILARITY,
    fingerprints: pa.Table | None = None,
) -> NearResult:
    """Find the near-duplicates of the pages of some sites, in the whole store.

    Args:
        least_similarity: the Jaccard similarity from which pages of a site are alike; of two sites the higher counts.
        fingerprints: those of the whole store, when they have been read for another site; None reads them.
    """
    settings = settings or NearSettings()
    if fingerprints is None:
        fingerprints = stored_fingerprints(tables, settings.min_features)
    verdicts = read_verdicts(tables)
    candidates = Candidates.among(tables, engine, fingerprints, verdicts, settings.max_distance, settings.crowd)
    asked = candidates.of_sites(sites)
    search = _Search(tables, candidates, verdicts, least_similarity)
    search.run(asked)
    pages = candidates.pages
    own = [pair for pair in search.found if pair.better in asked or pair.worse in asked]
    return NearResult(
        pairs=_pair_rows(own, pages, asked),
        duplicates=_duplicate_rows(_joined(search.found, pages), pages, asked),
        compared_pages=len(asked & pages.keys()),
        candidates=len(search.similarities),
        alike=len(own),
        vetoed=sum(1 for pair in own if pair.veto),
        similarities=list(search.similarities.values()),
    )


def _joined(pairs: Sequence[_Pair], pages: dict[int, ComparedPage]) -> Iterable[tuple[int, int, float]]:
    """Give for each page that another one stands for that one, and how alike they are."""
    ranked = sorted({page for pair in pairs for page in (pair.better, pair.worse)}, key=lambda page: pages[page].rank)
    place = {page: rank for rank, page in enumerate(ranked)}
    alike = [
        AlikePair(place[pair.better], place[pair.worse], pair.distance, pair.similarity, pair.veto) for pair in pairs
    ]
    for pair in representatives(alike).values():
        yield ranked[pair.better], ranked[pair.worse], pair.similarity


def _pair_rows(pairs: Iterable[_Pair], pages: dict[int, ComparedPage], asked: Collection[int]) -> pa.Table:
    """Give a row for each asked page of each pair, so that a site's rows are replaced by that site's work."""
    rows = []
    for pair in pairs:
        for page_id, other_id, parts in (
            (pair.better, pair.worse, pair.parts),
            (pair.worse, pair.better, pair.parts[::-1]),
        ):
            if page_id in asked:
                page, other = pages[page_id], pages[other_id]
                both = (page.site, page.url_key, other.site, other.url_key)
                rows.append((*both, pair.distance, pair.similarity, str(pair.veto), str(pair.verdict), *parts))
    return _table(sorted(rows), NEAR_PAIRS)


def _duplicate_rows(
    joined: Iterable[tuple[int, int, float]], pages: dict[int, ComparedPage], asked: Collection[int]
) -> pa.Table:
    rows = [
        (
            pages[worse].site,
            pages[worse].url,
            pages[worse].url_key,
            pages[better].site,
            pages[better].url_key,
            similarity,
        )
        for better, worse, similarity in joined
        if worse in asked
    ]
    return _table(sorted(rows), NEAR_DUPLICATES)


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)

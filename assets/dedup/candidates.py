"""Candidates: the pairs of pages of the whole store that are worth a comparison of their texts."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets.dedup.comparable import ComparedPage, compared_pages
from assets.dedup.pairs import VERDICT, band_keys, block_keys, block_masks, meeting_pairs, met_keys
from assets.dedup.verdicts import Verdicts
from resources.ports import QueryEngine, TableStore


@dataclass(slots=True)
class Candidates:
    """The fingerprints of the store, and what is known of those pages that met another so far. Pages are rows."""

    tables: TableStore
    engine: QueryEngine
    fingerprints: pa.Table
    verdict_keys: pa.Table
    max_distance: int
    crowd: int
    pages: dict[int, ComparedPage] = field(default_factory=dict)
    _known: set[int] = field(default_factory=set)  # exact duplicates among them, which are not compared

    @classmethod
    def among(
        cls,
        tables: TableStore,
        engine: QueryEngine,
        fingerprints: pa.Table,
        verdicts: Verdicts,
        max_distance: int,
        crowd: int,
    ) -> "Candidates":
        """Begin with the fingerprints of ``stored_fingerprints``."""
        return cls(tables, engine, fingerprints, _verdict_keys(fingerprints, verdicts), max_distance, crowd)

    def of_sites(self, sites: Sequence[str]) -> frozenset[int]:
        """Give the pages of some sites."""
        mine = pc.is_in(self.fingerprints["site"], value_set=pa.array(sites, pa.string()))
        return frozenset(np.flatnonzero(mine.to_numpy()).tolist())

    def of(self, wanted: Collection[int], asked: Collection[int]) -> dict[tuple[int, int], int]:
        """Give the candidate pairs of wanted pages with their distance, the better page first.

        Of a page that is not asked for, only those with a better one: whom it joins depends on no other.
        """
        met = self.engine.run(met_keys(self._keys(), _ids(wanted)))
        self._get_to_know(pc.unique(met["page_id"]).to_pylist())
        # From here on a page is known by its place among those that met, the best first.
        here = sorted(
            self.pages.keys() & set(pc.unique(met["page_id"]).to_pylist()), key=lambda page: self.pages[page].rank
        )
        places = np.full(self.fingerprints.num_rows, -1, dtype=np.int64)
        places[here] = np.arange(len(here))
        place = places[met["page_id"].to_numpy()]
        ranked = met.set_column(met.column_names.index("page_id"), "page_id", pa.array(place)).filter(
            pa.array(place >= 0)
        )
        asked_places = places[sorted(wanted)]
        pairs = self.engine.run(
            meeting_pairs(ibis.memtable(ranked), _ids(asked_places[asked_places >= 0]), self.max_distance, self.crowd)
        )
        found = {}
        for one, other, distance in zip(*(column.to_pylist() for column in pairs.columns), strict=True):
            if other < one or here[one] in asked:
                found[here[min(one, other)], here[max(one, other)]] = distance
        return found

    def _get_to_know(self, page_ids: Iterable[int]) -> None:
        fresh = sorted(set(page_ids) - self._known)
        self._known.update(fresh)
        self.pages |= compared_pages(self.tables, self.engine, self.fingerprints, fresh)

    def _keys(self) -> ir.Table:
        prints = ibis.memtable(self.fingerprints.select(["page_id", "simhash", "bands"]))
        blocks = block_keys(prints, block_masks(self.max_distance))
        return ibis.union(blocks, band_keys(prints), ibis.memtable(self.verdict_keys))


def _ids(page_ids: Iterable[int]) -> ir.Table:
    return ibis.memtable(pa.table({"page_id": pa.array(sorted(page_ids), pa.int64())}))


def _verdict_keys(fingerprints: pa.Table, verdicts: Verdicts) -> pa.Table:
    """Make a key for each pair that a person spoke of, so that it is compared however far apart the two are."""
    spoken = sorted({key for pair in verdicts for _, key in pair})
    rows = fingerprints.filter(pc.is_in(fingerprints["url_key"], value_set=pa.array(spoken, pa.string())))
    ids = {
        (site, key): (page, simhash)
        for site, key, page, simhash in zip(
            *(rows[name].to_pylist() for name in ("site", "url_key", "page_id", "simhash")), strict=True
        )
    }
    found = [(*ids[page], number) for number, pair in enumerate(verdicts) for page in sorted(pair) if page in ids]
    page_ids, simhashes, numbers = zip(*found, strict=True) if found else ((), (), ())
    columns = {"page_id": page_ids, "simhash": simhashes, "kind": [VERDICT] * len(found), "key": numbers}
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})

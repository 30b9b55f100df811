"""Candidate pairs: pages whose fingerprints have a part in common, without comparing all with all.

A key is such a part: a MinHash band, or two blocks of the simhash. The 64 bits are cut into two blocks more than there
may be differing bits. Those bits fall into at most ``max_distance`` blocks, so at least two blocks are equal: every
pair within the distance has a key in common. (One block more would do with single blocks, but those are so short that
a million fingerprints would meet in far too many chance pairs.)
"""

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

FINGERPRINT_BITS = 64
# Kinds of keys; any other is the mask under which simhashes agree, which has at least two bits.
BAND: Final = 0
VERDICT: Final = 1
_KEY: Final = ["kind", "key"]
_COLUMNS: Final = ["page_id", "simhash", *_KEY]


@ibis.udf.scalar.builtin(name="bit_count", signature=((dt.int64,), dt.int32))  # type: ignore[untyped-decorator]
def _bit_count(number: int) -> int:  # type: ignore[empty-body]
    """Count the bits that are set, by the function that DuckDB and Spark both call so."""


def block_masks(max_distance: int) -> list[int]:
    """Give the masks, as signed 64-bit numbers, one of which two fingerprints within the distance agree under."""
    count = max_distance + 2
    edges = [FINGERPRINT_BITS * block // count for block in range(count + 1)]
    blocks = [(1 << end) - (1 << start) for start, end in pairwise(edges)]
    return [_signed(one | other) for one, other in combinations(blocks, 2)]


def block_keys(fingerprints: ir.Table, masks: Sequence[int]) -> ir.Table:
    """Give the keys (``page_id, simhash, kind, key``) of simhashes: one under each mask."""
    kinds = ibis.memtable(pa.table({"kind": pa.array(masks, pa.int64())}))
    crossed = fingerprints.cross_join(kinds).select("page_id", "simhash", "kind")
    return crossed.mutate(key=crossed.simhash & crossed.kind)


def band_keys(fingerprints: ir.Table) -> ir.Table:
    """Give the keys of ``bands``."""
    kind = ibis.literal(BAND, dt.int64)
    return fingerprints.select("page_id", "simhash", kind=kind, key=fingerprints.bands.unnest())


def met_keys(keys: ir.Table, asked: ir.Table | None) -> ir.Table:
    """Give the keys that a page of ``asked`` (``page_id``) has, of all pages that have them.

    If all are asked, those that two pages have: what else there is makes no pair.
    """
    if asked is None:
        sizes = keys.group_by(_KEY).aggregate(pages=keys.count())
        return keys.semi_join(sizes.filter(sizes.pages > 1).select(*_KEY), _KEY).select(*_COLUMNS)
    return keys.semi_join(keys.semi_join(asked, "page_id").select(*_KEY).distinct(), _KEY).select(*_COLUMNS)


def meeting_pairs(keys: ir.Table, asked: ir.Table | None, max_distance: int, crowd: int) -> ir.Table:
    """Give ``page_id``, ``other_id`` and ``distance`` of all pairs with a key in common whose first page is asked for.

    Those that only agree under a mask must be within the distance. A key of more than ``crowd`` pages, as a template
    makes them, would give pairs by their square: there each page is paired with the first ones only, by ``page_id``.

    Args:
        asked: ``page_id`` of some of the pages; None is all. Two asked pages come as a pair in both orders.
    """
    crowds = keys.group_by(_KEY).aggregate(pages=keys.count())
    crowds = crowds.filter(crowds.pages > crowd).select(*_KEY)
    calm = keys.anti_join(crowds, _KEY).select(*_COLUMNS)
    crowded = keys.semi_join(crowds, _KEY).select(*_COLUMNS)
    place = ibis.row_number().over(ibis.window(group_by=_KEY, order_by=crowded.page_id))
    first = crowded.mutate(place=place).filter(lambda t: t.place < crowd).drop("place")
    met = ibis.union(
        _joined(_of(calm, asked), calm),
        _joined(_of(crowded, asked), first),
        _joined(_of(first, asked), crowded),
    )
    near = met.filter(met.kind.isin([BAND, VERDICT]) | (met.distance <= max_distance))
    return near.select("page_id", "other_id", "distance").distinct()


def _of(keys: ir.Table, asked: ir.Table | None) -> ir.Table:
    return keys if asked is None else keys.semi_join(asked, "page_id").select(*_COLUMNS)


def _joined(keys: ir.Table, others: ir.Table) -> ir.Table:
    others = others.select("kind", "key", other_id="page_id", other_simhash="simhash")
    met = keys.join(others, _KEY).select(*_COLUMNS, "other_id", "other_simhash")
    met = met.filter(met.page_id != met.other_id)
    return met.select("kind", "page_id", "other_id", distance=_bit_count(met.simhash ^ met.other_simhash))


def _signed(number: int) -> int:
    return number - (1 << FINGERPRINT_BITS) if number >> (FINGERPRINT_BITS - 1) else number

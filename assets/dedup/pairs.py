"""Candidate pairs: all pairs of fingerprints that differ in few bits, without comparing all with all.

The 64 bits are cut into two blocks more than there may be differing bits. Those bits fall into at most
``max_distance`` blocks, so at least two blocks are equal: every pair within the distance agrees on some two blocks,
and a join on two blocks at a time finds it. (One block more would do with single blocks, but those are so short that
a million fingerprints would meet in far too many chance pairs.)
"""

from itertools import combinations, pairwise

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

FINGERPRINT_BITS = 64


@ibis.udf.scalar.builtin(name="bit_count", signature=((dt.int64,), dt.int32))  # type: ignore[untyped-decorator]
def _bit_count(number: int) -> int:  # type: ignore[empty-body]
    """Count the bits that are set, by the function that DuckDB and Spark both call so."""


def block_masks(max_distance: int) -> list[int]:
    """Give the masks, as signed 64-bit numbers, one of which two fingerprints within the distance agree under."""
    count = max_distance + 2
    edges = [FINGERPRINT_BITS * block // count for block in range(count + 1)]
    blocks = [(1 << end) - (1 << start) for start, end in pairwise(edges)]
    return [_signed(one | other) for one, other in combinations(blocks, 2)]


def candidate_pairs(fingerprints: ir.Table, asked: ir.Table, max_distance: int) -> ir.Table:
    """Give ``page_id``, ``other_id`` and ``distance`` of all pairs within the distance whose first page is asked for.

    Two asked pages come as a pair in both orders. Equal fingerprints are compared once, whatever their number.

    Args:
        fingerprints: ``page_id`` (unique) and ``simhash`` of all pages.
        asked: ``page_id`` of some of them.
    """
    masks = ibis.memtable(pa.table({"mask": pa.array(block_masks(max_distance), pa.int64())}))
    wanted = fingerprints.semi_join(asked, "page_id")
    left = _blocks(wanted.select("simhash").distinct(), masks)
    right = _blocks(fingerprints.select("simhash").distinct(), masks).rename(other_simhash="simhash")
    met = left.join(right, ["mask", "block"]).mutate(distance=lambda t: _bit_count(t.simhash ^ t.other_simhash))
    alike = met.filter(met.distance <= max_distance).select("simhash", "other_simhash", "distance").distinct()
    pages = alike.join(wanted.select("page_id", "simhash"), "simhash")
    others = fingerprints.select(other_id="page_id", other_simhash="simhash")
    pairs = pages.join(others, "other_simhash")
    return pairs.filter(pairs.page_id != pairs.other_id).select("page_id", "other_id", "distance")


def _blocks(fingerprints: ir.Table, masks: ir.Table) -> ir.Table:
    """Give each fingerprint once under each mask."""
    crossed = fingerprints.cross_join(masks)
    return crossed.mutate(block=crossed.simhash & crossed.mask)


def _signed(number: int) -> int:
    return number - (1 << FINGERPRINT_BITS) if number >> (FINGERPRINT_BITS - 1) else number

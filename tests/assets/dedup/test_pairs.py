"""Candidate pairs by blocks, against comparing all with all."""

import ibis
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.dedup.pairs import FINGERPRINT_BITS, block_masks, candidate_pairs
from resources.duckdb_engine import DuckDBEngine

ENGINE = DuckDBEngine()
BITS = st.integers(0, FINGERPRINT_BITS - 1)


@st.composite
def fingerprints(draw: st.DrawFn) -> list[int]:
    """Draw fingerprints, most of them a few bits away from another."""
    found = [draw(st.integers(-(2**63), 2**63 - 1))]
    for flips in draw(st.lists(st.sets(BITS, max_size=9), max_size=25)):
        number = found[draw(st.integers(0, len(found) - 1))]
        for bit in flips:
            number ^= -(2**63) if bit == 63 else 1 << bit
        found.append(number)
    return found


def distance(one: int, other: int) -> int:
    return ((one ^ other) & (2**64 - 1)).bit_count()


@settings(deadline=None, max_examples=12)
@given(prints=fingerprints(), max_distance=st.sampled_from([0, 1, 3, 6]), data=st.data())
def test_blocks_find_every_pair_within_the_distance_and_no_other(
    prints: list[int], max_distance: int, data: st.DataObject
) -> None:
    asked = data.draw(st.sets(st.integers(0, len(prints) - 1), min_size=1))
    pages = ibis.memtable(pa.table({"page_id": pa.array(range(len(prints)), pa.int64()), "simhash": prints}))
    wanted = ibis.memtable(pa.table({"page_id": pa.array(sorted(asked), pa.int64())}))

    met = ENGINE.run(candidate_pairs(pages, wanted, max_distance))

    found = list(zip(*(column.to_pylist() for column in met.columns), strict=True))
    brute = {
        (one, other, distance(prints[one], prints[other]))
        for one in asked
        for other in range(len(prints))
        if one != other and distance(prints[one], prints[other]) <= max_distance
    }
    assert len(found) == len(set(found))
    assert set(found) == brute


@pytest.mark.parametrize("max_distance", range(FINGERPRINT_BITS - 1))
def test_every_bit_is_in_as_many_masks_as_there_are_other_blocks(max_distance: int) -> None:
    masks = [mask & (2**64 - 1) for mask in block_masks(max_distance)]

    assert all(sum(mask >> bit & 1 for mask in masks) == max_distance + 1 for bit in range(FINGERPRINT_BITS))

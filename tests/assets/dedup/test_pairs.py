"""Candidate pairs by keys, against comparing all with all."""

from itertools import permutations

import ibis
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.dedup.pairs import (
    FINGERPRINT_BITS,
    band_keys,
    block_keys,
    block_masks,
    meeting_pairs,
    met_keys,
)
from resources.ports import QueryEngine

BITS = st.integers(0, FINGERPRINT_BITS - 1)
MANY = 1_000


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


def stored(prints: list[int], bands: list[list[int]] | None = None) -> ibis.Table:
    """Give pages whose ids are the places of their fingerprints."""
    rows = {
        "page_id": pa.array(range(len(prints)), pa.int64()),
        "simhash": pa.array(prints, pa.int64()),
        "bands": pa.array(bands or [[] for _ in prints], pa.list_(pa.int64())),
    }
    return ibis.memtable(pa.table(rows))


def pairs(
    engine: QueryEngine, keys: ibis.Table, asked: set[int], max_distance: int, crowd: int = MANY
) -> list[tuple[int, int, int]]:
    wanted = ibis.memtable(pa.table({"page_id": pa.array(sorted(asked), pa.int64())}))
    met = engine.run(meeting_pairs(met_keys(keys, wanted), wanted, max_distance, crowd))
    return list(zip(*(column.to_pylist() for column in met.columns), strict=True))


@settings(deadline=None, max_examples=12)
@given(prints=fingerprints(), max_distance=st.sampled_from([0, 1, 3, 6]), data=st.data())
def test_blocks_find_every_pair_within_the_distance_and_no_other(
    duckdb_engine: QueryEngine, prints: list[int], max_distance: int, data: st.DataObject
) -> None:
    asked = data.draw(st.sets(st.integers(0, len(prints) - 1), min_size=1))

    found = pairs(duckdb_engine, block_keys(stored(prints), block_masks(max_distance)), asked, max_distance)

    brute = {
        (one, other, distance(prints[one], prints[other]))
        for one in asked
        for other in range(len(prints))
        if one != other and distance(prints[one], prints[other]) <= max_distance
    }
    assert len(found) == len(set(found))
    assert set(found) == brute


def test_pages_that_share_a_band_are_a_pair_at_any_distance(engine: QueryEngine) -> None:
    keys = band_keys(stored([0, -1, 7], [[5, 6], [6, 8], [9]]))

    assert sorted(pairs(engine, keys, {0, 1, 2}, 3)) == [(0, 1, 64), (1, 0, 64)]


@pytest.mark.parametrize("asked", [{0}, {9}, set(range(10))], ids=str)
def test_in_a_crowd_each_page_is_paired_with_the_first_ones_only(engine: QueryEngine, asked: set[int]) -> None:
    keys = band_keys(stored([3] * 10, [[5]] * 10))

    found = pairs(engine, keys, asked, 3, crowd=2)

    assert sorted(found) == sorted(
        (one, other, 0) for one, other in permutations(range(10), 2) if one in asked and (one < 2 or other < 2)
    )


@pytest.mark.parametrize("max_distance", range(FINGERPRINT_BITS - 1))
def test_every_bit_is_in_as_many_masks_as_there_are_other_blocks(max_distance: int) -> None:
    masks = [mask & (2**64 - 1) for mask in block_masks(max_distance)]

    assert all(sum(mask >> bit & 1 for mask in masks) == max_distance + 1 for bit in range(FINGERPRINT_BITS))
    assert all(mask.bit_count() >= 2 for mask in masks)

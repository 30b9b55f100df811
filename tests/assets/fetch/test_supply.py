"""Supplies: each row is handed out once, the best of its host first."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from assets.fetch.item import FetchItem, Purpose
from assets.fetch.supply import FrontierSupply

ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.5, 1.0, 2.0])), max_size=12)


def item(row: Mapping[str, Any]) -> FetchItem:
    return FetchItem(
        site="e.test",
        layer="depth_1",
        purpose=Purpose.PAGE,
        url=row["url_key"],
        url_key=row["url_key"],
        host_key=row["host_key"],
        origin_key=row["url_key"],
        priority=row["priority"],
        other_urls=(),
        validators=None,
    )


@given(st.lists(ROWS, max_size=3), st.integers(1, 5))
def test_of_each_host_the_best_come_first_and_equals_in_order(
    chunks: list[list[tuple[str, float]]], count: int
) -> None:
    rows = [pair for chunk in chunks for pair in chunk]
    keys = iter(range(len(rows)))
    schema = pa.schema([("host_key", pa.string()), ("priority", pa.float64()), ("url_key", pa.string())])
    batches = [
        pa.RecordBatch.from_pylist(
            [{"host_key": host, "priority": rank, "url_key": str(next(keys))} for host, rank in chunk], schema=schema
        )
        for chunk in chunks
    ]
    supply = FrontierSupply(pa.Table.from_batches(batches, schema=schema), item)
    for host in "abc":
        in_order = sorted((-rank, key) for key, (of, rank) in enumerate(rows) if of == host)
        assert supply.counts().get(host, 0) == len(in_order)
        taken: list[str] = []
        while items := supply.take(host, count):
            assert len(items) <= count
            taken += [one.url_key for one in items]
        assert taken == [str(key) for _, key in in_order]
    assert (supply.left, supply.counts()) == (0, {})

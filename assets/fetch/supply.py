"""Supplies: items that wait outside the fetch plan, by host and best first, so that a plan holds only a few of each.

A frontier of millions stays in Arrow columns until its turn; Mercator's front queues. Pure.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from operator import itemgetter
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from assets.fetch.item import FetchItem


class Supply(Protocol):
    """Items to come. Each is handed out once."""

    left: int  # items not handed out yet

    def counts(self) -> Mapping[str, int]:
        """Count the items of each host that has some."""
        ...

    def take(self, host_key: str, count: int) -> list[FetchItem]:
        """Hand out the best items of a host, at most so many."""
        ...


class ItemSupply:
    """A supply of a few items that are there already, in the order given."""

    def __init__(self, items: Iterable[FetchItem]) -> None:
        self._items: dict[str, list[FetchItem]] = {}
        self.left = 0
        for item in items:
            self._items.setdefault(item.host_key, []).append(item)
            self.left += 1

    def counts(self) -> Mapping[str, int]:
        """Count the items of each host that has some."""
        return {host_key: len(items) for host_key, items in self._items.items() if items}

    def take(self, host_key: str, count: int) -> list[FetchItem]:
        """Hand out the first items of a host, at most so many."""
        items = self._items.get(host_key, [])
        taken, self._items[host_key] = items[:count], items[count:]
        self.left -= len(taken)
        return taken


class FrontierSupply:
    """A supply of frontier rows, of which items are made when their turn comes."""

    def __init__(self, frontier: pa.Table, item_of: Callable[[Mapping[str, Any]], FetchItem]) -> None:
        """Sort the rows.

        Args:
            frontier: rows with ``host_key``, ``priority`` and what ``item_of`` reads.
            item_of: makes the item of a row.
        """
        # The order alone: a sorted copy of millions of rows would weigh as much as they do.
        keys = frontier.select(["host_key", "priority"])
        self._order = pc.sort_indices(keys, sort_keys=[("host_key", "ascending"), ("priority", "descending")])
        self._batches = frontier.to_batches()
        self._ends = list(accumulate(batch.num_rows for batch in self._batches))
        self._item_of = item_of
        counts = sorted(pc.value_counts(keys["host_key"]).to_pylist(), key=itemgetter("values"))
        self._spans: dict[str, tuple[int, int]] = {}
        start = 0
        for host in counts:
            self._spans[host["values"]] = start, start + host["counts"]
            start += host["counts"]
        self.left = start

    def counts(self) -> Mapping[str, int]:
        """Count the items of each host that has some."""
        return {host_key: stop - start for host_key, (start, stop) in self._spans.items() if stop > start}

    def take(self, host_key: str, count: int) -> list[FetchItem]:
        """Hand out the best items of a host, at most so many."""
        start, stop = self._spans.get(host_key, (0, 0))
        end = min(start + count, stop)
        if start == end:
            return []
        self._spans[host_key] = end, stop
        self.left -= end - start
        return [self._item_of(self._row(index)) for index in self._order.slice(start, end - start).to_pylist()]

    def _row(self, index: int) -> dict[str, Any]:
        at = bisect_right(self._ends, index)
        batch = self._batches[at]
        place = index - self._ends[at] + batch.num_rows
        return {name: column[place].as_py() for name, column in zip(batch.schema.names, batch.columns, strict=True)}

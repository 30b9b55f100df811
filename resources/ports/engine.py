"""The query engine: runs set-shaped work that is written as Ibis expressions."""

from typing import Protocol, runtime_checkable

import ibis
import pyarrow as pa


@runtime_checkable
class QueryEngine(Protocol):
    """Runs an Ibis expression over memtables; the same expression runs on every engine."""

    def run(self, expression: ibis.Table) -> pa.Table:
        """Give the rows of an expression. Their order is the expression's ``order_by``, else none."""
        ...

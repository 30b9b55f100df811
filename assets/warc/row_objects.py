"""Rows of a table as objects, some at a time: as objects they weigh ten times more."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

ROWS_AT_ONCE: Final = 1_000


def row_objects(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Give each row."""
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        yield from batch.to_pylist()

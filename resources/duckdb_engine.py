"""The DuckDB query engine: Ibis expressions run inside this process, in memory.

Storage does not belong here: expressions bring their rows as memtables.
"""

import threading

import duckdb
import ibis
import pyarrow as pa


class DuckDBEngine:
    """Runs Ibis expressions in DuckDB, as the ``QueryEngine`` port. Safe to call from many threads."""

    def __init__(self) -> None:
        self._database: duckdb.DuckDBPyConnection | None = None
        self._opening = threading.Lock()

    def run(self, expression: ibis.Table) -> pa.Table:
        """Give the rows of an expression, in the types that Ibis says they have."""
        # A cursor a run: threads must not share one, and memtables are gone with it. A database a run takes 20 ms.
        connection = ibis.duckdb.from_connection(self._opened().cursor())
        try:
            rows: pa.Table = connection.to_pyarrow(expression)
        finally:
            connection.disconnect()
        return rows

    def _opened(self) -> duckdb.DuckDBPyConnection:
        with self._opening:
            if self._database is None:
                # Extensions would be downloaded from a server that locked-down machines cannot reach.
                self._database = duckdb.connect(
                    config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
                )
            return self._database

"""The Spark query engine: the same Ibis expressions on a Spark of this machine or of a cluster.

Which Spark, Spark's own settings say: ``SPARK_REMOTE``, ``PYSPARK_SUBMIT_ARGS``, or the files in ``SPARK_CONF_DIR``.
Without any it is one in this process, on all cores. Needs the extra ``spark`` and Java 17.
"""

import threading
from collections.abc import Mapping
from typing import Any

import ibis
import pyarrow as pa
from ibis.expr.operations import InMemoryTable

from resources.errors import BadSettings


class SparkEngine:
    """Runs Ibis expressions in Spark, as the ``QueryEngine`` port. Safe to call from many threads, which take turns."""

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        """Take settings of the session by their Spark names; those of a session that is open already stay."""
        self._options = dict(options or {})
        self._session: Any = None
        self._running = threading.Lock()

    def run(self, expression: ibis.Table) -> pa.Table:
        """Give the rows of an expression, in the types that Ibis says they have.

        Raises:
            BadSettings: there is no pyspark or no Java, or the cluster cannot be reached.
        """
        # One query uses all cores, and the memtables of a query have names in the session.
        with self._running:
            if self._session is None:
                self._session = self._opened()
            return self._run(self._session, expression)

    def _run(self, session: Any, expression: ibis.Table) -> pa.Table:
        # Ibis hands rows to Spark and back through pandas, which makes floats of integers beside a null.
        views = {table.name: table for table in expression.op().find(InMemoryTable)}
        try:
            for name, table in views.items():
                session.createDataFrame(table.data.to_pyarrow(table.schema)).createOrReplaceTempView(name)
            rows = session.sql(str(ibis.to_sql(expression, dialect="pyspark"))).toArrow()
        finally:
            for name in views:
                session.catalog.dropTempView(name)
        return rows.cast(expression.schema().to_pyarrow())

    def _opened(self) -> Any:
        try:
            from pyspark.errors import PySparkException
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise BadSettings("ISOBATH_ENGINE=spark needs pyspark: pip install 'isobath[spark]'") from error
        builder = SparkSession.builder.appName("isobath").config("spark.sql.session.timeZone", "UTC")
        for name, value in self._options.items():
            builder = builder.config(name, value)
        try:
            return builder.getOrCreate()
        except (PySparkException, OSError, RuntimeError) as error:
            raise BadSettings(f"ISOBATH_ENGINE=spark: no Spark session: {error}") from error

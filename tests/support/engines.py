"""The query engines on which each Ibis expression is tried, as fixtures."""

import shutil
from importlib.util import find_spec
from typing import Any

import pytest

from resources.duckdb_engine import DuckDBEngine
from resources.ports import QueryEngine
from resources.spark_engine import SparkEngine

# Small, and heard on the loopback interface only.
_SPARK = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="session")
def duckdb_engine() -> QueryEngine:
    """Give the default engine."""
    return DuckDBEngine()


@pytest.fixture(scope="session")
def spark_engine() -> QueryEngine:
    """Give Spark, if it is here."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    return SparkEngine(_SPARK)


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=(pytest.mark.spark, pytest.mark.slow))])
def engine(request: pytest.FixtureRequest) -> Any:
    """Give each engine in turn."""
    return request.getfixturevalue(f"{request.param}_engine")

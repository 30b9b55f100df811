"""The engines on which each Ibis expression of the room is tried."""

from typing import Any

import pytest

from resources.duckdb_engine import DuckDBEngine
from resources.ports import QueryEngine


@pytest.fixture(scope="session")
def duckdb_engine() -> QueryEngine:
    """Give the default engine."""
    return DuckDBEngine()


@pytest.fixture(params=["duckdb"])
def engine(request: pytest.FixtureRequest) -> Any:
    """Give each engine in turn."""
    return request.getfixturevalue(f"{request.param}_engine")

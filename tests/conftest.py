"""Fixtures for all tests: an S3 server, and stores in a folder and in S3."""

import os

# Before anything imports dagster.
os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance

from resources.ports.objects import ObjectStore
from resources.ports.tables import TableStore
from tests.support.engines import duckdb_engine, engine, spark_engine
from tests.support.rig import Rig
from tests.support.s3 import StoreKind, make_store

_S3_SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""

Store = tuple[ObjectStore, TableStore, str]

__all__ = ["duckdb_engine", "engine", "spark_engine"]


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """Give the address of an S3 server on this machine, with the environment set to it."""
    # In a process of its own: delta-rs may hold this process's lock while it waits for the server.
    process = subprocess.Popen(
        [sys.executable, "-c", _S3_SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    endpoint = f"http://127.0.0.1:{process.stdout.readline().strip()}"
    with pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            environment.delenv(name)
        environment.setenv("AWS_ENDPOINT_URL", endpoint)
        environment.setenv("AWS_ACCESS_KEY_ID", "test")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test")
        environment.setenv("AWS_REGION", "us-east-1")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        environment.setenv("AWS_CONFIG_FILE", os.devnull)
        environment.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        environment.setenv("NO_PROXY", "127.0.0.1")
        yield endpoint
    process.communicate()  # the end of its input ends it


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.slow)])
def store_kind(request: pytest.FixtureRequest) -> StoreKind:
    """Say where the store of this test lies; a test that asks for it runs once in each place."""
    kind: StoreKind = request.param
    if kind == "s3":
        request.getfixturevalue("s3_server")
    return kind


@pytest.fixture
def store(store_kind: StoreKind, tmp_path: Path) -> Store:
    """Make an empty store: its objects, its tables, and what ``ISOBATH_STORE`` would say."""
    return make_store(store_kind, tmp_path)


@pytest.fixture
def objects(store: Store) -> ObjectStore:
    """Give the objects of the test's store."""
    return store[0]


@pytest.fixture
def tables(store: Store) -> TableStore:
    """Give the tables of the test's store."""
    return store[1]


@pytest.fixture
def instance() -> Iterator[DagsterInstance]:
    """Give an empty Dagster instance."""
    with DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def rig(store: Store, instance: DagsterInstance) -> Rig:
    """Give a whole Isobath on the test's store."""
    return Rig(objects=store[0], tables=store[1], store=store[2], instance=instance)

"""Stores for tests: the same one in a folder, or in a fresh bucket of a moto server."""

import functools
import os
import uuid
from pathlib import Path
from typing import Any, Literal

import boto3.session
import pytest

from assets.schemas import TABLES
from resources.delta_tables import DeltaTables
from resources.folder_objects import FolderObjects
from resources.ports.objects import ObjectStore
from resources.ports.tables import TableStore
from resources.s3_objects import S3Objects

StoreKind = Literal["folder", "s3"]

# For tests of what is no matter of stores: a test that asks for a store runs in each kind without it.
in_a_folder = pytest.mark.parametrize("store_kind", ["folder"], indirect=True)


def make_store(kind: StoreKind, tmp_path: Path) -> tuple[ObjectStore, TableStore, str]:
    """Make an empty store; give its objects, its tables and what ``ISOBATH_STORE`` would say.

    ``s3`` needs the ``s3_server`` fixture, which sets the environment.
    """
    if kind == "folder":
        root = tmp_path / "store"
        return FolderObjects(root), DeltaTables(str(root / "tables"), TABLES), str(root)
    bucket = f"test-{uuid.uuid4().hex}"
    endpoint = os.environ["AWS_ENDPOINT_URL"]
    client = _client(endpoint)
    client.create_bucket(Bucket=bucket)
    url = f"s3://{bucket}/store"
    tables = DeltaTables(f"{url}/tables", TABLES, storage_options=storage_options(endpoint))
    return S3Objects(bucket, "store", client=client), tables, url


@functools.cache
def _client(endpoint: str) -> Any:
    # Making one takes a third of a second.
    return boto3.session.Session().client("s3", endpoint_url=endpoint)


def storage_options(endpoint: str) -> dict[str, str]:
    """Give what ``deltalake`` must be told about a plain HTTP server."""
    return {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true", "aws_conditional_put": "etag"}

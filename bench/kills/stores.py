"""Stores as others see them: files or S3 objects, and Delta tables. Nothing of ours reads them here."""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import boto3.session
import pyarrow as pa
from deltalake import DeltaTable


class StoreView(Protocol):
    """A store from outside."""

    url: str  # what ISOBATH_STORE says
    environment: Mapping[str, str]  # what a crawl needs to reach it

    def files(self, folder: str) -> dict[str, bytes]:
        """Give all objects below a folder by key."""
        ...

    def unfinished(self) -> list[str]:
        """Name the writes that were begun and not ended."""
        ...

    def table(self, name: str) -> pa.Table | None:
        """Read a table as it is now; None when nobody has written it."""
        ...


class FolderView:
    """A store in a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.url = str(root)
        self.environment: Mapping[str, str] = {}

    def files(self, folder: str) -> dict[str, bytes]:
        """Give all files below a folder by relative path."""
        return {
            str(path.relative_to(self._root)): path.read_bytes()
            for path in sorted((self._root / folder).rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }

    def unfinished(self) -> list[str]:
        """Name the temporary files."""
        return [str(path.relative_to(self._root)) for path in self._root.rglob(".tmp-*")]

    def table(self, name: str) -> pa.Table | None:
        """Read a table."""
        return _table(f"{self.url}/tables/{name}", None)


class S3View:
    """A store in a new bucket of an S3 server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._bucket = f"kills-{uuid.uuid4().hex}"
        self.url = f"s3://{self._bucket}/store"
        self.environment = environment
        self._client = boto3.session.Session().client(
            "s3",
            endpoint_url=environment["AWS_ENDPOINT_URL"],
            aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
            region_name=environment["AWS_REGION"],
        )
        self._client.create_bucket(Bucket=self._bucket)

    def files(self, folder: str) -> dict[str, bytes]:
        """Give all objects below a folder by key."""
        found: dict[str, bytes] = {}
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._bucket, Prefix=f"store/{folder}/"):
            for entry in page.get("Contents", ()):
                body = self._client.get_object(Bucket=self._bucket, Key=entry["Key"])["Body"]
                found[entry["Key"].removeprefix("store/")] = body.read()
        return found

    def unfinished(self) -> list[str]:
        """Name the uploads in parts that are open."""
        answer: dict[str, Any] = self._client.list_multipart_uploads(Bucket=self._bucket)
        return [str(upload["Key"]) for upload in answer.get("Uploads", ())]

    def table(self, name: str) -> pa.Table | None:
        """Read a table."""
        options = {key: value for key, value in self.environment.items() if key.startswith("AWS_")}
        return _table(f"{self.url}/tables/{name}", {**options, "AWS_ALLOW_HTTP": "true"})


def _table(uri: str, options: dict[str, str] | None) -> pa.Table | None:
    if not DeltaTable.is_deltatable(uri, options):
        return None
    return DeltaTable(uri, storage_options=options).to_pyarrow_table()


def scratch_left(folder: Path) -> list[str]:
    """Name what crawls have left in their folder for temporary files.

    Python's own ``pymp-`` folders are left out: they hold the name of a socket that nobody listens on any more.
    """
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("pymp-"))

"""The object store in an S3 bucket, or in anything that speaks S3 with conditional writes."""

import contextlib
import logging
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import boto3.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ResponseStreamingError,
)

from resources.errors import ObjectMissing, StoreUnusable, TransientError
from resources.ports.objects import ObjectInfo, Swept

_log = logging.getLogger(__name__)
_CONNECTIONS: Final = 64
_CONFLICT_TRIES: Final = 6
_NOT_ALLOWED: Final = frozenset({"AccessDenied", "403", "MethodNotAllowed", "405", "NotImplemented", "501"})
_ELSEWHERE: Final = "or set ISOBATH_STORE to another one"


class S3Objects:
    """Objects in a bucket, under a prefix. Safe for many threads and machines.

    boto3 reads the usual ``AWS_*`` environment (``AWS_ENDPOINT_URL``, ``AWS_REGION``, keys, profiles) by itself.
    """

    def __init__(self, bucket: str, prefix: str, *, client: Any = None) -> None:
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        with self._explained(""):
            self._client = client or _new_client()

    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""
        with self._explained(key):
            self._client.put_object(**self._at(key), Body=data)

    def put_file(self, key: str, path: Path) -> None:
        """Publish a local file as an object, in parts when it is large."""
        with path.open("rb") as file, self._explained(key):
            self._client.upload_fileobj(file, **self._at(key))

    def create(self, key: str, data: bytes) -> str | None:
        """Write an object only if none is there; give its etag, or None if one was.

        After an answer that got lost on the way, None may also mean that this very call wrote it.
        """
        return self._put_if(key, data, IfNoneMatch="*")

    def replace(self, key: str, data: bytes, *, etag: str) -> str | None:
        """Write an object only if its etag is still ``etag``; give the new etag, or None (see ``create``)."""
        return self._put_if(key, data, IfMatch=etag)

    def get(self, key: str, *, offset: int = 0, length: int | None = None) -> bytes:
        """Read an object, or ``length`` bytes of it from ``offset``.

        Raises:
            ObjectMissing: no object has this key.
        """
        if not offset and length is None:
            return self.get_tagged(key)[0]
        if length == 0:  # a range cannot say "nothing"
            with self._explained(key):
                self._client.head_object(**self._at(key))
            return b""
        last = "" if length is None else str(offset + length - 1)
        with self._explained(key):
            try:
                answer = self._client.get_object(**self._at(key), Range=f"bytes={offset}-{last}")
            except ClientError as error:
                if _code(error) in ("InvalidRange", "416"):  # past the end, where a file has no bytes either
                    return b""
                raise
            return _body(answer)

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        """Read an object with its etag.

        Raises:
            ObjectMissing: no object has this key.
        """
        with self._explained(key):
            answer = self._client.get_object(**self._at(key))
            return _body(answer), str(answer["ETag"])

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Give the objects whose keys start with ``prefix``, in key order."""
        with self._explained(prefix):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix + prefix):
                for entry in page.get("Contents", ()):
                    key = str(entry["Key"]).removeprefix(self._prefix)
                    # Consoles make empty objects with such names to show folders.
                    if key and not key.endswith("/"):
                        yield ObjectInfo(key=key, size_bytes=int(entry["Size"]), modified_at=entry["LastModified"])

    def delete(self, key: str) -> None:
        """Remove an object; removing none is no error."""
        with self._explained(key):
            self._client.delete_object(**self._at(key))

    def sweep(self, prefix: str) -> Swept:
        """Abort the uploads in parts that are open under a prefix: those of ``put_file`` calls that were killed.

        Where the credentials or the server do not allow that, it is logged and nothing is swept.
        """
        swept = Swept()
        with self._explained(prefix):
            try:
                pages = self._client.get_paginator("list_multipart_uploads")
                for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix + prefix):
                    for upload in page.get("Uploads", ()):
                        swept += self._aborted({"Bucket": self._bucket, "Key": upload["Key"]}, upload["UploadId"])
            except ClientError as error:
                if _code(error) not in _NOT_ALLOWED:
                    raise
                _log.warning(
                    "Unfinished uploads under s3://%s/%s%s stay (%s): allow s3:ListBucketMultipartUploads, "
                    "s3:ListMultipartUploadParts and s3:AbortMultipartUpload, or let a lifecycle rule remove them",
                    self._bucket,
                    self._prefix,
                    prefix,
                    _code(error),
                )
        return swept

    def _aborted(self, at: dict[str, str], upload_id: str) -> Swept:
        """Abort an upload; one that has ended by itself meanwhile counts as nothing."""
        try:
            pages = self._client.get_paginator("list_parts").paginate(**at, UploadId=upload_id)
            size_bytes = sum(int(part["Size"]) for page in pages for part in page.get("Parts", ()))
            self._client.abort_multipart_upload(**at, UploadId=upload_id)
        except ClientError as error:
            if _code(error) == "NoSuchUpload":
                return Swept()
            raise
        return Swept(1, size_bytes)

    def location(self, key: str) -> str:
        """Say where an object, or what lies under a prefix that ends in a slash, is: an ``s3://`` URI."""
        slash = "/" if key.endswith("/") else ""
        return "s3://{Bucket}/{Key}".format(**self._at(key.removesuffix("/"))) + slash

    def check(self) -> None:
        """Make sure that the store can be written and keeps conditions, by writing and removing a small object.

        Raises:
            StoreUnusable: with one sentence that says why and what to do.
        """
        probe = f"probe-{uuid.uuid4().hex}"
        self.put(probe, b"probe")
        written_twice = self.create(probe, b"probe")
        self.delete(probe)
        if written_twice is not None:
            raise StoreUnusable(
                f"The S3 server of bucket '{self._bucket}' ignores If-None-Match, so two runs could crawl one site at "
                f"once: use a server that keeps conditional writes, {_ELSEWHERE}."
            )

    def _at(self, key: str) -> dict[str, str]:
        if "\0" in key or any(part in ("", ".", "..") for part in key.split("/")):
            raise ValueError(f"not an object key: {key!r}")
        return {"Bucket": self._bucket, "Key": self._prefix + key}

    def _put_if(self, key: str, data: bytes, **condition: str) -> str | None:
        for attempt in range(_CONFLICT_TRIES):
            with self._explained(key):
                try:
                    return str(self._client.put_object(**self._at(key), Body=data, **condition)["ETag"])
                except ClientError as error:
                    if _code(error) in ("PreconditionFailed", "412", "NoSuchKey", "404"):
                        return None
                    # Another write of this key is under way and either may win: S3 asks us to come again.
                    if _code(error) not in ("ConditionalRequestConflict", "409"):
                        raise
            time.sleep(0.05 * 2**attempt)
        raise TransientError(f"other writers were busy with {self.location(key)} on {_CONFLICT_TRIES} tries")

    @contextlib.contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        """Turn what boto3 raises into our errors."""
        try:
            yield
        except ClientError as error:
            raise self._told_by_server(key, error) from error
        except (EndpointConnectionError, ConnectTimeoutError) as error:
            raise StoreUnusable(
                f"The S3 server of bucket '{self._bucket}' cannot be reached ({error}): "
                f"check the network and AWS_ENDPOINT_URL, {_ELSEWHERE}."
            ) from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise StoreUnusable(
                f"There are no credentials for bucket '{self._bucket}' ({error}): set AWS_ACCESS_KEY_ID and "
                f"AWS_SECRET_ACCESS_KEY or AWS_PROFILE, {_ELSEWHERE}."
            ) from error
        except NoRegionError as error:
            raise StoreUnusable(f"The region of bucket '{self._bucket}' is not known: set AWS_REGION.") from error
        except (HTTPClientError, IncompleteReadError, ResponseStreamingError) as error:
            raise TransientError(f"s3://{self._bucket}/{self._prefix}{key}: {error}") from error
        except BotoCoreError as error:
            raise StoreUnusable(
                f"The bucket '{self._bucket}' cannot be used ({' '.join(str(error).split())}): "
                f"check the AWS_* settings, {_ELSEWHERE}."
            ) from error

    def _told_by_server(self, key: str, error: ClientError) -> Exception:
        code = _code(error)
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if code in ("NoSuchKey", "404"):
            return ObjectMissing(f"no object {self.location(key)}")
        if code == "NoSuchBucket":
            return StoreUnusable(f"The bucket '{self._bucket}' does not exist: create it {_ELSEWHERE}.")
        if status in (401, 403):
            return StoreUnusable(
                f"The bucket '{self._bucket}' refuses these credentials ({code}): allow them to list, read, write and "
                f"delete under '{self._prefix}', {_ELSEWHERE}."
            )
        if status in (301, 307) or code == "AuthorizationHeaderMalformed":
            return StoreUnusable(f"The bucket '{self._bucket}' is in another region ({error}): set AWS_REGION to it.")
        if status in (408, 429) or status >= 500:
            return TransientError(f"s3://{self._bucket}/{self._prefix}{key}: {error}")
        return StoreUnusable(
            f"The bucket '{self._bucket}' cannot be used ({error}): check the AWS_* settings, {_ELSEWHERE}."
        )


def _new_client() -> Any:
    config = Config(
        retries={"mode": "standard", "max_attempts": 5}, connect_timeout=10, max_pool_connections=_CONNECTIONS
    )
    try:
        return boto3.session.Session().client("s3", config=config)
    except ValueError as error:
        raise StoreUnusable(f"The S3 settings cannot be used ({error}): check AWS_ENDPOINT_URL.") from error


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _body(answer: dict[str, Any]) -> bytes:
    with contextlib.closing(answer["Body"]) as stream:
        return bytes(stream.read())

"""The object store: bytes under keys, in a folder or an S3 bucket."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """One stored object."""

    key: str
    size_bytes: int
    modified_at: datetime | None = None  # by the store's clock; None where it does not tell


@dataclass(frozen=True, slots=True)
class Swept:
    """What was found lying about and removed."""

    count: int = 0
    size_bytes: int = 0

    def __add__(self, other: "Swept") -> "Swept":
        return Swept(self.count + other.count, self.size_bytes + other.size_bytes)


@runtime_checkable
class ObjectStore(Protocol):
    """Bytes under ``/``-separated keys. Every write is atomic: readers see all of an object or none.

    Etags are opaque; they change whenever the content does.
    """

    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""
        ...

    def put_file(self, key: str, path: Path) -> None:
        """Publish a local file as an object; the local file stays."""
        ...

    def create(self, key: str, data: bytes) -> str | None:
        """Write an object only if none is there; give its etag, or None if one was."""
        ...

    def replace(self, key: str, data: bytes, *, etag: str) -> str | None:
        """Write an object only if its etag is still ``etag``; give the new etag, or None."""
        ...

    def get(self, key: str, *, offset: int = 0, length: int | None = None) -> bytes:
        """Read an object, or ``length`` bytes of it from ``offset``.

        Raises:
            ObjectMissing: no object has this key.
        """
        ...

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        """Read an object with its etag.

        Raises:
            ObjectMissing: no object has this key.
        """
        ...

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Give the objects whose keys start with ``prefix``, in key order."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object; removing none is no error."""
        ...

    def sweep(self, prefix: str) -> Swept:
        """Remove what writers that are gone have left unfinished under a prefix; no object is touched.

        The caller makes sure that no other ``put_file`` is under way there: not every store can tell who lives.
        """
        ...

    def location(self, key: str) -> str:
        """Say where an object, or what lies under a prefix ending in ``/``, is: an absolute path or ``s3://`` URI."""
        ...

    def check(self) -> None:
        """Make sure that the store can be written, by writing and removing a small object.

        Raises:
            StoreUnusable: with one sentence that says why and what to do.
        """
        ...

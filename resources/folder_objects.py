"""The object store in a folder: keys are relative paths. Nothing here knows what the objects mean."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from resources.errors import ObjectMissing, StoreUnusable
from resources.ports.objects import ObjectInfo, Swept

_TEMPORARY: Final = ".tmp-"
_LOCKS: Final = ".locks"
_COPY_BYTES: Final = 1024 * 1024


class FolderObjects:
    """Objects as files. Safe for many threads and processes on one file system that has ``flock`` and hard links.

    A write goes to a temporary name in the same folder, is synced, and then takes the key's name in one step. It is
    locked meanwhile: a temporary file that nobody locks was left by a process that died.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()

    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""
        with self._temporary(key, lambda file: file.write(data)) as (temporary, target), self._locked(key):
            temporary.replace(target)

    def put_file(self, key: str, path: Path) -> None:
        """Publish a copy of a local file as an object."""
        with (
            path.open("rb") as source,
            self._temporary(key, lambda file: shutil.copyfileobj(source, file, _COPY_BYTES)) as (temporary, target),
            self._locked(key),
        ):
            temporary.replace(target)

    def create(self, key: str, data: bytes) -> str | None:
        """Write an object only if none is there; give its etag, or None if one was."""
        with self._temporary(key, lambda file: file.write(data)) as (temporary, target):
            try:
                # A link fails when the name is taken, and shows the whole content at once.
                target.hardlink_to(temporary)
            except FileExistsError:
                return None
        return _etag(data)

    def replace(self, key: str, data: bytes, *, etag: str) -> str | None:
        """Write an object only if its etag is still ``etag``; give the new etag, or None."""
        path = self._path(key)
        with self._locked(key):
            if not path.is_file() or _etag(path.read_bytes()) != etag:
                return None
            with self._temporary(key, lambda file: file.write(data)) as (temporary, target):
                temporary.replace(target)
        return _etag(data)

    def get(self, key: str, *, offset: int = 0, length: int | None = None) -> bytes:
        """Read an object, or ``length`` bytes of it from ``offset``.

        Raises:
            ObjectMissing: no object has this key.
        """
        try:
            with self._explained("read"), self._path(key).open("rb") as file:
                file.seek(offset)
                return file.read() if length is None else file.read(length)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise ObjectMissing(f"no object {self.location(key)}") from error

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        """Read an object with its etag.

        Raises:
            ObjectMissing: no object has this key.
        """
        data = self.get(key)
        return data, _etag(data)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Give the objects whose keys start with ``prefix``, in key order."""
        parent = prefix.rpartition("/")[0]
        # No key has such a part, and the walk must not leave the root.
        if parent and not _is_key(parent):
            return
        yield from self._walk(parent and f"{parent}/", prefix)

    def delete(self, key: str) -> None:
        """Remove an object; removing none is no error."""
        path = self._path(key)
        if path.is_file():
            with self._locked(key):
                path.unlink(missing_ok=True)

    def sweep(self, prefix: str) -> Swept:
        """Remove what writers that are gone have left unfinished under a prefix; those that live are left alone."""
        parent = prefix.rpartition("/")[0]
        swept = Swept()
        if parent and not _is_key(parent):
            return swept
        with self._explained("written"):
            for folder, _, files in os.walk(self._root / parent, onerror=_raise_unless_gone, followlinks=True):
                for name in files:
                    path = Path(folder, name)
                    if name.startswith(_TEMPORARY) and str(path.relative_to(self._root)).startswith(prefix):
                        swept += _swept(path)
        return swept

    def location(self, key: str) -> str:
        """Say where an object, or what lies under a prefix that ends in a slash, is: an absolute path."""
        return str(self._path(key.removesuffix("/")))

    def check(self) -> None:
        """Make sure that the store can be written, by writing and removing a small object.

        Raises:
            StoreUnusable: with one sentence that says why and what to do.
        """
        probe = f"probe-{uuid.uuid4().hex}"
        self.put(probe, b"probe")
        self.delete(probe)

    def _path(self, key: str) -> Path:
        if not _is_key(key):
            raise ValueError(f"not an object key: {key!r}")
        return self._root / key

    def _walk(self, folder: str, prefix: str) -> Iterator[ObjectInfo]:
        """Give the objects below ``folder`` (empty, or ending in a slash) whose keys start with ``prefix``."""
        try:
            with self._explained("read"), os.scandir(self._root / folder) as entries:
                # S3 compares whole keys: the slash after a folder's name takes part.
                found = sorted((folder + entry.name + "/" * entry.is_dir(), entry) for entry in entries)
        except FileNotFoundError:
            return  # never written, or removed since
        except NotADirectoryError as error:
            if folder:
                return
            raise self._unusable("read", error) from error
        for key, entry in found:
            if not _is_key(key.removesuffix("/")):
                continue
            if key.endswith("/"):
                if key.startswith(prefix) or prefix.startswith(key):
                    yield from self._walk(key, prefix)
            elif key.startswith(prefix):
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat()
                    modified_at = datetime.fromtimestamp(status.st_mtime, UTC)
                    yield ObjectInfo(key=key, size_bytes=status.st_size, modified_at=modified_at)

    @contextlib.contextmanager
    def _temporary(self, key: str, fill: Callable[[BinaryIO], object]) -> Iterator[tuple[Path, Path]]:
        """Give a filled and synced temporary file beside the key's path, and that path; remove what is left of it."""
        target = self._path(key)
        with self._explained("written"):
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary, file = _new_temporary(target.parent)
            try:
                with file:
                    fill(file)
                    file.flush()
                    os.fsync(file.fileno())
                    yield temporary, target
            finally:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """Hold the lock that all writers of a key share, but ``create``, which cannot harm a ``replace``."""
        folder = self._root / _LOCKS
        with self._explained("written"):
            folder.mkdir(parents=True, exist_ok=True)
            # 256 locks serve all keys, so that locks do not double the number of files.
            with (folder / hashlib.sha256(key.encode()).hexdigest()[:2]).open("ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield

    @contextlib.contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        """Turn what the file system refuses into a sentence; a missing file, when reading, is the caller's."""
        try:
            yield
        except OSError as error:
            if verb == "read" and isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError):
                raise
            raise self._unusable(verb, error) from error

    def _unusable(self, verb: str, error: OSError) -> StoreUnusable:
        return StoreUnusable(
            f"The folder '{self._root}' cannot be {verb} ({error.strerror}): "
            "make room and give access there, or set ISOBATH_STORE to another one."
        )


def _is_key(key: str) -> bool:
    """Say whether a key is a plain relative path that cannot meet a name of our own.

    >>> _is_key("raw/site=a.b/1.warc.gz"), _is_key("../a"), _is_key("/a"), _is_key("a//b"), _is_key(".locks/a")
    (True, False, False, False, False)
    """
    return "\0" not in key and not any(
        part in ("", ".", "..", _LOCKS) or part.startswith(_TEMPORARY) for part in key.split("/")
    )


def _new_temporary(folder: Path) -> tuple[Path, BinaryIO]:
    """Make a locked temporary file."""
    while True:
        path = folder / f"{_TEMPORARY}{uuid.uuid4().hex}"
        file = path.open("xb")
        fcntl.flock(file, fcntl.LOCK_EX)
        # A sweep that came between the two lines above has removed it.
        if os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()


def _raise_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _swept(path: Path) -> Swept:
    """Remove a temporary file unless its writer lives or has just finished."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
            return Swept(1, os.fstat(file.fileno()).st_size)
    except (BlockingIOError, FileNotFoundError):
        return Swept()


def _etag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

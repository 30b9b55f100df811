"""Leftovers of killed runs: what they were writing when they died, found and removed. What is published stays.

A run builds its WARC files in a scratch folder that it keeps locked. The lock ends with its process, however that
ends: a scratch folder that can be locked has no owner. Files that were published without their rows are no leftovers:
``layer_files`` takes them up.
"""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from assets import names
from resources.ports import ObjectStore
from resources.ports.objects import Swept

SCRATCH_PREFIX: Final = "isobath-scratch-"


class Sweeper:
    """Sweeps for all sites of a run; each leftover is counted for one site. Safe for many threads."""

    def __init__(self, objects: ObjectStore, temporary: Path) -> None:
        """Sweep a store, and the folder in which runs have their scratch folders."""
        self._objects = objects
        self._temporary = temporary
        self._lock = threading.Lock()
        self._swept_for_all = False

    def sweep_leftovers(self, site: str) -> Swept:
        """Sweep what killed runs left of a site, and at the first call what belongs to no site.

        The caller holds the site's lease, so nobody else uploads files of it.
        """
        swept = Swept()
        with self._lock:
            if not self._swept_for_all:
                swept += sweep_scratch_folders(self._temporary) + self._objects.sweep("leases/")
                self._swept_for_all = True
        for prefix in (f"raw/site={site}/", names.feed_prefix(site), f"reports/{site}/"):
            swept += self._objects.sweep(prefix)
        return swept


def swept_metadata(swept: Swept) -> dict[str, Any]:
    """Say what was swept, if anything was."""
    return {"leftovers_swept": swept.count, "leftovers_swept_bytes": swept.size_bytes} if swept.count else {}


@contextlib.contextmanager
def scratch_folder(temporary: Path) -> Iterator[Path]:
    """Give a new folder for files under construction, locked as long as it is in use, and remove it at the end.

    Args:
        temporary: the folder in which it is made.
    """
    path, lock = _locked_folder(temporary)
    try:
        yield path
    finally:
        # Removed before it is unlocked: nobody else may count it as a leftover.
        shutil.rmtree(path)
        os.close(lock)


def sweep_scratch_folders(temporary: Path) -> Swept:
    """Remove the scratch folders of this user on this machine whose owners are gone; count the files in them."""
    swept = Swept()
    for path in temporary.glob(f"{SCRATCH_PREFIX}*"):
        # Others on a shared machine have folders of that name too, and may try it with links.
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError, BlockingIOError):
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                swept += _swept_folder(path)
    return swept


def _locked_folder(temporary: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=SCRATCH_PREFIX, dir=temporary))
        # A sweeper may come before the lock and remove the folder: then another one is made.
        with contextlib.suppress(FileNotFoundError):
            lock = _opened(path)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists():
                return path, lock
            os.close(lock)


def _swept_folder(path: Path) -> Swept:
    lock = _opened(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sizes = [file.lstat().st_size for file in path.rglob("*") if not file.is_dir()]
        shutil.rmtree(path)
    finally:
        os.close(lock)
    # A run that was killed before its first page leaves an empty folder: that is a leftover as well.
    return Swept(max(len(sizes), 1), sum(sizes))


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)

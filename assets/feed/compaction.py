"""Compaction: a snapshot that stands for all batches of a log, so that neither log nor replay grows with its history.

A snapshot puts every live document and removes every document that was ever live, so whoever is at any earlier batch
gets to the same set by applying it.
"""

import gzip
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Final

from assets import names
from assets.feed.difference import Fed, after, digests_of, set_digest
from assets.feed.log import BatchLog, Bounds, Head, head_line, line_of
from resources.errors import PermanentError
from resources.ports import FeedBatch

# A log is compacted when it holds more than twice as many changes as documents live, those of its snapshot among them:
# half of it says nothing any more, and what a snapshot writes is never more than was fed since the last one.
CHANGES_MIN: Final = 1_000


def is_due(head: Head | None, bounds: Bounds) -> bool:
    """Say whether a log has grown so much that a snapshot is worth its bytes."""
    if head is None:
        return False
    held = head.changes + (head.documents if bounds.snapshot else 0)
    return held > max(CHANGES_MIN, 2 * head.documents)


def compact(log: BatchLog) -> int:
    """Write a snapshot of a log and remove the batches that it stands for; give its number, 0 for an empty log.

    A crash leaves a log that says the same. Nobody else may compact the site's log meanwhile.

    Raises:
        PermanentError: the log does not add up to what its last batch says.
    """
    bounds = log.bounds()
    if bounds.last > bounds.snapshot:
        _write(log, bounds)
    _remove_old(log, bounds.last)
    return bounds.last


def _write(log: BatchLog, bounds: Bounds) -> None:
    last, head = bounds.last, log.head(bounds)
    put_by: dict[str, int] = {}  # the batch that put each document last; 0 for those that are gone
    fed: Fed = {}
    for batch in _until(log, last):
        fed = after(fed, batch)
        put_by |= {document.document_id: batch.sequence for document in batch.upserts}
        put_by |= dict.fromkeys(batch.tombstones, 0)
    digest = set_digest(digests_of(fed))
    if head is not None and head.set_digest != digest:
        raise PermanentError(f"the feed log of {log.site} does not add up to what batch {last} says: it was changed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot"
        with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
            file.write(head_line(Head(log.site, last, True, len(fed), digest, 0)).encode())
            for batch in _until(log, last):
                live = tuple(one for one in batch.upserts if put_by[one.document_id] == batch.sequence)
                kept = replace(batch, upserts=live, tombstones=())
                file.writelines(line_of(change).encode() for change in kept.changes())
            gone = tuple(sorted(document_id for document_id, sequence in put_by.items() if not sequence))
            file.writelines(line_of(change).encode() for change in FeedBatch(log.site, last, (), gone).changes())
        log.objects.put_file(log.key(last, is_snapshot=True), path)


def _until(log: BatchLog, last: int) -> Iterator[FeedBatch]:
    """Give the batches up to a number: another run may append more meanwhile."""
    return takewhile(lambda batch: batch.sequence <= last, log.since(0))


def _remove_old(log: BatchLog, snapshot: int) -> None:
    """Remove what a snapshot stands for, oldest first."""
    kept = log.key(snapshot, is_snapshot=True)
    for info in list(log.objects.list(names.feed_prefix(log.site))):
        stem = info.key.removeprefix(names.feed_prefix(log.site)).partition(".")[0]
        if info.key != kept and stem.isdecimal() and int(stem) <= snapshot:
            log.objects.delete(info.key)

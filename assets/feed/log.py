"""The batch log of a site: its feed batches as objects, written once each, numbered without gaps.

A batch is gzipped NDJSON. Its first line tells what the batches up to it add up to; each further line is a change:
``{"op": "upsert", "document": {...}}`` or ``{"op": "tombstone", "document_id": "..."}``. The same batch is always the
same bytes. Batches that a snapshot stands for are gone from the log.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final

from assets import names
from resources.errors import ObjectMissing
from resources.ports import FeedBatch, IndexDocument, ObjectStore

_SUFFIX: Final = ".ndjson.gz"
_SNAPSHOT_SUFFIX: Final = ".snapshot.ndjson.gz"
_HEAD_BYTES: Final = 4_096
_HEAD_START: Final = b'{"op":"batch"'


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of a batch: what all batches up to it add up to. Older batches have none."""

    site: str
    sequence: int
    is_snapshot: bool
    documents: int  # live
    set_digest: str  # of them
    changes: int  # since the last snapshot


@dataclass(frozen=True, slots=True)
class Bounds:
    """What there is of a log."""

    snapshot: int  # number of the newest snapshot; 0 when there is none
    last: int  # number of the last batch; 0 when there is none
    missing: tuple[int, ...] = ()  # numbers that should be there and are not


def encoded(batch: FeedBatch, head: Head) -> bytes:
    """Write a batch as gzipped NDJSON."""
    lines = [head_line(head), *map(line_of, batch.changes())]
    return gzip.compress("".join(lines).encode(), mtime=0)


def head_line(head: Head) -> str:
    """Write the first line of a batch."""
    return line_of({"op": "batch", **asdict(head)})


def line_of(change: Mapping[str, Any]) -> str:
    """Write a change as a line."""
    return json.dumps(change, ensure_ascii=False, separators=(",", ":")) + "\n"


def decoded(site: str, sequence: int, data: bytes) -> FeedBatch:
    """Read a batch back.

    Raises:
        ValueError: the bytes are no batch.
    """
    upserts: list[IndexDocument] = []
    tombstones: list[str] = []
    is_snapshot = False
    # Only "\n" ends a line: str.splitlines would also cut at U+2028 inside a text.
    for line in gzip.decompress(data).split(b"\n")[:-1]:
        change = json.loads(line)
        if change["op"] == "upsert":
            upserts.append(document_of(change["document"]))
        elif change["op"] == "tombstone":
            tombstones.append(change["document_id"])
        elif change["op"] == "batch":
            is_snapshot = change["is_snapshot"]
        else:
            raise ValueError(f"unknown change {change['op']!r} in batch {sequence} of {site}")
    return FeedBatch(site, sequence, tuple(upserts), tuple(tombstones), is_snapshot)


def document_of(told: Mapping[str, Any]) -> IndexDocument:
    """Read a document back; JSON has lists where it has tuples."""
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    return IndexDocument(**values)


def replay(
    batches: Iterable[FeedBatch], held: Mapping[str, IndexDocument] = MappingProxyType({})
) -> dict[str, IndexDocument]:
    """Do what a consumer does: apply batches in order to what it holds; give what remains, by id."""
    held = dict(held)
    for batch in batches:
        held |= {document.document_id: document for document in batch.upserts}
        for document_id in batch.tombstones:
            held.pop(document_id, None)
    return held


@dataclass(frozen=True, slots=True)
class BatchLog:
    """The batches of one site in the object store."""

    objects: ObjectStore
    site: str

    def key(self, sequence: int, *, is_snapshot: bool = False) -> str:
        """Name the object of a batch."""
        suffix = _SNAPSHOT_SUFFIX if is_snapshot else _SUFFIX
        return f"{names.feed_prefix(self.site)}{sequence:010d}{suffix}"

    def bounds(self) -> Bounds:
        """Say what there is."""
        prefix = names.feed_prefix(self.site)
        found = [info.key.removeprefix(prefix) for info in self.objects.list(prefix)]
        snapshot = max(_numbers(found, _SNAPSHOT_SUFFIX), default=0)
        later = {number for number in _numbers(found, _SUFFIX) if number > snapshot}
        last = max(later, default=snapshot)
        return Bounds(snapshot, last, tuple(number for number in range(snapshot + 1, last) if number not in later))

    def last(self) -> int:
        """Give the number of the last batch; 0 when there is none."""
        return self.bounds().last

    def head(self, bounds: Bounds) -> Head | None:
        """Read what all batches add up to; None when there are none, or the last one is too old to say."""
        if not bounds.last:
            return None
        data = self.objects.get(self.key(bounds.last, is_snapshot=bounds.last == bounds.snapshot), length=_HEAD_BYTES)
        line = zlib.decompressobj(wbits=31).decompress(data).partition(b"\n")[0]
        if not line.startswith(_HEAD_START):
            return None
        told = json.loads(line)
        del told["op"]
        return Head(**told)

    def since(self, sequence: int) -> Iterator[FeedBatch]:
        """Give what came after a number, in order, one batch at a time; first a snapshot if that number is before it.

        Raises:
            ObjectMissing: a batch is gone from the middle of the log.
        """
        bounds = self.bounds()
        while sequence < bounds.last:
            is_snapshot = sequence < bounds.snapshot
            number = bounds.snapshot if is_snapshot else sequence + 1
            try:
                data = self.objects.get(self.key(number, is_snapshot=is_snapshot))
            except ObjectMissing:
                # A snapshot may have taken its place since the log was listed.
                bounds = self.bounds()
                if bounds.snapshot < number + is_snapshot:
                    raise
                continue
            yield decoded(self.site, number, data)
            sequence = number

    def append(self, batch: FeedBatch, head: Head) -> bool:
        """Write a batch; False when its number is taken."""
        return self.objects.create(self.key(batch.sequence), encoded(batch, head)) is not None


def _numbers(found: Iterable[str], suffix: str) -> list[int]:
    stems = (name.removesuffix(suffix) for name in found if name.endswith(suffix))
    return [int(stem) for stem in stems if stem.isdecimal()]

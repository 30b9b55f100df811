"""The batch log of a site: its feed batches as objects, written once each, numbered without gaps.

A batch is gzipped NDJSON, one change a line: ``{"op": "upsert", "document": {...}}`` or
``{"op": "tombstone", "document_id": "..."}``. The same batch is always the same bytes.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from assets import names
from resources.ports import FeedBatch, IndexDocument, ObjectStore

_SUFFIX: Final = ".ndjson.gz"


def encoded(batch: FeedBatch) -> bytes:
    """Write a batch as gzipped NDJSON."""
    changes: list[dict[str, Any]] = [{"op": "upsert", "document": asdict(document)} for document in batch.upserts]
    changes += [{"op": "tombstone", "document_id": document_id} for document_id in batch.tombstones]
    lines = (json.dumps(change, ensure_ascii=False, separators=(",", ":")) + "\n" for change in changes)
    return gzip.compress("".join(lines).encode(), mtime=0)


def decoded(site: str, sequence: int, data: bytes) -> FeedBatch:
    """Read a batch back.

    Raises:
        ValueError: the bytes are no batch.
    """
    upserts: list[IndexDocument] = []
    tombstones: list[str] = []
    # Only "\n" ends a line: str.splitlines would also cut at U+2028 inside a text.
    for line in gzip.decompress(data).split(b"\n")[:-1]:
        change = json.loads(line)
        if change["op"] == "upsert":
            upserts.append(IndexDocument(**change["document"]))
        elif change["op"] == "tombstone":
            tombstones.append(change["document_id"])
        else:
            raise ValueError(f"unknown change {change['op']!r} in batch {sequence} of {site}")
    return FeedBatch(site=site, sequence=sequence, upserts=tuple(upserts), tombstones=tuple(tombstones))


@dataclass(frozen=True, slots=True)
class BatchLog:
    """The batches of one site in the object store."""

    objects: ObjectStore
    site: str

    def key(self, sequence: int) -> str:
        """Name the object of a batch."""
        return f"{names.feed_prefix(self.site)}{sequence:010d}{_SUFFIX}"

    def last(self) -> int:
        """Give the number of the last batch; 0 when there is none."""
        prefix = names.feed_prefix(self.site)
        stems = (info.key.removeprefix(prefix).removesuffix(_SUFFIX) for info in self.objects.list(prefix))
        return max((int(stem) for stem in stems if stem.isdecimal()), default=0)

    def since(self, sequence: int) -> Iterator[FeedBatch]:
        """Give the batches after a number, in order, one at a time.

        Raises:
            ObjectMissing: a batch is gone from the middle of the log.
        """
        for number in range(sequence + 1, self.last() + 1):
            yield decoded(self.site, number, self.objects.get(self.key(number)))

    def append(self, batch: FeedBatch) -> bool:
        """Write a batch; False when its number is taken."""
        return self.objects.create(self.key(batch.sequence), encoded(batch)) is not None

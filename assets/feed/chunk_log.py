"""The chunk log of a site: batches of chunks as objects, numbered without gaps, in the form of the feed's own batches.

The first line tells which batch of the feed it reaches; each further line is ``{"op": "upsert", "chunk": {...}}`` or
``{"op": "tombstone", "chunk_id": "..."}``.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from assets import names
from assets.feed.chunking import Chunk
from assets.feed.log import line_of
from resources.ports import ObjectStore

_SUFFIX: Final = ".ndjson.gz"


@dataclass(frozen=True, slots=True)
class ChunkHead:
    """The first line of a batch of chunks."""

    site: str
    sequence: int
    feed_sequence: int  # the batch of the feed that it and those before it follow
    rules: str  # how documents were cut


@dataclass(frozen=True, slots=True)
class ChunkBatch:
    """One numbered difference of chunks."""

    head: ChunkHead
    upserts: tuple[Chunk, ...] = ()
    tombstones: tuple[str, ...] = ()  # chunk ids

    def lines(self) -> Iterator[str]:
        """Write it, a change a line."""
        yield line_of({"op": "batch", **asdict(self.head)})
        yield from (line_of({"op": "upsert", "chunk": asdict(chunk)}) for chunk in self.upserts)
        yield from (line_of({"op": "tombstone", "chunk_id": chunk_id}) for chunk_id in self.tombstones)


@dataclass(frozen=True, slots=True)
class ChunkLog:
    """The batches of chunks of one site."""

    objects: ObjectStore
    site: str

    def key(self, sequence: int) -> str:
        """Name the object of a batch."""
        return f"{names.chunks_prefix(self.site)}{sequence:010d}{_SUFFIX}"

    def last(self) -> int:
        """Give the number of the last batch; 0 when there is none."""
        prefix = names.chunks_prefix(self.site)
        stems = (info.key.removeprefix(prefix).removesuffix(_SUFFIX) for info in self.objects.list(prefix))
        return max((int(stem) for stem in stems if stem.isdecimal()), default=0)

    def since(self, sequence: int) -> Iterator[ChunkBatch]:
        """Give the batches after a number, in order, one at a time.

        Raises:
            ObjectMissing: a batch is gone from the middle of the log.
        """
        for number in range(sequence + 1, self.last() + 1):
            yield _decoded(gzip.decompress(self.objects.get(self.key(number))))

    def append(self, batch: ChunkBatch) -> bool:
        """Write a batch; False when its number is taken."""
        data = gzip.compress("".join(batch.lines()).encode(), mtime=0)
        return self.objects.create(self.key(batch.head.sequence), data) is not None


def _decoded(data: bytes) -> ChunkBatch:
    first, *changes = (json.loads(line) for line in data.split(b"\n")[:-1])
    del first["op"]
    upserts = tuple(_chunk(change["chunk"]) for change in changes if change["op"] == "upsert")
    return ChunkBatch(ChunkHead(**first), upserts, tuple(one["chunk_id"] for one in _of(changes, "tombstone")))


def _of(changes: Iterable[dict[str, Any]], op: str) -> Iterator[dict[str, Any]]:
    return (change for change in changes if change["op"] == op)


def _chunk(told: dict[str, Any]) -> Chunk:
    return Chunk(**{**told, "headings": tuple(told["headings"])})

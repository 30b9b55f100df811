"""Stored bodies: payloads read back from WARC objects by their places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from warcio.archiveiterator import ArchiveIterator

from assets.warc.member import DamagedMember, unpack_member
from assets.warc.records import Place
from assets.warc.writing import FACTS_URI
from resources.errors import DamagedArchive
from resources.ports import ObjectStore

READ_AHEAD_BYTES: Final = 8 * 1024 * 1024
MAX_GAP_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class StoredBody:
    """What a server once answered: headers as received, body with its content-encoding kept."""

    url: str
    http_headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Give the first value of a header, its name in any case."""
        wanted = name.lower()
        return next((value for key, value in self.http_headers if key.lower() == wanted), None)


def read_body(objects: ObjectStore, file: str, offset: int, length: int) -> StoredBody:
    """Read one capture.

    Raises:
        ObjectMissing: the WARC object is not there.
        DamagedArchive: the bytes at that place are not one whole response record.
    """
    return stored_body(objects.get(file, offset=offset, length=length), f"{file} at offset {offset}")


def read_bodies(objects: ObjectStore, places: Sequence[Place]) -> Iterator[StoredBody]:
    """Read many captures in the given order; neighbours in one file cost one read.

    Raises:
        ObjectMissing: a WARC object is not there.
        DamagedArchive: the bytes at a place are not one whole response record.
    """
    for place, member in zip(places, read_members(objects, places), strict=True):
        yield stored_body(member, f"{place.file} at offset {place.offset}")


def read_members(objects: ObjectStore, places: Sequence[Place]) -> Iterator[bytes]:
    """Read the gzip members of many records in the given order, unopened; neighbours in one file cost one read.

    Raises:
        ObjectMissing: a WARC object is not there.
    """
    start = 0
    while start < len(places):
        first = places[start]
        stop, end = start + 1, first.offset + first.length
        while stop < len(places):
            following = places[stop]
            near = following.file == first.file and 0 <= following.offset - end <= MAX_GAP_BYTES
            if not near or following.offset + following.length - first.offset > READ_AHEAD_BYTES:
                break
            end, stop = following.offset + following.length, stop + 1
        data = objects.get(first.file, offset=first.offset, length=end - first.offset)
        for place in places[start:stop]:
            begin = place.offset - first.offset
            yield data[begin : begin + place.length]
        start = stop


def read_facts(data: bytes, name: str) -> bytes:
    """Give the facts of a whole WARC object: the block of its last metadata record.

    Raises:
        DamagedArchive: there is none, so the file was never sealed.
    """
    block: bytes | None = None
    for record in ArchiveIterator(BytesIO(data), no_record_parse=True):
        if record.rec_headers.get_header("WARC-Target-URI") == FACTS_URI:
            block = record.raw_stream.read()
    if block is None:
        raise DamagedArchive(f"{name} holds no facts record: it was not written by a whole batch")
    return block


def stored_body(member: bytes, where: str) -> StoredBody:
    """Open the gzip member of a response record.

    Args:
        member: all of it.
        where: it lies, for the error.

    Raises:
        DamagedArchive: the bytes are not one whole response record.
    """
    try:
        record = unpack_member(member)
    except DamagedMember as error:
        raise DamagedArchive(f"{where}: {error}") from error
    kind = record.fields.get("warc-type", "")
    head, separator, body = record.block.partition(b"\r\n\r\n")
    if kind != "response" or not separator:
        raise DamagedArchive(f"{where}: a {kind or 'nameless'} record, not a response")
    pairs = (line.partition(":") for line in head.decode("iso-8859-1").split("\r\n")[1:])
    headers = tuple((name, value.strip()) for name, _, value in pairs)
    return StoredBody(record.fields.get("warc-target-uri", ""), headers, body)

"""Inspections: what a WARC or ARC file holds, whoever wrote it, and everything that is wrong with it.

warcio reads the records. Where it is silent (a cut gzip member, a block that ends early, an empty file) the gzip
members and the lengths are looked at here: a file that ends early always has a problem. What our own batches must be
is stricter and stands in ``member``.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, Final

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException

from assets.warc.spans import gzip_spans

_PIECE_BYTES: Final = 1024 * 1024
_GZIP_MAGIC: Final = b"\x1f\x8b"
_CLOSING_BYTES: Final = 4  # two line ends close a WARC record


# What warcio raises on broken bytes, besides its own exception (found by cutting and flipping bytes of real files).
UNREADABLE: Final = (ArchiveLoadFailed, StatusAndHeadersParserException, ValueError, AttributeError)


class Fault(StrEnum):
    """What can be wrong with an archive file."""

    EMPTY = "empty"
    CUT_MEMBER = "cut_member"
    DAMAGED_MEMBER = "damaged_member"
    MANY_RECORDS_A_MEMBER = "many_records_a_member"  # no record but the first can be reached by its offset
    NOT_A_RECORD = "not_a_record"
    WRONG_LENGTH = "wrong_length"
    CUT_RECORD = "cut_record"
    BAD_DIGEST = "bad_digest"
    WRONG_CHUNKS = "wrong_chunks"
    NO_CHUNKS = "no_chunks"  # stored without the chunking that its header names, as old crawlers did


# Faults after which the rest of the file cannot be read by offsets, or not at all.
REFUSALS: Final = frozenset(
    {Fault.CUT_MEMBER, Fault.DAMAGED_MEMBER, Fault.MANY_RECORDS_A_MEMBER, Fault.NOT_A_RECORD, Fault.EMPTY}
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and with the record or gzip member that begins where."""

    offset: int
    fault: Fault
    reason: str


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """One record as its headers have it; of ARC records as warcio translates them."""

    offset: int
    record_type: str
    uri: str | None
    date: str | None
    status: str | None  # of a request, its target
    digest_holds: bool | None  # None when it names none that can be checked


@dataclass(slots=True)
class Inspection:
    """What a file holds: records in order, and problems in the order in which they were found."""

    records: list[RecordFacts] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_refused(self) -> bool:
        """Whether there is more in the file than could be read, or nothing."""
        return any(problem.fault in REFUSALS for problem in self.problems)


class _QuietIterator(ArchiveIterator):  # type: ignore[misc]  # warcio has no types
    """warcio's reader, which tells its misgivings to stderr; they are counted in ``err_count`` all the same."""

    INC_RECORD = ""


class _Beginning:
    """The bytes of a file up to an offset, as warcio reads a file."""

    def __init__(self, stream: BinaryIO, end: int | None) -> None:
        self._stream, self._end = stream, end
        stream.seek(0)

    def read(self, size: int) -> bytes:
        """Read on, at most ``size`` bytes."""
        return self._stream.read(size if self._end is None else min(size, self._end - self._stream.tell()))

    def tell(self) -> int:
        """Give the offset of what is read next."""
        return self._stream.tell()


def inspect_file(stream: BinaryIO) -> Inspection:
    """Read a whole archive file.

    Args:
        stream: seekable, at the start of the file.
    """
    found = Inspection()
    is_gzip = stream.read(2) == _GZIP_MAGIC
    members = _members(stream, found) if is_gzip else []
    # Of a damaged gzip member warcio would give a record with less than there is, or garbage; it gets whole ones only.
    readable = _Beginning(stream, found.problems[0].offset if found.problems else None)
    archive = _QuietIterator(readable, arc2warc=True, check_digests=True)
    ends_at = 0
    try:
        for record in archive:
            ends_at = _read(record, archive, found, is_gzip=is_gzip)
    except UNREADABLE as error:
        found.problems.append(_refusal(error, archive.offset, members, found))
    else:
        if is_gzip:
            _check_silence(members, found)
        else:
            _check_end(stream, ends_at, found)
    if not found.records and not found.problems:
        found.problems.append(Problem(0, Fault.EMPTY, "the file holds no record"))
    return found


def _members(stream: BinaryIO, found: Inspection) -> list[int]:
    """Give where gzip members begin that inflate to something; note what is wrong with them."""
    begins: list[int] = []
    stream.seek(0)
    for span in gzip_spans(iter(lambda: stream.read(_PIECE_BYTES), b"")):
        if span.fault:
            fault = Fault.CUT_MEMBER if span.is_cut else Fault.DAMAGED_MEMBER
            found.problems.append(Problem(span.offset, fault, span.fault))
        elif span.data:
            begins.append(span.offset)
    return begins


def _read(record: Any, archive: ArchiveIterator, found: Inspection, *, is_gzip: bool) -> int:
    """Read a record to its end and note what is wrong with it; give where its block ends in a plain file."""
    stream, headers, reader = record.raw_stream, record.rec_headers, archive.reader
    chunk_fault = _chunk_fault(stream) if _is_chunked(record) else None
    while stream.read(_PIECE_BYTES):
        pass
    missing_bytes = getattr(stream, "limit", 0)
    ends_at = int(archive.fh.tell() - reader.rem_length())
    misgivings = archive.err_count
    offset = int(archive.get_record_offset())
    status = record.http_headers.get_statuscode() if record.http_headers else None
    found.records.append(
        RecordFacts(
            offset,
            record.rec_type or "",
            headers.get_header("WARC-Target-URI"),
            headers.get_header("WARC-Date"),
            status or None,
            record.digest_checker.passed,
        )
    )

    def note(fault: Fault, reason: str) -> None:
        found.problems.append(Problem(offset, fault, reason))

    declared = headers.get_header("Content-Length") or ""
    if not record.rec_type:
        note(Fault.NOT_A_RECORD, "the header has no WARC-Type")
    if not declared.strip().isdecimal():
        note(Fault.WRONG_LENGTH, f"the header says {declared or 'nothing'} about the length of the block")
    elif missing_bytes > 0:
        where = "the gzip member" if is_gzip else "the file"
        note(Fault.CUT_RECORD, f"{where} ends {missing_bytes} bytes before the block of {declared} bytes does")
    if archive.err_count > misgivings:
        note(Fault.WRONG_LENGTH, "what follows the block is neither a blank line nor the end")
    if chunk_fault is not None:
        note(*chunk_fault)
    for problem in record.digest_checker.problems:
        note(Fault.BAD_DIGEST, problem)
    return ends_at


def _is_chunked(record: Any) -> bool:
    if record.rec_type != "response" or not record.http_headers:
        return False
    coding = record.http_headers.get_header("Transfer-Encoding") or ""
    return "chunked" in coding.lower()


def _chunk_fault(stream: Any) -> tuple[Fault, str] | None:
    """Say what is wrong with the chunks of a body, if anything; reads as far as they are right."""
    position = 0
    while True:
        line = stream.readline()
        try:
            size_bytes = int(line.split(b";")[0].strip(), 16)
        except ValueError:
            fault = Fault.WRONG_CHUNKS if position else Fault.NO_CHUNKS
            return fault, f"no chunk begins after {position} bytes of the body"
        position += len(line)
        if size_bytes <= 0:
            return None
        left = size_bytes
        while left > 0 and (piece := stream.read(min(left, _PIECE_BYTES))):
            left -= len(piece)
        closing = stream.readline()
        if left > 0 or closing.strip(b"\r\n"):
            return (
                Fault.WRONG_CHUNKS,
                f"the chunk of {size_bytes} bytes after {position} bytes of the body is not as long",
            )
        position += size_bytes + len(closing)


def _refusal(error: Exception, offset: int, members: list[int], found: Inspection) -> Problem:
    """Name what made warcio stop, with the place of the member or record that it could not read."""
    text = " ".join(str(error).split())
    if not isinstance(error, ArchiveLoadFailed):
        text = f"its headers cannot be read: {text}"
    last = found.records[-1].offset if found.records else 0
    if "non-chunked gzip" in text:
        return Problem(last, Fault.MANY_RECORDS_A_MEMBER, "the gzip member goes on after its first record")
    at = offset
    if members:
        at = max((begin for begin in members if begin <= max(offset, last)), default=last)
    return Problem(at, Fault.NOT_A_RECORD, text)


def _check_end(stream: BinaryIO, ends_at: int, found: Inspection) -> None:
    """Note a plain file that ends within a record's header, where warcio sees the end, or within the closing lines."""
    stream.seek(0)
    is_warc = stream.read(5) == b"WARC/"
    stream.seek(ends_at)
    rest = stream.read(_PIECE_BYTES)
    begun = rest.lstrip(b"\r\n")
    told = {problem.offset for problem in found.problems}
    if begun:
        offset = ends_at + len(rest) - len(begun)
        found.problems.append(Problem(offset, Fault.CUT_RECORD, "the file ends within the header of a record"))
    elif is_warc and found.records and len(rest) < _CLOSING_BYTES and found.records[-1].offset not in told:
        reason = "the file ends before the last record is closed"
        found.problems.append(Problem(found.records[-1].offset, Fault.CUT_RECORD, reason))


def _check_silence(members: list[int], found: Inspection) -> None:
    """Note members that no record was read from, though nothing was said."""
    told = {problem.offset for problem in found.problems} | {record.offset for record in found.records}
    found.problems += [
        Problem(begin, Fault.NOT_A_RECORD, "no record could be read from the gzip member")
        for begin in members
        if begin not in told
    ]

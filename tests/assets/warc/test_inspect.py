"""Inspections of odd and broken files: nothing is silently short."""

import gzip
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from assets.warc.inspect import Fault, Inspection, inspect_file
from assets.warc.member import pack_member
from assets.warc.spans import gzip_spans
from tests.conformance.warc import FAULTS, faults, inspect_archive

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "warc"
NEEDS_DATA = pytest.mark.skipif(not DATA.exists(), reason="shared/data is not beside this checkout")
HTTP = "application/http; msgtype=response"


def member(block: bytes, **fields: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return pack_member(
        {"WARC-Type": "response", "WARC-Target-URI": "http://e.test/a", "WARC-Date": "2026-01-02T12:00:00Z"}
        | {"WARC-Record-ID": "<urn:uuid:1>", "Content-Type": HTTP}
        | named,
        block,
    )


ONE = member(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + bytes(range(256)) * 8)
TWO = member(b"HTTP/1.1 404 Not Found\r\n\r\nno such page")
PLAIN = gzip.decompress(ONE + TWO)
PLAIN_TWO = len(gzip.decompress(ONE))


def inspected(data: bytes) -> Inspection:
    return inspect_file(BytesIO(data))


def chunked(body: bytes) -> bytes:
    return member(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)


@pytest.mark.parametrize(("data", "second"), [(ONE + TWO, len(ONE)), (PLAIN, PLAIN_TWO)], ids=["gzip", "plain"])
def test_a_whole_file_has_its_records_and_no_problem(data: bytes, second: int) -> None:
    found = inspected(data)
    assert [(r.offset, r.record_type, r.status, r.digest_holds) for r in found.records] == [
        (0, "response", "200", True),
        (second, "response", "404", True),
    ]
    assert (found.problems, found.is_refused) == ([], False)


@pytest.mark.slow
@pytest.mark.parametrize(("data", "second"), [(ONE + TWO, len(ONE)), (PLAIN, PLAIN_TWO)], ids=["gzip", "plain"])
def test_a_file_cut_anywhere_has_a_problem_where_it_was_cut(data: bytes, second: int) -> None:
    for length in range(len(data)):
        found = inspected(data[:length])
        if length == second:
            # An end between two records is an end: only who knows how many there were can tell.
            assert found.problems == []
            continue
        assert found.problems, length
        assert found.problems[0].offset == (0 if length < second else second), length


@pytest.mark.parametrize(
    ("data", "fault", "offset"),
    [
        (b"", Fault.EMPTY, 0),
        (b"WARC/1.0", Fault.NOT_A_RECORD, 0),
        (b"not an archive\n", Fault.NOT_A_RECORD, 0),
        (gzip.compress(PLAIN), Fault.MANY_RECORDS_A_MEMBER, 0),
        (ONE + b"rest", Fault.DAMAGED_MEMBER, len(ONE)),
        (ONE + TWO[:20] + b"\x00" + TWO[21:], Fault.DAMAGED_MEMBER, len(ONE)),
        (ONE + gzip.compress(b"WARC/1.0\r\n"), Fault.NOT_A_RECORD, len(ONE)),
        (ONE + gzip.compress(b"no record at all"), Fault.NOT_A_RECORD, len(ONE)),
        (PLAIN.replace(b"no such", b"no Such"), Fault.BAD_DIGEST, PLAIN_TWO),
        (PLAIN[:-4].replace(b"Content-Length: 38", b"Content-Length: 50"), Fault.CUT_RECORD, PLAIN_TWO),
        (PLAIN.replace(b"Content-Length: 38", b"Content-Length: 30"), Fault.WRONG_LENGTH, PLAIN_TWO),
        (PLAIN.replace(b"Content-Length: 38", b"Content-Length: ab"), Fault.WRONG_LENGTH, PLAIN_TWO),
        (chunked(b"3\r\nabc\r\n0\r\n\r\n") + chunked(b"no chunks"), Fault.NO_CHUNKS, None),
        (chunked(b"3\r\nabcdef\r\n0\r\n\r\n"), Fault.WRONG_CHUNKS, 0),
        (chunked(b"9\r\nabc"), Fault.WRONG_CHUNKS, 0),
    ],
)
def test_each_fault_has_its_reason_and_place(data: bytes, fault: Fault, offset: int | None) -> None:
    problem = inspected(data).problems[0]
    assert problem.fault is fault
    assert problem.reason
    if offset is not None:
        assert problem.offset == offset


def test_records_before_a_damaged_member_are_read_and_none_is_made_of_it() -> None:
    found = inspected(ONE + TWO[:-30])
    assert [r.offset for r in found.records] == [0]
    assert [(p.offset, p.fault) for p in found.problems] == [(len(ONE), Fault.CUT_MEMBER)]


@pytest.mark.parametrize("piece_bytes", [1, 7, 1_000_000])
def test_members_are_found_however_the_file_is_cut_into_pieces(piece_bytes: int) -> None:
    data = ONE + TWO
    pieces = [data[start : start + piece_bytes] for start in range(0, len(data), piece_bytes)]
    spans = list(gzip_spans(pieces, offset=100))
    assert [(s.offset, s.length, s.fault) for s in spans] == [(100, len(ONE), ""), (100 + len(ONE), len(TWO), "")]
    assert b"".join(s.data for s in spans) == PLAIN


def test_a_member_that_nobody_could_hold_is_refused() -> None:
    (span,) = gzip_spans([gzip.compress(bytes(100_000))], max_bytes=1000)
    assert span.fault == "the gzip member inflates to more than 1000 bytes"


@NEEDS_DATA
def test_each_listed_difference_is_a_file() -> None:
    assert {path.name for path in (DATA / "files").iterdir()} >= FAULTS.keys()


@NEEDS_DATA
@pytest.mark.slow
@pytest.mark.parametrize("shorten", [lambda n: n - 1, lambda n: n - 30, lambda n: n // 2], ids=["1", "30", "half"])
def test_a_real_file_that_is_cut_is_never_without_a_problem(shorten: Callable[[int], int]) -> None:
    for path in sorted((DATA / "files").glob("*.gz")):
        data = path.read_bytes()
        assert inspected(data[: shorten(len(data))]).problems, path.name
        assert faults(inspect_archive(path)) == FAULTS.get(path.name, frozenset())

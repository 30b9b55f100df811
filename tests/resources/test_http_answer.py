"""Answers read from bytes: whatever a server may write, in pieces of any size."""

import gzip
import zlib
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.http_answer import MAX_HEAD_BYTES, Answer, AnswerReader
from resources.http_body import MAX_LINE_BYTES, MAX_TRAILER_BYTES
from resources.http_failure import NotHttp
from resources.ports import Truncation

OK = b"HTTP/1.1 200 OK\r\n"
OLD = b"HTTP/1.0 200 OK\r\n"
FIVE = b"Content-Length: 5\r\n"
CODED = b"Transfer-Encoding: chunked\r\n"
CHUNKED = OK + CODED + b"\r\n"
END = b"0\r\n\r\n"
CUT = Truncation.DISCONNECT


def read(pieces: Sequence[bytes], *, limit: int = 1_000_000, inflated: int = 1_000_000, cleanly: bool = True) -> Answer:
    """Read an answer from all that a connection brings before it ends."""
    reader = AnswerReader(limit, inflated)
    for piece in pieces:
        if reader.answer is None:
            reader.feed(piece)
    if reader.answer is None:
        reader.end(cleanly=cleanly)
    assert reader.answer is not None
    return reader.answer


@pytest.mark.parametrize(
    ("wire", "body", "truncated", "is_last"),
    [
        (OK + FIVE + b"\r\n12345", b"12345", None, False),
        (OK + FIVE + b"\r\n12345more", b"12345", None, True),
        (OK + FIVE + b"\r\n123", b"123", CUT, True),
        (OK + FIVE + FIVE + b"\r\n12345", b"12345", None, False),
        (OK + b"Content-Length: 5, 5\r\n\r\n12345", b"12345", None, False),
        (OK + b"Content-Length: five\r\n\r\n12345", b"12345", None, True),
        (OK + b"Content-Length: -5\r\n\r\n12345", b"12345", None, True),
        (OK + FIVE + b"Connection: Close\r\n\r\n12345", b"12345", None, True),
        (OK + FIVE + b"Transfer-Encoding: identity\r\n\r\n12345", b"12345", None, False),
        (OK + b"Content-Length: 0\r\n\r\n", b"", None, False),
        (OK + b"\r\nto the end", b"to the end", None, True),
        (OLD + FIVE + b"\r\n12345", b"12345", None, True),
        (OLD + FIVE + b"Connection: keep-alive\r\n\r\n12345", b"12345", None, False),
        (OLD + FIVE + b"Keep-Alive: timeout=5\r\n\r\n12345", b"12345", None, False),
        (b"HTTP/1.1 204 None\r\n" + FIVE + b"\r\n", b"", None, False),
        (b"HTTP/1.1 304 Same\r\n" + CODED + b"\r\n", b"", None, False),
        (b"HTTP/1.1 101 Other\r\n\r\n", b"", None, False),
        (b"HTTP/1.1 100\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\n" + OK + FIVE + b"\r\n12345", b"12345", None, False),
        (CHUNKED + b"5\r\nfirst\r\nB\r\n and second\r\n" + END, b"first and second", None, False),
        (CHUNKED + b"005 \r\nfirst\r\n1;a=b\r\n!\r\n0;c\r\nTrailer: 1\r\n\r\n", b"first!", None, False),
        (CHUNKED + b"5\nfirst\n0\n\n", b"first", None, False),
        (CHUNKED + b"5\r\nfirst\r\n" + END + b"more", b"first", None, True),
        (CHUNKED + b"5\r\nfirst\r\n0\r\n", b"first", None, True),
        (CHUNKED + b"5\r\nfirst\r\n0\r\n" + b"T: 1\r\n" * MAX_TRAILER_BYTES, b"first", None, True),
        (CHUNKED + b"5\r\nfirst\r\n", b"first", CUT, True),
        (CHUNKED + b"5\r\nfir", b"fir", CUT, True),
        (CHUNKED + b"5\r\nfirstborn\r\n" + END, b"first", CUT, True),
        (CHUNKED + b"5\r\nfirst\r\nzz\r\nbad\r\n" + END, b"first", CUT, True),
        (CHUNKED + b"-5\r\nfirst\r\n" + END, b"", CUT, True),
        (CHUNKED + b"0x5\r\nfirst\r\n" + END, b"", CUT, True),
        (CHUNKED + b"\r\n", b"", CUT, True),
        (CHUNKED + b"5" * (MAX_LINE_BYTES + 1), b"", CUT, True),
        (OK + FIVE + b"transfer-encoding: gzip, Chunked\r\n\r\n1\r\n!\r\n" + END, b"!", None, False),
        (OK + b"Transfer-Encoding: gzip\r\n" + CODED + b"\r\n1\r\n!\r\n" + END, b"!", None, False),
        (OK + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + END, END, None, True),
        (OK + b"Content-Length: 5\r\nContent-Length: 6\r\n" + CODED + b"\r\n" + END, b"", None, False),
    ],
    ids=lambda part: repr(part)[:80],
)
def test_a_body_ends_where_the_head_says(wire: bytes, body: bytes, truncated: Truncation | None, is_last: bool) -> None:
    answer = read([wire])
    assert (answer.body, answer.truncated, answer.is_last) == (body, truncated, is_last)


def test_a_reset_is_the_end_of_no_body() -> None:
    assert read([OK + b"\r\nhalf"], cleanly=False).truncated is Truncation.DISCONNECT
    assert read([CHUNKED + b"1\r\n!\r\n0\r\n"], cleanly=False).truncated is Truncation.DISCONNECT


@pytest.mark.parametrize(("limit", "truncated"), [(4, Truncation.LENGTH), (5, None)])
@pytest.mark.parametrize("wire", [OK + FIVE + b"\r\n12345", CHUNKED + b"5\r\n12345\r\n" + END, OK + b"\r\n12345"])
def test_a_body_over_the_limit_is_cut(wire: bytes, limit: int, truncated: Truncation | None) -> None:
    answer = read([wire], limit=limit)
    assert (answer.body, answer.truncated) == (b"12345"[:limit], truncated)


@pytest.mark.parametrize(
    ("wire", "version", "status", "reason"),
    [
        (b"HTTP/1.0 404\r\n\r\n", "HTTP/1.0", 404, ""),
        (b"HTTP/0.9 200 Old\r\n\r\n", "HTTP/1.0", 200, "Old"),
        (b"HTTP/1.7 999  caf\xe9  au lait \n\n", "HTTP/1.1", 999, "caf\xe9  au lait"),
        (b"HTTP/1.1\t200\tO\0K\r\r\n\r\n", "HTTP/1.1", 200, "O K"),
    ],
)
def test_odd_status_lines_are_read(wire: bytes, version: str, status: int, reason: str) -> None:
    head = read([wire]).head
    assert (head.version, head.status, head.reason) == (version, status, reason)


def test_fields_are_kept_as_they_came() -> None:
    fields = b"X: 1\r\n\t2\r\n \r\nno field\r\n: none\r\nx : \xe9\r\ny:a\0b\rc\r\nEmpty:\r\n: \r\n"
    answer = read([OK + b" folds nothing\r\n" + fields + b"\r\n"])
    assert answer.head.fields == (("X", "1 2"), ("x", "\xe9"), ("y", "a b c"), ("Empty", ""))


@pytest.mark.parametrize(
    ("wire", "detail"),
    [
        (b"", "closed without response"),
        (b"HTT", "closed within the headers"),
        (OK + b"A: b\r\n", "closed within the headers"),
        (b"HTTP/2 200 OK\r\n", "not an HTTP/1.x answer: 'HTTP/2 200 OK'"),
        (b"SSH-2.0-OpenSSH\r\n", "not an HTTP/1.x answer: 'SSH-2.0-OpenSSH'"),
        (b"\x15\x03\x03\x00\x02\x02", "not an HTTP/1.x answer"),
        (b"\r\n" + OK, "not an HTTP/1.x answer: ''"),
        (b"HTTP/1.1 20 OK\r\n", "not a status line"),
        (b"HTTP/1.1 OK\r\n", "not a status line"),
        (b"HTTP/1.1 1000 OK\r\n", "not a status line"),
        (OK + FIVE + b"Content-Length: 6\r\n\r\n123456", "Content-Length has several values: 5, 6"),
        (OK + b"A: b\r\n" * 50_000, f"headers longer than {MAX_HEAD_BYTES} bytes"),
        (b"HTTP/1.1 103 Hints\r\n\r\n" * 20_000, f"headers longer than {MAX_HEAD_BYTES} bytes"),
        (b"HTTP/" + b"1" * MAX_HEAD_BYTES, f"headers longer than {MAX_HEAD_BYTES} bytes"),
    ],
    ids=lambda part: repr(part)[:40],
)
def test_what_is_no_answer_is_told_in_words(wire: bytes, detail: str) -> None:
    with pytest.raises(NotHttp) as caught:
        read([wire] if wire else [])
    assert caught.value.detail.startswith(detail)


STARTS = st.sampled_from(
    [OK, OLD, b"HTTP/1.1 103 Hints\r\n\r\n" + OK, b"HTTP/1.1 204 None\n", b"HTTP/2 200\r\n", b"SSH\r\n"]
)
FIELDS = st.sampled_from(
    [FIVE, CODED, b"A: b\r\n", b" folded\n", b"Connection: close\r\n", b"Content-Length: 9\r\n", b"\r"]
)
BODIES = st.sampled_from(
    [
        b"5\r\nfirst\r\n",
        b"3;x=y\nmor\n",
        END,
        b"0\r\n",
        b"T: 1\r\n",
        b"zz\r\n",
        b"12345",
        b"\r\n",
        b"\n",
        b"5\r",
        b"x" * 9,
    ]
)


@given(
    st.tuples(
        STARTS, st.lists(FIELDS, max_size=3), st.sampled_from([b"\r\n", b"\n", b""]), st.lists(BODIES, max_size=5)
    ),
    st.lists(st.integers(0, 100), max_size=5),
)
def test_an_answer_is_the_same_however_it_is_cut_into_pieces(
    parts: tuple[bytes, list[bytes], bytes, list[bytes]], cuts: list[int]
) -> None:
    start, fields, blank, body = parts
    wire = b"".join([start, *fields, blank, *body])
    edges = [0, *sorted(cut for cut in cuts if cut < len(wire)), len(wire)]
    whole = outcome([wire])
    assert outcome([wire[begin:end] for begin, end in pairwise(edges) if begin < end]) == whole
    assert outcome([wire[at : at + 1] for at in range(len(wire))]) == whole


def outcome(pieces: Sequence[bytes]) -> tuple[object, ...]:
    try:
        answer = read(pieces, limit=8)
    except NotHttp as error:
        # How much of a line is shown depends on how much had come.
        return (error.detail.partition(":")[0],)
    return answer.head, answer.body, answer.truncated


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(bytes(2_000_000))),
        ("x-gzip", gzip.compress(bytes(900_000)) + gzip.compress(bytes(200_000))),
        ("deflate", zlib.compress(bytes(2_000_000))),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_body_that_inflates_too_far_is_cut_where_it_does(coding: str, packed: bytes, step: int) -> None:
    head = OK + f"Content-Encoding: {coding}\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    pieces = [head, *(packed[at : at + step] for at in range(0, len(packed), step))]
    found = read(pieces)
    assert (found.truncated, found.is_last) == (Truncation.LENGTH, True)
    assert packed.startswith(found.body)
    assert (len(found.body) < len(packed)) == (step < len(packed))
    inflated = zlib.decompressobj(31 if "gzip" in coding else 15).decompress(found.body)
    assert len(inflated) > 900_000 - 300_000
    assert read(pieces, inflated=2_000_000).truncated is None


@pytest.mark.parametrize("coding", ["br", "identity", "gzip"])
def test_what_is_not_packed_as_it_says_is_not_cut(coding: str) -> None:
    body = bytes(2_000)
    head = OK + f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    assert read([head, body]).truncated is None

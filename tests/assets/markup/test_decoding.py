"""Content codings: undone, bounded, never believed."""

import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from assets.markup.decoding import decode_body

TEXT = b"The tide turns at noon. " * 4_000
LIMIT = 10 * len(TEXT)


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


ENCODED = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "gzip in capitals": (" GZip ", gzip.compress(TEXT)),
    "x-gzip in two members with a tail": ("x-gzip", gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]) + b"junk"),
    "deflate with zlib's header": ("deflate", zlib.compress(TEXT)),
    "deflate without": ("deflate", raw_deflate(TEXT)),
    "brotli": ("br", brotli.compress(TEXT)),
    "zstd": ("zstd", zstandard.ZstdCompressor().compress(TEXT)),
    "zstd in two frames": (
        "zstd",
        zstandard.ZstdCompressor().compress(TEXT[:99]) + zstandard.ZstdCompressor().compress(TEXT[99:]),
    ),
    "gzip twice": ("gzip, gzip", gzip.compress(gzip.compress(TEXT))),
    "brotli over gzip": ("gzip, identity, br", brotli.compress(gzip.compress(TEXT))),
}


@pytest.mark.parametrize(("header", "body"), ENCODED.values(), ids=ENCODED)
def test_each_coding_gives_the_text_back(header: str, body: bytes) -> None:
    decoded = decode_body(body, header, max_bytes=LIMIT)
    assert (decoded.data, decoded.reason) == (TEXT, "")


@pytest.mark.parametrize(("header", "body"), ENCODED.values(), ids=ENCODED)
def test_a_body_over_the_limit_is_cut_and_says_so(header: str, body: bytes) -> None:
    decoded = decode_body(body, header, max_bytes=1_000)
    assert (decoded.data, decoded.reason) == (TEXT[:1_000], "decompression_limit")


@pytest.mark.parametrize("header", ["gzip", "deflate", "br", "zstd"])
def test_a_header_that_lies_leaves_the_bytes_alone(header: str) -> None:
    decoded = decode_body(TEXT, header, max_bytes=LIMIT)
    assert (decoded.data, decoded.reason) == (TEXT, f"not_{header}")


@pytest.mark.parametrize("header", ["gzip", "deflate"])
def test_a_stream_that_is_cut_gives_what_is_there(header: str) -> None:
    noise = bytes(range(256)) * 200 + TEXT
    body = gzip.compress(noise) if header == "gzip" else zlib.compress(noise)
    decoded = decode_body(body[:-20], header, max_bytes=LIMIT)
    assert decoded.reason == "cut_short"
    assert noise.startswith(decoded.data)
    assert len(decoded.data) > 10_000


@pytest.mark.parametrize("header", ["gzip", "br", "zstd"])
def test_a_bomb_costs_no_more_than_the_limit(header: str) -> None:
    zeros = bytes(30_000_000)
    bomb = {"gzip": gzip.compress, "br": brotli.compress, "zstd": zstandard.ZstdCompressor().compress}[header](zeros)
    decoded = decode_body(bomb, header, max_bytes=50_000)
    assert (len(decoded.data), decoded.reason) == (50_000, "decompression_limit")


@pytest.mark.parametrize(
    ("header", "reason"),
    [(None, ""), ("identity", ""), ("", ""), ("compress", "unknown_coding"), ("gzip," * 50, "too_many_codings")],
)
def test_other_headers_leave_the_bytes_alone(header: str | None, reason: str) -> None:
    decoded = decode_body(TEXT, header, max_bytes=LIMIT)
    assert (decoded.data, decoded.reason) == (TEXT, reason)


def test_an_empty_body_is_empty_under_any_header() -> None:
    assert decode_body(b"", "gzip, br", max_bytes=LIMIT).reason == ""


@given(st.binary(max_size=200), st.sampled_from(["gzip", "deflate", "br", "zstd", "br, gzip", "\x00"]))
def test_nothing_raises(body: bytes, header: str) -> None:
    for start in (b"", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\x78\x9c"):
        assert len(decode_body(start + body, header, max_bytes=300).data) <= 300

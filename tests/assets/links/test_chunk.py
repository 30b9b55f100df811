"""Chunks of stored pages."""

import gzip
import pickle
from datetime import UTC, datetime

import pytest

from assets.links.chunk import LinkChunk, StoredPage, read_chunk, rows_of, unread_chunk
from assets.schemas import LINKS
from assets.url.key import KeyRules
from assets.warc.member import pack_member
from resources.errors import DamagedArchive

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def member(body: bytes, *headers: str, kind: str = "response") -> bytes:
    head = "\r\n".join(["HTTP/1.1 200 OK", *headers]) + "\r\n\r\n"
    return pack_member({"WARC-Type": kind}, head.encode("ascii") + body)


def chunk(*members: bytes, content_type: str = "text/html") -> LinkChunk:
    pages = [
        StoredPage(stored, f"http://e.test/{place}", f"key {place}", NOON, content_type, "noarchive", None)
        for place, stored in enumerate(members)
    ]
    return LinkChunk("e.test", "c1", "depth_2", tuple(pages), KeyRules(), 10**6)


def test_each_page_is_a_row_in_order() -> None:
    pages = (
        member(b"<p>no links", "refresh: 30;url=/later"),
        member(gzip.compress(b"<a href=/x rel=NEXT>to x</a><a href=y>y</a><img src=i>"), "Content-encoding: gzip"),
        member(b""),
        member(b"<img src=i><img src=i><img src=j><a href=z>z</a><form></form>"),
    )
    rows = rows_of(read_chunk(chunk(*pages)))
    assert rows.schema.equals(LINKS, check_metadata=True)
    rows.validate(full=True)
    assert all(column.null_count == 0 for column in rows.columns)
    assert rows.select(["site", "crawl_id", "layer", "url_key", "requested_at", "reason"]).to_pylist() == [
        {
            "site": "e.test",
            "crawl_id": "c1",
            "layer": "depth_2",
            "url_key": f"key {place}",
            "requested_at": NOON,
            "reason": "empty_page" if place == 2 else "",
        }
        for place in range(4)
    ]
    x = {"url": "http://e.test/x", "url_key": "http://e.test/x", "kind": "a", "anchor": "to x", "rel": "next"}
    y = {"url": "http://e.test/y", "url_key": "http://e.test/y", "kind": "a", "anchor": "y", "rel": ""}
    z = {"url": "http://e.test/z", "url_key": "http://e.test/z", "kind": "a", "anchor": "z", "rel": ""}
    i = {"url": "http://e.test/i", "kind": "image", "count": 1}
    later = {"url": "http://e.test/later", "url_key": "http://e.test/later", "kind": "refresh", "anchor": "", "rel": ""}
    assert rows["hyperlinks"].to_pylist() == [[later], [x, y], [], [z]]
    assert rows["resources"].to_pylist() == [[], [i], [], [i | {"count": 2}, i | {"url": "http://e.test/j"}]]
    assert (rows["forms"].to_pylist(), rows["images"].to_pylist()) == ([0, 0, 0, 1], [0, 1, 0, 3])
    assert set(rows["robots_meta"].to_pylist()) == {"noarchive"}


@pytest.mark.parametrize("members", [[], [member(b"")], [member(b"<p>x")] * 3], ids=["no page", "empty", "no links"])
def test_chunks_without_links_are_rows_too(members: list[bytes]) -> None:
    rows = rows_of(read_chunk(chunk(*members)))
    assert rows.schema == LINKS
    assert rows["hyperlinks"].to_pylist() == rows["resources"].to_pylist() == [[]] * len(members)


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        (member(b"<p>x")[:-9], "cut short"),
        (member(b"<p>x") * 2, "more than one"),
        (b"plain, and no gzip", "not gzip"),
        (member(b"", kind="revisit"), "a revisit record, not a response"),
    ],
)
def test_a_damaged_record_is_an_error_that_names_it(damaged: bytes, reason: str) -> None:
    with pytest.raises(DamagedArchive, match=f"http://e.test/1: .*{reason}"):
        read_chunk(chunk(member(b"<p>whole"), damaged))


def test_pages_that_cost_their_worker_are_rows_with_the_reason() -> None:
    rows = unread_chunk(chunk(b"never", b"opened"), "parser timeout")
    assert rows.schema == LINKS
    assert rows["url"].to_pylist() == ["http://e.test/0", "http://e.test/1"]
    assert rows["reason"].to_pylist() == ["parser timeout"] * 2
    assert rows["hyperlinks"].to_pylist() == [[], []]


def test_a_worker_can_be_sent_the_work() -> None:
    function, work = pickle.loads(pickle.dumps((read_chunk, chunk(member(b"<a href=/x>"), content_type=""))))
    assert rows_of(function(work))["hyperlinks"][0][0]["url"].as_py() == "http://e.test/x"

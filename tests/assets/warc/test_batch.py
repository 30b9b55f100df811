"""What is written is what other people's tools read."""

import gzip
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fastwarc.warc import ArchiveIterator as FastWarcIterator
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_command
from warcio.indexer import Indexer

from assets.schemas import FETCHES
from assets.warc.cdxj import cdxj
from assets.warc.digest import payload_digest
from assets.warc.inspect import inspect_file
from assets.warc.reading import read_bodies, read_body, read_facts
from assets.warc.records import Place, StoredCopy
from assets.warc.writing import WarcBatch, facts_table, verify_members
from resources.errors import DamagedArchive
from resources.folder_objects import FolderObjects
from resources.ports import FetchResponse, Truncation
from tests.support.answers import NOON, answer

GZIPPED = gzip.compress(b"<p>packed", mtime=0)
KEY = "raw/site=e.test/crawl=1/layer=depth_0/a.warc.gz"


def capture(url: str, body: bytes, *headers: tuple[str, str], truncated: Truncation | None = None) -> FetchResponse:
    return answer(url, 200, body, ("Content-Type", "text/html"), *headers, truncated=truncated)


@pytest.fixture
def batch(tmp_path: Path) -> Iterator[WarcBatch]:
    made = WarcBatch(tmp_path / "a.warc.gz", KEY, opened_at=NOON, info={"software": "Isobath/test"})
    yield made
    made.discard()


def rows_for(*places: Place) -> Any:
    fields = {
        "site": "e.test",
        "crawl_id": "1",
        "layer": "depth_0",
        "purpose": "page",
        "url": "http://e.test/a",
        "url_key": "http://e.test/a",
        "origin_key": "http://e.test/a",
        "hop": 0,
        "attempt": 1,
        "is_final": True,
        "outcome": "fetched",
        "reason": "",
        "requested_at": NOON,
        "fetch_ms": 3,
        "body_bytes": 8,
        "status": 200,
        "content_type": "text/html; charset=utf-8",
        "payload_digest": payload_digest(b"one"),
        "record_type": "response",
    }

    rows = [{**fields, "warc_file": p.file, "warc_offset": p.offset, "warc_bytes": p.length} for p in places]
    return pa.Table.from_pylist(rows, schema=FETCHES)


def test_warcio_reads_what_was_written_and_all_digests_hold(batch: WarcBatch) -> None:
    batch.add(capture("http://e.test/a", b"one"), digest=payload_digest(b"one"))
    batch.add(capture("http://e.test/b", GZIPPED, ("Content-Encoding", "gzip")), digest=payload_digest(GZIPPED))
    batch.seal(rows_for(), sealed_at=NOON)
    seen = []
    with batch.path.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            content = record.content_stream().read()
            seen.append((record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), content))
            assert record.rec_headers.protocol == "WARC/1.1"
    responses = [(uri, content) for kind, uri, content in seen if kind == "response"]
    assert responses == [("http://e.test/a", b"one"), ("http://e.test/b", b"<p>packed")]
    assert [kind for kind, _, _ in seen] == ["warcinfo", "response", "request", "response", "request", "metadata"]


def test_headers_that_no_longer_fit_are_renamed(batch: WarcBatch) -> None:
    response = capture("http://e.test/a", b"abc", ("Transfer-Encoding", "chunked"), ("Content-Length", "99"))
    batch.add(response, digest=payload_digest(b"abc"))
    batch.seal(rows_for(), sealed_at=NOON)
    with batch.path.open("rb") as stream:
        record = next(r for r in ArchiveIterator(stream) if r.rec_type == "response")
        headers = record.http_headers.headers
    assert ("X-Crawler-Transfer-Encoding", "chunked") in headers
    assert ("X-Crawler-Content-Length", "99") in headers
    assert ("Content-Length", "3") in headers


def test_a_revisit_points_at_the_stored_copy(batch: WarcBatch) -> None:
    place, _ = batch.add(capture("http://e.test/a", b"one"), digest=payload_digest(b"one"))
    copy = StoredCopy("http://e.test/a", NOON, payload_digest(b"one"), place)
    batch.add(capture("http://e.test/b", b"one"), digest=copy.payload_digest, original=copy)
    batch.seal(rows_for(), sealed_at=NOON)
    with batch.path.open("rb") as stream:
        record = next(r for r in ArchiveIterator(stream) if r.rec_type == "revisit")
        assert record.rec_headers.get_header("WARC-Refers-To-Target-URI") == "http://e.test/a"
        assert record.rec_headers.get_header("WARC-Refers-To-Date") == "2026-01-02T12:00:00.250000Z"
        assert record.rec_headers.get_header("WARC-Payload-Digest") == payload_digest(b"one")
        assert record.rec_headers.get_header("WARC-Truncated") == "length"
        assert record.content_stream().read() == b""


def test_a_304_leaves_its_revisit_without_a_block_and_its_head_in_a_record_of_its_own(batch: WarcBatch) -> None:
    place, _ = batch.add(capture("http://e.test/a", b"one"), digest=payload_digest(b"one"))
    copy = StoredCopy("http://e.test/a", NOON, payload_digest(b"one"), place)
    confirmed = answer(
        "http://e.test/a", 304, b"", ("Content-Length", "3"), ("etag", 'W/"gr\u00fcn"'), reason="Not Modified"
    )
    batch.add(confirmed, digest=copy.payload_digest, original=copy)
    batch.seal(rows_for(), sealed_at=NOON)
    with batch.path.open("rb") as stream:
        records = [(r.rec_headers, r.raw_stream.read()) for r in ArchiveIterator(stream, no_record_parse=True)]
    (revisit, block), (request, _), (head, received) = records[3:6]
    told = {name: revisit.get_header(f"WARC-{name}") for name in ("Type", "Profile", "Payload-Digest", "Truncated")}
    assert told == {
        "Type": "revisit",
        "Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        "Payload-Digest": payload_digest(b"one"),
        "Truncated": None,
    }
    assert (revisit.get_header("WARC-Target-URI"), block) == ("http://e.test/a", b"")
    assert request.get_header("WARC-Type") == "request"
    assert head.get_header("WARC-Type") == "metadata"
    assert head.get_header("WARC-Refers-To") == revisit.get_header("WARC-Record-ID")
    assert received == b'HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\netag: W/"gr\xfcn"\r\n\r\n'


def test_a_cut_body_says_so(batch: WarcBatch) -> None:
    batch.add(capture("http://e.test/a", b"on", truncated=Truncation.DISCONNECT), digest=payload_digest(b"on"))
    batch.seal(rows_for(), sealed_at=NOON)
    with batch.path.open("rb") as stream:
        record = next(r for r in ArchiveIterator(stream) if r.rec_type == "response")
        assert record.rec_headers.get_header("WARC-Truncated") == "disconnect"


def test_bodies_come_back_byte_for_byte_by_their_places(batch: WarcBatch, tmp_path: Path) -> None:
    bodies = [bytes([n]) * 1000 for n in range(5)]
    places = [
        batch.add(capture(f"http://e.test/{n}", body, ("X-Note", "gr\u00fc\u00dfe")), digest=payload_digest(body))[0]
        for n, body in enumerate(bodies)
    ]
    batch.seal(rows_for(), sealed_at=NOON)
    objects = FolderObjects(tmp_path / "store")
    objects.put_file(KEY, batch.path)
    assert [stored.body for stored in read_bodies(objects, places)] == bodies
    one = read_body(objects, KEY, places[3].offset, places[3].length)
    assert (one.url, one.body, one.header("content-type")) == ("http://e.test/3", bodies[3], "text/html")
    assert [s.body for s in read_bodies(objects, [places[4], places[0]])] == [bodies[4], bodies[0]]


def test_the_rows_can_be_read_back_from_the_file(batch: WarcBatch) -> None:
    rows = rows_for(batch.add(capture("http://e.test/a", b"one"), digest=payload_digest(b"one"))[0])
    batch.seal(rows, sealed_at=NOON)
    assert facts_table(read_facts(batch.path.read_bytes(), "a"), FETCHES).equals(rows)


def test_an_unsealed_file_has_no_facts(batch: WarcBatch) -> None:
    batch.add(capture("http://e.test/a", b"one"), digest=payload_digest(b"one"))
    batch._stream.flush()
    with pytest.raises(DamagedArchive, match="no facts record"):
        read_facts(batch.path.read_bytes(), "a.warc.gz")


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_cut_file_does_not_verify(batch: WarcBatch, cut: int) -> None:
    place, _ = batch.add(capture("http://e.test/a", b"one" * 500), digest=payload_digest(b"one" * 500))
    batch.seal(rows_for(), sealed_at=NOON)
    data = batch.path.read_bytes()
    batch.path.write_bytes(data[: place.offset + place.length - cut])
    with pytest.raises(DamagedArchive, match=f"offset {place.offset}"):
        verify_members(batch.path, [(0, place.offset), (place.offset, place.length)])


def test_a_flipped_byte_is_found_when_the_body_is_read(batch: WarcBatch, tmp_path: Path) -> None:
    place, _ = batch.add(capture("http://e.test/a", b"one" * 500), digest=payload_digest(b"one" * 500))
    batch.seal(rows_for(), sealed_at=NOON)
    data = bytearray(batch.path.read_bytes())
    data[place.offset + place.length // 2] ^= 0xFF
    objects = FolderObjects(tmp_path / "store")
    objects.put(KEY, bytes(data))
    with pytest.raises(DamagedArchive):
        read_body(objects, KEY, place.offset, place.length)


@pytest.fixture
def archive(batch: WarcBatch) -> Path:
    place, _ = batch.add(capture("http://e.test/a", b"one"), digest=payload_digest(b"one"))
    copy = StoredCopy("http://e.test/a", NOON, payload_digest(b"one"), place)
    batch.add(capture("http://e.test/b", b"one"), digest=copy.payload_digest, original=copy)
    batch.add(capture("http://e.test/c", GZIPPED, ("Content-Encoding", "gzip")), digest=payload_digest(GZIPPED))
    batch.add(capture("http://e.test/d", b"abc", ("Transfer-Encoding", "chunked")), digest=payload_digest(b"abc"))
    batch.add(answer("http://e.test/a", 304, b""), digest=copy.payload_digest, original=copy)
    batch.seal(rows_for(), sealed_at=NOON)
    return batch.path


def test_warcio_check_passes_each_record(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        warcio_command(["check", "-v", str(archive)])
    assert not ended.value.code
    told = capsys.readouterr().out
    # Revisits and metadata have no payload that warcio would check.
    assert (told.count("digest pass"), told.count("digest failed")) == (10, 0)


def test_fastwarc_reads_what_warcio_reads(archive: Path) -> None:
    with archive.open("rb") as stream:
        digests = [record.verify_block_digest() for record in FastWarcIterator(stream, parse_http=False)]
    with archive.open("rb") as stream:
        fast = [(r.headers["WARC-Record-ID"], r.reader.read()) for r in FastWarcIterator(stream, parse_http=False)]
    with archive.open("rb") as stream:
        records = ArchiveIterator(stream, no_record_parse=True)
        assert fast == [(r.rec_headers.get_header("WARC-Record-ID"), r.raw_stream.read()) for r in records]
    assert digests == [True] * len(fast)


def test_warcio_index_finds_the_records_where_we_put_them(archive: Path, tmp_path: Path) -> None:
    output = tmp_path / "index.ndjson"
    Indexer(["offset", "warc-type", "warc-target-uri", "http:status"], [str(archive)], str(output)).process_all()
    theirs = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    with archive.open("rb") as stream:
        ours = inspect_file(stream)
    assert ours.problems == []
    assert [(int(r["offset"]), r["warc-type"], r.get("warc-target-uri")) for r in theirs] == [
        (r.offset, r.record_type, r.uri) for r in ours.records
    ]
    captures = [r for r in theirs if r["warc-type"] in ("response", "revisit")]
    assert [r.get("http:status") for r in captures] == ["200"] * 4 + [None]


def test_warcio_recompress_finds_nothing_to_fix(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warcio_command(["recompress", "-v", str(archive), str(tmp_path / "again.warc.gz")])
    assert "No Errors Found!" in capsys.readouterr().out
    with archive.open("rb") as before, (tmp_path / "again.warc.gz").open("rb") as after:
        ours, theirs = inspect_file(before), inspect_file(after)
    assert theirs.problems == []
    assert [(r.uri, r.status) for r in theirs.records] == [(r.uri, r.status) for r in ours.records]


def test_the_index_leads_to_the_record(batch: WarcBatch) -> None:
    place, _ = batch.add(capture("http://e.test/a", b"one"), digest=payload_digest(b"one"))
    rows = rows_for(place)
    batch.seal(rows, sealed_at=NOON)
    line = cdxj(rows).decode()
    assert line.startswith('test,e)/a 20260102120000 {"url": "http://e.test/a", "mime": "text/html", "status": "200"')
    member = batch.path.read_bytes()[place.offset : place.offset + place.length]
    assert next(iter(ArchiveIterator(BytesIO(member)))).rec_headers.get_header("WARC-Target-URI") == "http://e.test/a"

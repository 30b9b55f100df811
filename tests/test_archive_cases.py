"""Crawls in situations that other crawlers have archived wrongly: what is stored, checked, read back and indexed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path

import dagster as dg
import pytest
from fastwarc.warc import ArchiveIterator as FastWarcIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator

from assets import names
from assets.crawl.archive_checks import DIGESTS_VERIFY
from assets.warc.reading import read_body
from resources.folder_objects import FolderObjects
from resources.ports import SiteSettings
from tests.support.loopback import LoopbackSite, Page
from tests.support.rig import DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

pytestmark = [pytest.mark.slow, in_a_folder]


def crawl(rig: Rig, site: LoopbackSite) -> dg.ExecuteInProcessResult:
    rig.catalog = DictCatalog(
        {
            site.host: SiteSettings(
                site.host, seeds=(site.url("/"),), min_delay_s=0, allow_private_networks=True, max_depth=1
            )
        }
    )
    return rig.crawl(site.host)


@dataclass(frozen=True, slots=True)
class Wire(Page):
    """A page whose body is all that goes over the wire, head included."""

    def response(self, asked_header: Callable[[str], str | None], *, origin: str) -> bytes:
        """Give the bytes."""
        assert isinstance(self.body, bytes)
        return self.body


ODD = {
    # path: bytes on the wire, status line and headers as they are to be stored, body
    "/folded": (
        b"HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 2\r\n\r\nok",
        ("200 OK", (("X-A", "one two"), ("Content-Length", "2"))),
        b"ok",
    ),
    "/nameless": (
        b"HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nbare",
        ("200", (("Content-Length", "4"),)),
        b"bare",
    ),
    "/foreign": (
        b"HTTP/1.1 200 Gr\xfcn\r\nX-Latin: caf\xe9\r\nContent-Length: 1\r\n\r\n\xff",
        ("200 Gr\xfcn", (("X-Latin", "caf\xe9"), ("Content-Length", "1"))),
        b"\xff",
    ),
    "/chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n%b"
        % b"4\r\n\x0b\x01\x80h\r\n2\r\ni\x03\r\n0\r\n\r\n",
        (
            "200 OK",
            (("Content-Encoding", "br"), ("X-Crawler-Transfer-Encoding", "chunked"), ("Content-Length", "6")),
        ),
        b"\x0b\x01\x80hi\x03",
    ),
}


def test_odd_heads_are_stored_so_that_every_reader_gets_the_same_bytes(rig: Rig) -> None:
    links = "".join(f'<a href="{path}">x</a>' for path in ODD)
    with LoopbackSite({"/": Page(links), **{path: Wire(wire) for path, (wire, _, _) in ODD.items()}}) as site:
        result = crawl(rig, site)
        assert result.success, failure_sentence(result)
    rows = rig.rows(names.T_FETCHES, site.host, layer="depth_1", purpose="page")
    assert {row["url"].removeprefix(site.url("")): row["truncated"] for row in rows} == dict.fromkeys(ODD)
    for row in rows:
        _, head, body = ODD[row["url"].removeprefix(site.url(""))]
        start, length = row["warc_offset"], row["warc_bytes"]
        member = rig.objects.get(row["warc_file"], offset=start, length=length)
        theirs = next(iter(ArchiveIterator(BytesIO(member), check_digests="raise")))
        fast = next(iter(FastWarcIterator(BytesIO(member), record_types=WarcRecordType.response)))
        ours = read_body(rig.objects, row["warc_file"], start, length)
        assert theirs.http_headers.protocol == "HTTP/1.1"
        assert (theirs.http_headers.statusline, tuple(theirs.http_headers.headers)) == head
        assert (theirs.raw_stream.read(), fast.reader.read(), ours.body) == (body, body, body)
        assert (ours.http_headers, tuple(fast.http_headers.items())) == (head[1], head[1])


STORY = "<title>Story</title><article><p>" + "A long story of the sea and its many tides. " * 20 + "</article>"


def test_a_body_that_breaks_off_changes_neither_the_page_nor_the_index(rig: Rig) -> None:
    with LoopbackSite({"/": Page('<a href="/story">story</a>'), "/story": Page(STORY)}) as site:
        assert crawl(rig, site).success
        before = standing(rig, site)
        cut = f"28\r\n{STORY[:0x28]}\r\nno chunk at all\r\n"
        site.pages["/story"] = Page(cut, headers=(("Transfer-Encoding", "chunked"),))
        assert crawl(rig, site).success
    assert [row["reason"] for row in rig.rows(names.T_FETCHES, site.host, outcome="truncated", is_final=True)] == [
        "cut after 40 bytes: disconnect"
    ]
    assert standing(rig, site) == before


def test_a_page_that_is_not_modified_stands_as_before_but_was_asked_later(rig: Rig) -> None:
    hub = Page(f"{STORY}<a href='/p1'>one</a>", headers=(("Last-Modified", "Fri, 02 Jan 2026 12:00:00 GMT"),))
    with LoopbackSite({"/": hub, "/p1": Page(STORY.replace("Story", "Page"))}) as site:
        assert crawl(rig, site).success
        before, asked = standing(rig, site), last_asked(rig, site)
        assert crawl(rig, site).success
    assert [row["record_type"] for row in rig.rows(names.T_FETCHES, site.host, outcome="not_modified")] == ["revisit"]
    assert standing(rig, site) == before
    now_asked = last_asked(rig, site)
    assert now_asked.keys() == asked.keys() == {site.url("/"), site.url("/p1")}
    assert all(now_asked[key] > asked[key] for key in asked)


def standing(rig: Rig, site: LoopbackSite) -> tuple[dict[str, tuple[str, str]], list[str], list[tuple[str, str]]]:
    """Give how pages stand, which versions of them there are, and what the index holds."""
    state = rig.rows(names.T_PAGE_STATE, site.host)
    versions = rig.rows(names.T_PAGES, site.host)
    fed = rig.rows(names.T_FEED_STATE, site.host)
    return (
        {row["url_key"]: (row["status"], row["payload_digest"]) for row in state},
        sorted(row["url_key"] for row in versions),
        sorted((row["url_key"], row["document_digest"]) for row in fed),
    )


def last_asked(rig: Rig, site: LoopbackSite) -> dict[str, datetime]:
    return {row["url_key"]: row["last_asked_at"] for row in rig.rows(names.T_PAGE_STATE, site.host)}


class CuttingObjects(FolderObjects):
    """A store that loses the end of archives after they were published."""

    lost: Callable[[int], int]  # size of a file -> how many of its last bytes

    def put_file(self, key: str, path: Path) -> None:
        """Publish a file, and lose its end."""
        super().put_file(key, path)
        if key.endswith(".warc.gz"):
            data = path.read_bytes()
            self.put(key, data[: len(data) - self.lost(len(data))])


@pytest.mark.parametrize("lost", [lambda size: 30, lambda size: size // 2], ids=["30 bytes", "half"])
def test_an_archive_that_lost_its_end_fails_its_check_with_the_offset(rig: Rig, lost: Callable[[int], int]) -> None:
    objects = CuttingObjects(Path(rig.store))
    objects.lost = lost
    rig.objects = objects
    with LoopbackSite({"/": Page(STORY)}) as site:
        result = crawl(rig, site)
    (check,) = (
        check
        for check in result.get_asset_check_evaluations()
        if (check.asset_key, check.check_name) == (names.depth(0).raw_batches, DIGESTS_VERIFY)
    )
    assert not check.passed
    assert check.description is not None
    assert ".warc.gz at offset " in check.description
    assert "cut short" in check.description

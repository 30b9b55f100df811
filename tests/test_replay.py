"""Replay: pywb, which knows nothing of us, indexes the archive of a crawl and shows each capture as it was received.

pywb lives in a Python of its own (``make peers``).
"""

import gzip
import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assets import names
from resources.ports import SiteSettings
from tests.support.loopback import LoopbackSite, Page
from tests.support.rig import DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

PEERS = Path(__file__).resolve().parent.parent / ".venv-peers" / "bin"
GIVE_UP_S = 60.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (PEERS / "wb-manager").exists(), reason="no pywb here: `make peers` gets it"),
    in_a_folder,  # pywb reads files
]

# What the command `wayback` runs; that one does not say which free port it took.
_WAYBACK = """
from gevent.monkey import patch_all
patch_all()
from gevent.pywsgi import WSGIServer
from pywb.apps.frontendapp import FrontEndApp
server = WSGIServer(("127.0.0.1", 0), FrontEndApp())
server.start()
print(server.server_port, flush=True)
server.serve_forever()
"""

PACKED = gzip.compress("<p>Packed, and still packed: größer.".encode(), mtime=0)
TIDES = b"\xff<title>Tides</title><p>\x00Bytes of no charset, and <a href='/packed'>a link</a>.\r\n"
SAME = Page("<title>Same</title><p>Two addresses hold these very bytes.")
PAGES = {
    "/": Page(
        "".join(f'<a href="{path}">x</a>' for path in ("/tides", "/packed", "/chunked", "/moved", "/a", "/b", "/kept"))
    ),
    "/tides": Page(TIDES, content_type="text/html"),
    "/packed": Page(PACKED, headers=(("Content-Encoding", "gzip"),)),
    "/chunked": Page("5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n", headers=(("Transfer-Encoding", "chunked"),)),
    "/moved": Page("<p>Moved.", 302, (("Location", "/tides"),)),
    "/a": SAME,
    "/b": SAME,
    "/kept": Page("<title>Kept</title><p>This page stays as it is.", headers=(("ETag", '"kept-1"'), ("X-Note", "old"))),
}


@dataclass(frozen=True)
class Replayed:
    """What pywb sent."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Wayback:
    """A running pywb with one collection."""

    port: int

    def get(self, row: dict[str, Any], **headers: str) -> Replayed:
        """Ask for the capture of a row of ``fetches`` as it was stored, without rewriting."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=GIVE_UP_S)
        try:
            connection.request("GET", f"/crawl/{row['requested_at']:%Y%m%d%H%M%S}id_/{row['url']}", headers=headers)
            answer = connection.getresponse()
            return Replayed(answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()


def indexed(home: Path, archives: list[Path]) -> Path:
    """Let pywb index archives in a folder of its own; give the index."""
    home.mkdir()
    (home / "config.yaml").write_text("debug: false\n")
    for arguments in (["init", "crawl"], ["add", "crawl", *map(str, archives)]):
        command = [str(PEERS / "wb-manager"), *arguments]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=GIVE_UP_S, check=False)
        assert done.returncode == 0, done.stderr
    return home / "collections" / "crawl" / "indexes" / "index.cdxj"


@contextmanager
def wayback(home: Path) -> Iterator[Wayback]:
    """Let pywb serve what it has indexed, on a free port of 127.0.0.1."""
    with (home / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [str(PEERS / "python"), "-c", _WAYBACK], cwd=home, stdout=subprocess.PIPE, stderr=log, text=True
        )
    with process:
        assert process.stdout is not None
        try:
            port = process.stdout.readline()
            assert port, (home / "log.txt").read_text()
            yield Wayback(int(port))
        finally:
            process.terminate()


class CrawledTwice:
    """The archive of two crawls of one site, and its rows."""

    def __init__(self, rig: Rig) -> None:
        with LoopbackSite(PAGES) as site:
            settings = SiteSettings(site.host, seeds=(site.url("/"),), min_delay_s=0, allow_private_networks=True)
            rig.catalog = DictCatalog({site.host: settings})
            for _ in range(2):
                result = rig.crawl(site.host)
                assert result.success, failure_sentence(result)
                finished = datetime.now(UTC)
                while datetime.now(UTC).replace(microsecond=0) <= finished:  # replay knows captures by the second
                    pass
        self.archives = sorted(Path(rig.store).glob("raw/**/*.warc.gz"))
        self.indexes = sorted(Path(rig.store).glob("raw/**/*.cdxj"))
        rows = rig.rows(names.T_FETCHES, site.host, purpose="page")
        crawls = sorted({row["crawl_id"] for row in rows})
        self._rows = {(crawls.index(row["crawl_id"]), row["url"].removeprefix(site.url(""))): row for row in rows}

    def row(self, crawl: int, path: str) -> dict[str, Any]:
        """Give the row of a path in the first (0) or second (1) crawl."""
        return self._rows[crawl, path]


def test_pywb_replays_each_capture_as_it_was_received(rig: Rig, tmp_path: Path) -> None:
    crawled = CrawledTwice(rig)
    indexed(tmp_path / "pywb", crawled.archives)
    with wayback(tmp_path / "pywb") as pywb:
        found = {path: pywb.get(crawled.row(0, path)) for path in PAGES}
        packed = pywb.get(crawled.row(0, "/packed"), **{"Accept-Encoding": "gzip"})
        again = {path: pywb.get(crawled.row(1, path)) for path in PAGES}
    assert {path: replayed.status for path, replayed in found.items()} == dict.fromkeys(PAGES, 200) | {"/moved": 302}
    assert found["/tides"].body == TIDES
    assert (packed.body, packed.headers["content-encoding"]) == (PACKED, "gzip")
    assert found["/packed"].body == gzip.decompress(PACKED)
    assert (found["/chunked"].body, found["/chunked"].headers["content-length"]) == (b"hello, world", "12")
    assert found["/moved"].headers["location"] == "/tides"

    # The payload of a revisit is that of its original: of another address, of the crawl before, of what a 304 confirms.
    assert crawled.row(0, "/b")["record_type"] == "revisit"
    assert found["/b"].body == found["/a"].body == str(SAME.body).encode()
    assert {crawled.row(1, path)["record_type"] for path in PAGES} == {"revisit"}
    assert [row["status"] for row in (crawled.row(0, "/kept"), crawled.row(1, "/kept"))] == [200, 304]
    told = {path: (replayed.status, replayed.body) for path, replayed in again.items() if path != "/moved"}
    assert told == {path: (replayed.status, replayed.body) for path, replayed in found.items() if path != "/moved"}
    assert again["/kept"].headers["x-note"] == "old"
    assert again["/kept"].headers["memento-datetime"] != found["/kept"].headers["memento-datetime"]
    # Who is sent elsewhere never sees this body, and pywb does not look for it.
    assert (again["/moved"].status, again["/moved"].headers["location"]) == (302, "/tides")


def test_our_index_is_the_one_that_pywb_makes(rig: Rig, tmp_path: Path) -> None:
    crawled = CrawledTwice(rig)
    theirs = indexed(tmp_path / "pywb", crawled.archives).read_text("utf-8")
    ours = "".join(path.read_text("utf-8") for path in crawled.indexes)
    assert captures(ours) == captures(theirs)


def captures(index: str) -> set[tuple[str, ...]]:
    """Read the lines of an index, but those of records that are no captures."""
    lines = (line.split(" ", 2) for line in index.splitlines() if not line.startswith("urn:"))
    fields = ("url", "mime", "digest", "length", "offset", "filename")
    return {(key, moment, *(json.loads(rest)[name] for name in fields)) for key, moment, rest in lines}

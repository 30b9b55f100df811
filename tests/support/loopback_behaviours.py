"""What the loopback site does under ``/_/``: one function for each way in which servers misbehave, or just differ.

/_/slow?s=1            answers after s seconds          /_/status/NNN         answers with that status
/_/drip                a body that never ends, slowly   /_/retry-after?v=9    503 (or status=) with Retry-After
/_/drip-head           the same with headers            /_/etag               ETag "v1"; 304 to If-None-Match
/_/drop                promises 1000 bytes, sends 10    /_/not-http           speaks SSH
/_/drop-before         closes without an answer         /_/headers-bomb       headers without end
/_/chunked             three chunks and a trailer       /_/charset/NAME       a page in euc-kr, shift_jis, gbk, ...
/_/broken-chunks       one good chunk, then rubbish     /_/folded-header      a header on three lines, and a bad line
/_/gzip /_/lying-gzip  gzip, and plain that says gzip   /_/loops/...          relative links that grow for ever
/_/bomb                gzip of 200 MB of zeros          /_/many/N             N links to /_/leaf/0 ... /_/leaf/N-1
/_/endless             a fast body without end          /_/early-hints        103 before the answer
/_/ring/a /_/ring/b    redirect to each other           /_/http10             HTTP/1.0, ends by closing
/_/hops/N              N redirects, then a page         /_/surplus            more bytes than Content-Length
/_/cookie-wall         redirects to itself until it gets its cookie
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from threading import Event

from tests.support.pages import Page, head

BOMB_BYTES = 200 * 1024 * 1024
MOST_SENT_BYTES = 256 * 1024 * 1024  # by an "endless" answer, should nobody hang up

HTML = ("Content-Type", "text/html; charset=utf-8")
CLOSE = ("Connection", "close")

_TEXTS = {
    "euc-kr": "바다 깊이가 같은 점을 이은 선을 등심선이라고 한다.",
    "shift_jis": "海の深さが等しい点を結んだ線を等深線という。",
    "euc-jp": "海の深さが等しい点を結んだ線を等深線という。",
    "iso-2022-jp": "海の深さが等しい点を結んだ線を等深線という。",
    "gbk": "把海洋中深度相同的各点连接起来的线叫等深线。",
    "gb2312": "把海洋中深度相同的各点连接起来的线叫等深线。",
    "gb18030": "把海洋中深度相同的各点连接起来的线叫等深线。𠮷",
    "big5": "把海洋中深度相同的各點連接起來的線叫等深線。",
    "windows-1251": "Изобата соединяет точки равной глубины.",
    "koi8-r": "Изобата соединяет точки равной глубины.",
    "windows-1252": "L’isobathe relie les points d’égale profondeur – déjà vu.",
    "iso-8859-2": "Izobata łączy punkty o równej głębokości.",
    "utf-8": "An isobath joins points of equal depth — everywhere.",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request under ``/_/``, and the means to answer it by hand."""

    path: str
    query: dict[str, str]
    header: Callable[[str], str | None]
    send: Callable[[bytes], None]
    closing: Event

    @property
    def rest(self) -> str:
        """What follows ``/_/NAME/``."""
        return self.path.removeprefix("/_/").partition("/")[2]


def behave(asked: Asked) -> Page | bool:
    """Give the page to answer with; or say, all being sent, whether the connection stays open."""
    name = asked.path.removeprefix("/_/").partition("/")[0]
    behaviour = _BEHAVIOURS.get(name)
    return behaviour(asked) if behaviour else Page("no such behaviour", 404)


def _slow(asked: Asked) -> Page:
    asked.closing.wait(float(asked.query.get("s", "1")))
    return Page("slow")


def _drip(asked: Asked) -> bool:
    asked.send(head(200, [HTML, CLOSE]))
    return _pour(asked, repeat(b"."), pause_s=0.02)


def _drip_head(asked: Asked) -> bool:
    asked.send(b"HTTP/1.1 200 OK\r\n")
    return _pour(asked, repeat(b"X-Drip: 1\r\n"), pause_s=0.02)


def _endless(asked: Asked) -> bool:
    asked.send(head(200, [HTML, CLOSE]))
    return _pour(asked, repeat(b"<p>and so on</p>\n" * 4096))


def _headers_bomb(asked: Asked) -> bool:
    asked.send(b"HTTP/1.1 200 OK\r\n")
    return _pour(asked, (f"X-Bomb-{number}: {'x' * 1000}\r\n".encode() for number in range(MOST_SENT_BYTES)))


def _pour(asked: Asked, pieces: Iterator[bytes], *, pause_s: float = 0.0) -> bool:
    sent_bytes = 0
    for piece in pieces:
        if asked.closing.wait(pause_s) if pause_s else asked.closing.is_set():
            break
        asked.send(piece)
        sent_bytes += len(piece)
        if sent_bytes > MOST_SENT_BYTES:
            break
    return False


def _drop(asked: Asked) -> bool:
    asked.send(head(200, [HTML, ("Content-Length", "1000")]) + b"0123456789")
    return False


def _drop_before(asked: Asked) -> bool:
    return False


def _chunked(asked: Asked) -> bool:
    chunks = b"5\r\nfirst\r\n7;ext=1\r\n second\r\n6\r\n third\r\n0\r\nX-Trailer: 1\r\n\r\n"
    asked.send(head(200, [HTML, ("Transfer-Encoding", "chunked")]) + chunks)
    return True


def _broken_chunks(asked: Asked) -> bool:
    asked.send(head(200, [HTML, ("Transfer-Encoding", "chunked")]) + b"4\r\ngood\r\nzz\r\nbad\r\n")
    return False


def _gzip(asked: Asked) -> Page:
    return Page(gzip.compress(b"<p>packed", mtime=0), headers=(("Content-Encoding", "gzip"),))


def _lying_gzip(asked: Asked) -> Page:
    return Page("<p>not packed at all", headers=(("Content-Encoding", "gzip"),))


def _bomb(asked: Asked) -> Page:
    return Page(_bomb_body(), headers=(("Content-Encoding", "gzip"),))


@lru_cache(maxsize=1)
def _bomb_body() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    mebibyte = bytes(1024 * 1024)
    packed = b"".join(packer.compress(mebibyte) for _ in range(BOMB_BYTES // len(mebibyte)))
    return packed + packer.flush()


def _ring(asked: Asked) -> Page:
    return _redirect("/_/ring/b" if asked.rest == "a" else "/_/ring/a")


def _hops(asked: Asked) -> Page:
    left = int(asked.rest or 0)
    return _redirect(f"/_/hops/{left - 1}") if left > 0 else Page("<p>arrived")


def _cookie_wall(asked: Asked) -> Page:
    if "seen=1" in (asked.header("Cookie") or ""):
        return Page("<p>behind the wall")
    return Page("", 302, (("Location", "/_/cookie-wall"), ("Set-Cookie", "seen=1; Path=/")))


def _redirect(location: str) -> Page:
    return Page("", 302, (("Location", location),))


def _status(asked: Asked) -> Page:
    return Page(f"<p>status {asked.rest}", int(asked.rest))


def _retry_after(asked: Asked) -> Page:
    return Page("<p>later", int(asked.query.get("status", "503")), (("Retry-After", asked.query.get("v", "1")),))


def _etag(asked: Asked) -> Page:
    return Page("<p>version one", headers=(("ETag", '"v1"'),))


def _not_http(asked: Asked) -> bool:
    asked.send(b"SSH-2.0-OpenSSH_9.9\r\n")
    return False


def _charset(asked: Asked) -> Page:
    text = f"<!doctype html><title>{asked.rest}</title><p>{_TEXTS[asked.rest]}"
    return Page(text.encode(asked.rest), content_type=f"text/html; charset={asked.rest}")


def _folded_header(asked: Asked) -> bool:
    folded = "X-Folded: one\r\n two\r\n\t three\r\n"
    fields = f"{folded}this is no header\r\nX-After: yes\r\nx-after: again\r\nX-Latin: caf\xe9\r\n"
    asked.send(f"HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok".encode("iso-8859-1"))
    return True


def _loops(asked: Asked) -> Page:
    return Page('<title>Loop</title><a href="deeper/">deeper</a> <a href="wider/?again=1">wider</a>')


def _many(asked: Asked) -> Page:
    links = "".join(f'<li><a href="/_/leaf/{number}">leaf {number}</a>' for number in range(int(asked.rest)))
    return Page(f"<title>{asked.rest} links</title><ul>{links}</ul>")


def _leaf(asked: Asked) -> Page:
    return Page(f"<title>Leaf {asked.rest}</title><p>This is leaf number {asked.rest}, and it links nothing.")


def _early_hints(asked: Asked) -> Page:
    asked.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
    return Page("<p>after the hints")


def _http10(asked: Asked) -> bool:
    asked.send(b"HTTP/1.0 200 Fine\r\nContent-Type: text/plain\r\n\r\nold school")
    return False


def _surplus(asked: Asked) -> Page:
    asked.send(head(200, [HTML, ("Content-Length", "4")]) + b"four and more")
    return Page("a second answer that nobody asked for")


_BEHAVIOURS: dict[str, Callable[[Asked], Page | bool]] = {
    "slow": _slow,
    "drip": _drip,
    "drip-head": _drip_head,
    "drop": _drop,
    "drop-before": _drop_before,
    "chunked": _chunked,
    "broken-chunks": _broken_chunks,
    "gzip": _gzip,
    "lying-gzip": _lying_gzip,
    "bomb": _bomb,
    "endless": _endless,
    "ring": _ring,
    "hops": _hops,
    "cookie-wall": _cookie_wall,
    "status": _status,
    "retry-after": _retry_after,
    "etag": _etag,
    "not-http": _not_http,
    "headers-bomb": _headers_bomb,
    "charset": _charset,
    "folded-header": _folded_header,
    "loops": _loops,
    "many": _many,
    "leaf": _leaf,
    "early-hints": _early_hints,
    "http10": _http10,
    "surplus": _surplus,
}

"""The fetcher against a real server: what is sent and what comes back, to the byte."""

import re
import zlib
from collections.abc import Iterator
from datetime import UTC

import pytest

from resources.ports import Fetcher, FetchFailure, Truncation
from tests.support.asking import HEADERS, Asker, ask, ask_together, make_fetcher
from tests.support.loopback import LoopbackSite, Page


@pytest.fixture(scope="module")
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite({"/": "<title>Home</title>", "/five": "12345"}) as running:
        yield running


@pytest.fixture(scope="module")
def fetcher() -> Iterator[Asker]:
    made = make_fetcher()
    yield made
    made.close()


def test_a_page_comes_back_whole(site: LoopbackSite, fetcher: Asker) -> None:
    assert isinstance(fetcher.fetcher, Fetcher)
    answer = ask(fetcher, site.url("/"))
    assert (answer.status, answer.reason, answer.http_version) == (200, "OK", "HTTP/1.1")
    assert answer.headers == (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", "19"))
    assert answer.body == b"<title>Home</title>"
    assert (answer.truncated, answer.failure, answer.peer_ip) == (None, None, "127.0.0.1")
    assert answer.started_at.tzinfo is UTC
    assert 0 <= answer.fetch_ms < 5000


@pytest.mark.parametrize(
    "headers",
    [HEADERS, (), (("accept-language", "el"), ("Cookie", "a=1; b=2"), ("If-None-Match", '"caf\xe9"'))],
    ids=["usual", "none", "odd"],
)
def test_the_head_that_is_reported_is_the_head_that_the_server_saw(
    fetcher: Asker, headers: tuple[tuple[str, str], ...]
) -> None:
    with LoopbackSite() as site:
        answer = ask(fetcher, site.url("/a?b=c"), headers=headers)
        (seen,) = site.requests
    lines = answer.request_head.decode("iso-8859-1").split("\r\n")
    assert lines[0] == "GET /a?b=c HTTP/1.1" == f"{seen.method} {seen.path} {seen.version}"
    assert lines[1:-2] == list(seen.header_lines) == [f"Host: {site.host}", *(f"{n}: {v}" for n, v in headers)]
    assert lines[-2:] == ["", ""]


@pytest.mark.parametrize(
    "path",
    [
        "/%7Euser",
        "/%7euser",
        "/a|b",
        "/a%7Cb",
        "/a;b=1?c;d",
        "/a//b/",
        "/x?q=[1]&r={2}^`",
        "/%zz",
        "/a'b\"?'",
        "/?",
        "//x",
    ],
)
def test_the_url_is_sent_exactly_as_given(fetcher: Asker, path: str) -> None:
    with LoopbackSite() as site:
        ask(fetcher, site.url(path))
        assert site.paths_seen() == [path]


def test_a_url_without_a_path_asks_for_the_root(fetcher: Asker) -> None:
    with LoopbackSite() as site:
        ask(fetcher, site.url(""))
        ask(fetcher, site.url("?q=/"))
        assert site.paths_seen() == ["/", "/?q=/"]


@pytest.mark.parametrize(
    "url", ["ftp://host/", "/path", "http://host/#f", "http://host/a b", "http://host/é", "http://h/\n"]
)
def test_a_malformed_request_is_a_bug_of_the_caller(fetcher: Asker, url: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        ask(fetcher, url)


@pytest.mark.parametrize("headers", [(("Host", "x"),), (("X", "a\r\nB: c"),)], ids=["host", "line break"])
def test_a_header_that_must_not_be_sent_is_a_bug_of_the_caller(
    site: LoopbackSite, fetcher: Asker, headers: tuple[tuple[str, str], ...]
) -> None:
    with pytest.raises(ValueError, match=r"Host|header"):
        ask(fetcher, site.url("/"), headers=headers)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/_/chunked", b"first second third"),
        ("/_/http10", b"old school"),
        ("/_/early-hints", b"<p>after the hints"),
        ("/_/lying-gzip", b"<p>not packed at all"),
        ("/_/status/204", b""),
        ("/_/status/999", b"<p>status 999"),
        ("/_/status/503", b"<p>status 503"),
    ],
)
def test_bodies_end_where_they_should(site: LoopbackSite, fetcher: Asker, path: str, body: bytes) -> None:
    for _ in range(2):
        answer = ask(fetcher, site.url(path))
        assert (answer.body, answer.truncated, answer.failure) == (body, None, None)
        assert answer.status not in (103, None)


def test_content_encoding_is_kept(site: LoopbackSite, fetcher: Asker) -> None:
    answer = ask(fetcher, site.url("/_/gzip"))
    assert answer.header("content-encoding") == "gzip"
    assert zlib.decompress(answer.body, 31) == b"<p>packed"


def test_http_1_0_is_told_apart(site: LoopbackSite, fetcher: Asker) -> None:
    answer = ask(fetcher, site.url("/_/http10"))
    assert (answer.http_version, answer.status, answer.reason) == ("HTTP/1.0", 200, "Fine")


def test_headers_keep_order_and_duplicates_and_survive_a_malformed_line(site: LoopbackSite, fetcher: Asker) -> None:
    answer = ask(fetcher, site.url("/_/folded-header"))
    assert answer.headers == (
        ("X-Folded", "one two three"),
        ("X-After", "yes"),
        ("x-after", "again"),
        ("X-Latin", "caf\xe9"),
        ("Content-Length", "2"),
    )
    assert answer.body == b"ok"


def test_redirects_are_not_followed(fetcher: Asker) -> None:
    bad = Page("x" * 50_000, 302, (("Location", "http://[broken"), ("Set-Cookie", "a=1")))
    with LoopbackSite({"/bad": bad}) as site:
        answer = ask(fetcher, site.url("/_/hops/3"))
        assert (answer.status, answer.header("location")) == (302, "/_/hops/2")
        answer = ask(fetcher, site.url("/bad"), max_body_bytes=10)
        assert (answer.status, answer.header("LOCATION"), answer.truncated) == (
            302,
            "http://[broken",
            Truncation.LENGTH,
        )
        assert site.paths_seen() == ["/_/hops/3", "/bad"]


def test_cookies_are_neither_kept_nor_sent(fetcher: Asker) -> None:
    with LoopbackSite() as site:
        assert [ask(fetcher, site.url("/_/cookie-wall")).status for _ in range(3)] == [302, 302, 302]
        assert ask(fetcher, site.url("/_/cookie-wall"), headers=(("Cookie", "seen=1"),)).status == 200
        assert [seen.header("Cookie") for seen in site.requests] == [None, None, None, "seen=1"]


def test_a_conditional_request_gets_its_304(site: LoopbackSite, fetcher: Asker) -> None:
    etag = ask(fetcher, site.url("/_/etag")).header("ETag")
    assert etag == '"v1"'
    answer = ask(fetcher, site.url("/_/etag"), headers=(("If-None-Match", etag),))
    assert (answer.status, answer.body, answer.truncated) == (304, b"", None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_private_address_is_not_asked(fetcher: Asker, host: str) -> None:
    with LoopbackSite() as site:
        url = site.url("/").replace("127.0.0.1", host)
        answer = ask(fetcher, url, allow_private_networks=False)
        assert (answer.failure, answer.peer_ip, answer.request_head) == (FetchFailure.PRIVATE_ADDRESS, None, b"")
        assert "loopback" in answer.failure_detail
        assert site.requests == []


def test_a_guarded_request_never_rides_on_an_unguarded_connection(fetcher: Asker) -> None:
    with LoopbackSite() as site:
        assert ask(fetcher, site.url("/_/status/200")).status == 200
        answer = ask(fetcher, site.url("/_/status/200"), allow_private_networks=False)
        assert answer.failure is FetchFailure.PRIVATE_ADDRESS


def test_names_are_resolved_by_the_part_that_was_given(site: LoopbackSite) -> None:
    fetcher = make_fetcher(resolve=lambda host: ["127.0.0.1"])
    port = site.host.rpartition(":")[2]
    answer = ask(fetcher, f"http://made-up.test.:{port}/five")
    fetcher.close()
    assert (answer.body, answer.peer_ip) == (b"12345", "127.0.0.1")


def test_many_requests_are_open_at_once(site: LoopbackSite, fetcher: Asker) -> None:
    paths = [f"/_/leaf/{number}" for number in range(200)]
    answers = ask_together(fetcher, [site.url(path) for path in paths])
    assert [re.findall(rb"Leaf (\d+)", answer.body)[0].decode() for answer in answers] == [p[8:] for p in paths]
    assert all(f"GET {path} ".encode() in answer.request_head for path, answer in zip(paths, answers, strict=True))

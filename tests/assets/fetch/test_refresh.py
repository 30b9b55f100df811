"""Meta refresh as a redirect: all its spellings, and what is none."""

import gzip
import tracemalloc

import pytest

from assets.fetch.item import FetchItem
from assets.fetch.judge import judge
from assets.fetch.outcome import FetchOutcome
from assets.fetch.refresh import HEAD_BYTES, refresh_url
from resources.ports import FetchResponse, Truncation
from tests.support.answers import NOON, answer, page_item, surroundings

HTML = ("Content-Type", "text/html; charset=utf-8")


def page(markup: str, *headers: tuple[str, str], url: str = "http://e.test/d/a", status: int = 200) -> FetchResponse:
    return answer(url, status, markup.encode(), *(headers or (HTML,)))


def meta(content: str) -> str:
    return f'<!doctype html><html><head><meta http-equiv="refresh" content="{content}"></head><p>Moved.'


@pytest.mark.parametrize(
    "content",
    [
        "0;url=b",
        "0; url=b",
        "0;URL='b'",
        "0; Url = &quot;b&quot;",
        "0;url='b' and more",
        " 0 ; url=b ",
        "0,url=b",
        "0 url=b",
        "0;b",
        "0 b",
        "0;url= b ",
        "3;url=b",
        "0.9;url=b",
        "2.5; url=b",
        ".5; url=b",
        "00;url=b",
        "0;\n url=b",
        "0;url=/d/b",
        "0;url=//e.test/d/b",
        "0;url=http://e.test/d/b#top",
    ],
)
def test_each_spelling_of_a_short_refresh_is_a_redirect(content: str) -> None:
    assert refresh_url(page(meta(content))) == "http://e.test/d/b"


@pytest.mark.parametrize(
    "tag",
    [
        "<META HTTP-EQUIV=REFRESH CONTENT=0;URL=b>",
        "<meta content='0;url=b' http-equiv='Refresh'/>",
        '<meta name=x http-equiv=" refresh " content="0;url=b">',
        '<meta http-equiv="refresh" content="nonsense"><meta http-equiv="refresh" content="0;url=b">',
        '<base href="/d/x/"><meta http-equiv="refresh" content="0;url=../b">',
        '<noscript><meta http-equiv=refresh content="0;url=no"></noscript><meta http-equiv=refresh content="0;url=b">',
        '</head><body><meta http-equiv="refresh" content="0;url=b">',
    ],
)
def test_each_spelling_of_the_tag_is_read(tag: str) -> None:
    assert refresh_url(page(f"<html><head>{tag}")) == "http://e.test/d/b"


@pytest.mark.parametrize(
    "content",
    [
        "4;url=b",
        "60;url=b",
        "99999999999;url=b",
        "0",
        "5",
        "",
        "url=b",
        "-1;url=b",
        "0;url=",
        "0;url=a",
        "0;url=#top",
        "0;url=javascript:go()",
        "0;url=mailto:a@e.test",
        "0;url=http://[::bad",
    ],
)
def test_a_long_refresh_a_reload_and_nonsense_are_no_redirect(content: str) -> None:
    assert refresh_url(page(meta(content))) is None


@pytest.mark.parametrize(
    "markup",
    [
        '<noscript><meta http-equiv="refresh" content="0;url=b"></noscript>',
        '<!-- <meta http-equiv="refresh" content="0;url=b"> -->',
        '<script>var old = "<meta http-equiv=refresh content=0;url=b>"</script>',
        '<meta name="refresh" content="0;url=b">',
        "<p>http-equiv refresh 0;url=b",
        "",
    ],
    ids=["for browsers without scripts", "comment", "script", "name", "text", "empty"],
)
def test_what_only_looks_like_a_refresh_is_none(markup: str) -> None:
    assert refresh_url(page(markup)) is None


def test_only_html_pages_with_status_200_are_read() -> None:
    assert refresh_url(page(meta("0;url=b"), status=203)) is None
    assert refresh_url(page(meta("0;url=b"), ("Content-Type", "text/plain"))) is None
    assert refresh_url(page(meta("0;url=b"), ("Content-Type", "TEXT/HTML"))) == "http://e.test/d/b"


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("0;url=b", "http://e.test/d/b"),
        ("3; URL='/b'", "http://e.test/b"),
        ("0,b", "http://e.test/d/b"),
        ("4;url=b", None),
        ("0;url=a", None),
        ("0", None),
        ("0;url=mailto:a@e.test", None),
        ("soon", "http://e.test/d/x/element"),
        ("", "http://e.test/d/x/element"),
    ],
)
def test_a_refresh_header_is_read_as_the_element_is_and_before_it(header: str, target: str | None) -> None:
    body = '<base href="x/"><meta http-equiv="refresh" content="0;url=element">'
    assert refresh_url(page(body, HTML, ("refresh", header))) == target


def test_a_refresh_header_needs_no_markup_but_a_page_that_was_found() -> None:
    header = ("Refresh", "0;url=b")
    assert refresh_url(answer("http://e.test/d/a", 200, b"", header)) == "http://e.test/d/b"
    assert refresh_url(answer("http://e.test/d/a", 404, b"", header)) is None


def test_a_packed_page_is_read() -> None:
    packed = answer(
        "http://e.test/d/a", 200, gzip.compress(meta("0;url=b").encode()), HTML, ("Content-Encoding", "gzip")
    )
    assert refresh_url(packed) == "http://e.test/d/b"


def test_a_bomb_is_not_unpacked_to_look_for_a_refresh() -> None:
    bomb = gzip.compress(meta("0;url=b").encode() + bytes(64 * 1024 * 1024), 1)
    response = answer("http://e.test/d/a", 200, bomb, HTML, ("Content-Encoding", "gzip"))
    tracemalloc.start()
    try:
        assert refresh_url(response) == "http://e.test/d/b"
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("before", [0, HEAD_BYTES - 60, HEAD_BYTES - 30, HEAD_BYTES])
def test_only_the_start_of_a_page_is_read_and_a_cut_tag_says_nothing(before: int) -> None:
    body = " " * before + meta("0;url=bcdefghijklmnopqrstuvwxyz") + "é" * HEAD_BYTES
    assert refresh_url(page(body)) == ("http://e.test/d/bcdefghijklmnopqrstuvwxyz" if before == 0 else None)


def test_a_character_cut_in_two_does_not_change_the_charset() -> None:
    head = '<meta http-equiv="refresh" content="0;url=caf\u00e9">'
    cut = answer("http://e.test/d/a", 200, (head + "é" * HEAD_BYTES).encode(), ("Content-Type", "text/html"))
    assert refresh_url(cut) == "http://e.test/d/caf%C3%A9"


def verdict_on(response: FetchResponse, item: FetchItem, *known: str) -> tuple[str, str, FetchItem | None]:
    found = judge(item, response, surroundings(known=set(known)), now=NOON, refusals=1)
    return found.outcome.value, found.reason, found.next_item


def test_a_short_refresh_goes_on_to_its_target() -> None:
    outcome, reason, following = verdict_on(page(meta("0;url=b")), page_item("http://e.test/d/a"))
    assert (outcome, reason) == ("redirected", "meta_refresh")
    assert following is not None
    assert (following.url, following.hop, following.origin_key) == ("http://e.test/d/b", 1, "http://e.test/d/a")


def test_a_refresh_is_held_to_the_rules_of_redirects() -> None:
    item = page_item("http://e.test/d/a")
    away = judge(item, page(meta("0;url=http://other.test/")), surroundings(), now=NOON, refusals=1)
    assert away.refused_hop is not None
    assert "out_of_scope" in away.refused_hop.reason
    known = verdict_on(page(meta("0;url=b")), item, "http://e.test/d/b")
    assert known == ("redirected", "target already known", None)
    last = verdict_on(page(meta("0;url=b")), page_item("http://e.test/d/a", hop=10))
    assert "more than 10 hops" in last[1]


def test_a_ring_of_refreshes_ends_as_a_loop() -> None:
    there = verdict_on(page(meta("0;url=b")), page_item("http://e.test/d/a"))[2]
    assert there is not None
    back = verdict_on(page(meta("0;url=a"), url="http://e.test/d/b"), there, "http://e.test/d/a")
    assert back == ("redirected", "redirect_loop", None)


def test_a_page_that_broke_off_is_judged_as_such() -> None:
    broken = answer("http://e.test/d/a", 200, meta("0;url=b").encode(), HTML, truncated=Truncation.TIME)
    assert verdict_on(broken, page_item("http://e.test/d/a"))[0] == FetchOutcome.TRUNCATED

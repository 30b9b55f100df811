"""WHATWG parsing and resolving."""

import pytest
from ada_url import URL
from hypothesis import given
from hypothesis import strategies as st

from assets.url.parse import parse, resolve, split_web_address
from tests.support.strategies import plain_links, urls

PAGE = "http://e.test/a/b/c.html"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("x.html", "http://e.test/a/b/x.html"),
        ("./x.html", "http://e.test/a/b/x.html"),
        ("../x.html", "http://e.test/a/x.html"),
        ("/x.html", "http://e.test/x.html"),
        ("?p=2", "http://e.test/a/b/c.html?p=2"),
        ("#f", PAGE),
        ("//cdn.test/y", "http://cdn.test/y"),
        ("", PAGE),
        (" \t\n x.html \n", "http://e.test/a/b/x.html"),
        ("mailto:a@e.test", "mailto:a@e.test"),
        ("http://[::1", None),
        ("\ud800", "http://e.test/a/b/%EF%BF%BD"),
    ],
)
def test_a_link_is_resolved_against_its_page(href: str, expected: str | None) -> None:
    assert resolve(href, PAGE) == expected


def test_a_relative_base_is_itself_resolved_against_the_final_address() -> None:
    base = resolve("/root/", "http://e.test/p/q.html")
    assert base is not None
    assert resolve("x.html", base) == "http://e.test/root/x.html"


@pytest.mark.parametrize("url", ["http://e.test/5%E2%82%AC?q=%E2%82%AC", "http://e.test/guide/77/"])
def test_a_sound_address_is_requested_as_it_was_linked(url: str) -> None:
    assert parse(url) == url


@pytest.mark.parametrize("url", ["http://e.test/s?q=k%u0131z", "http://e.test/s?q=a|b c&r=ü", "http://e.test/50%+/7%"])
def test_an_unsound_address_stays_fetchable(url: str) -> None:
    parsed = parse(url)
    assert parsed is not None
    assert parsed.isascii()
    assert " " not in parsed


def test_no_space_is_left_where_a_fragment_was() -> None:
    assert parse("data:x  #f") == parse(parse("data:x  #f") or "")


@given(urls() | st.text(), urls())
def test_what_was_parsed_parses_to_itself(href: str, base: str) -> None:
    for parsed in (parse(href), resolve(href, base)):
        assert parsed is None or parse(parsed) == parsed
        if parsed is not None and (parts := split_web_address(parsed)):
            assert parsed == f"{parts[0]}://{parts[1]}{parts[2]}"


@given(plain_links(), plain_links() | urls())
def test_a_plain_link_means_what_the_standard_says(href: str, base: str) -> None:
    try:
        expected = URL(href, base).href.partition("#")[0]
    except (ValueError, UnicodeEncodeError):
        return
    assert resolve(href, base) == expected


@pytest.mark.parametrize("href", ["a/" * 50_000 + "%", "a" * 100_000 + "|", "a?" + "b" * 100_000 + "|"], ids=len)
def test_a_long_link_takes_no_longer_than_its_length(href: str) -> None:
    assert resolve(href, PAGE) is not None

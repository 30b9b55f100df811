"""Facts of a page's head."""

import pytest

from assets.markup.head import (
    alternates,
    declared_canonicals,
    html_language,
    parse_refresh,
    refresh_target,
    robots_directives,
    title_text,
)
from assets.markup.tree import parse_html

BASE = "https://e.test/a/b.html"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0;url=x", (0, "x")),
        ("0; URL='x y'", (0, "x y")),
        ('3 ; Url = "x"z', (3, "x")),
        ("0 url=x", (0, "x")),
        ("0,url=x", (0, "x")),
        ("0;x", (0, "x")),
        ("1.5;url=x", (1, "x")),
        (".5;url=x", (0, "x")),
        (" 5 ", (5, "")),
        ("9" * 5_000 + ";url=x", (10**9, "x")),
        ("url=x", None),
        ("5x", None),
        ("", None),
    ],
)
def test_every_spelling_of_a_refresh_is_read(content: str, expected: tuple[int, str] | None) -> None:
    assert parse_refresh(content) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<meta http-equiv=Refresh content='0;url=y.html'>", (0, "https://e.test/a/y.html")),
        ("<meta http-equiv=refresh content=5>", (5, None)),
        ("<meta http-equiv=refresh content='0;url=javascript:x'>", (0, None)),
        ("<noscript><meta http-equiv=refresh content='0;url=/no-js'></noscript>", None),
        ("<meta name=refresh content='0;url=y'>", None),
    ],
)
def test_a_refresh_leads_where_people_are_sent(markup: str, expected: tuple[int, str | None] | None) -> None:
    tree = parse_html(f"<html><head>{markup}</head><body>x</body></html>")
    assert tree is not None
    assert refresh_target(tree, BASE) == expected


@pytest.mark.parametrize(
    ("meta", "header", "expected"),
    [
        ("NOINDEX, Follow", None, ("noindex", "follow")),
        ("", "noindex", ("noindex",)),
        ("none", "googlebot: noindex, nofollow", ("none",)),
        ("", "otherbot: noarchive, isobath: noindex", ("noindex",)),
        ("", "max-snippet: 20, unavailable_after: 25 Jun 2030", ("max-snippet: 20", "unavailable_after: 25 jun 2030")),
    ],
)
def test_robots_directives_come_from_page_and_header(meta: str, header: str | None, expected: tuple[str, ...]) -> None:
    tree = parse_html(f"<meta name=Robots content='{meta}'><meta name=googlebot content=noindex><p>x")
    assert robots_directives(tree, header) == expected


def test_title_language_and_canonical_are_as_the_page_says() -> None:
    tree = parse_html(
        "<html lang=' ZH_cn '><head><title> Two\n words </title><link rel='x CANONICAL' href='../c#top'>"
        "<link rel=canonical href=/second></head><body><svg><title>no</title></svg></body></html>"
    )
    assert tree is not None
    assert title_text(tree) == "Two words"
    assert html_language(tree) == "zh-cn"
    header = '<d>; rel=canonical, </c>; rel="canonical"'
    canonicals = ["https://e.test/c", "https://e.test/second", "https://e.test/page/d"]
    assert declared_canonicals(tree, BASE, "https://e.test/page/", header) == canonicals


def test_a_language_that_is_none_is_empty() -> None:
    tree = parse_html("<html lang='{{ lang }}'><body>x")
    assert tree is not None
    assert html_language(tree) == ""


def test_versions_in_other_languages_are_named_by_head_and_header() -> None:
    tree = parse_html(
        "<link rel=alternate hreflang=FR href=fr><link rel=alternate href=x>"
        "<link rel=alternate hreflang=x-default href=/><link rel=alternate hreflang=mail href='mailto:a@e.test'><p>x"
    )
    assert tree is not None
    header = '<de>; rel="alternate"; hreflang="de", <fr>; rel=alternate; hreflang=it'
    assert alternates(tree, BASE, "https://e.test/page/", header) == [
        ("fr", "https://e.test/a/fr"),
        ("x-default", "https://e.test/"),
        ("de", "https://e.test/page/de"),
        ("it", "https://e.test/page/fr"),
    ]

"""What a row says of a page beside its text: language, headings, links, images, canonical, kinds, evidence of flags."""

from typing import Any

import pytest

from assets.extract.canonical import canonical_verdict
from assets.extract.extractor import ExtractDocument, extract
from assets.extract.language import text_language
from assets.extract.language_model import IDENTIFIER
from assets.url.key import DEFAULT_RULES

TEXT = (
    "<p>The tide is the rise and fall of the sea, and every harbour master keeps a table of it near the door.</p>" * 4
)


def read(html: str, link_header: str | None = None) -> Any:
    return extract(
        ExtractDocument(
            "https://docs.e.test/a/p.html", html.encode(), None, "text/html; charset=utf-8", None, link_header
        )
    )


def test_headings_links_and_images_are_those_of_the_main_text() -> None:
    row = read(
        "<base href=/b/><nav><h2>Menu</h2><a href=/menu>Menu</a></nav><main><h1>Tides<a href=#t>¶</a></h1>"
        f"{TEXT}<p>Read <a href=x.html>one</a>, <a href=x.html>again</a>, <a href='//cdn.test/y#z'>two</a>, "
        f"<a href='mailto:a@e.test'>mail</a> and more of what the harbour master wrote. <img src=i.png></p>"
        f"<h3>By moon</h3>{TEXT}</main>"
    )
    assert row["headings"] == ["# Tides", "### By moon"]
    assert row["text_links"] == ["https://docs.e.test/b/x.html", "https://cdn.test/y#z"]
    assert row["text_images"] == ["https://docs.e.test/b/i.png"]
    assert (row["words"], row["characters"]) == (len(row["text"].replace(",", "").split()), len(row["text"]))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The tide is the rise and fall of the sea.", "en"),
        ("Der Hafenmeister führt eine Tafel der Gezeiten.", "de"),
        ("Les marées montent et descendent chaque jour.", "fr"),
        ("潮汐是海水的涨落现象。它每天都会发生两次，由月亮引起的。", "zh"),
        ("潮の満ち引きは毎日二回あります。月が原因です。", "ja"),
        ("조수는 하루에 두 번 바뀝니다. 그것은 달이 원인이다.", "ko"),
        ("Прилив — это подъём уровня моря.", "ru"),
        ("กระแสน้ำขึ้นลงวันละสองครั้ง", "th"),
        ("المد والجزر يحدثان مرتين في اليوم", "ar"),
        ("Tide", ""),
        ("1 2 3 " * 50, ""),
        ("", ""),
    ],
)
def test_the_language_is_that_of_the_text(text: str, code: str) -> None:
    assert text_language(text) == code


def test_many_languages_are_known_and_html_lang_stands_beside() -> None:
    assert len(set(IDENTIFIER.labels)) >= 50
    row = read(f"<html lang=de><main>{TEXT}</main></html>")
    assert (row["language"], row["text_language"]) == ("de", "en")


@pytest.mark.parametrize(
    ("canonical", "others", "verdict"),
    [
        ("", [], ""),
        ("http://docs.example.org/a/./p?utm_source=x#y", [], "self"),
        ("http://docs.example.org/a/p", ["http://docs.example.org/a/p?utm_source=x"], "self"),
        ("http://docs.example.org/b", [], "same_host"),
        ("http://www.example.org/a/p", [], "same_domain"),
        ("http://other.test/a/p", [], "other_domain"),
        ("http://docs.example.org/a/p", ["http://docs.example.org/b"], "conflicting"),
    ],
)
def test_a_declared_canonical_is_judged(canonical: str, others: list[str], verdict: str) -> None:
    assert canonical_verdict(canonical, others, "http://docs.example.org/a/p", DEFAULT_RULES).value == verdict


def test_canonicals_and_languages_come_from_head_and_header() -> None:
    header = '<c>; rel=canonical, <de/>; rel="alternate"; hreflang="DE", <x>; rel=alternate'
    row = read(
        "<html><head><base href=/root/><link rel=canonical href=own><link rel=alternate hreflang=fr href=fr/>"
        f"<link rel=alternate type=application/rss+xml href=feed></head><main>{TEXT}</main></html>",
        link_header=header,
    )
    assert row["declared_canonical"] == "https://docs.e.test/root/own"
    assert row["other_canonicals"] == ["https://docs.e.test/a/c"]
    assert row["alternates"] == [
        {"language": "fr", "url": "https://docs.e.test/root/fr/"},
        {"language": "de", "url": "https://docs.e.test/a/de/"},
    ]


def test_kinds_and_the_name_of_the_site_are_what_the_page_says() -> None:
    row = read(
        "<meta property=og:site_name content='The Boat'>"
        '<script type="application/ld+json">'
        '{"@graph": [{"@type": ["NewsArticle", "Report"]}, {"@type": "x y"}]}</script>'
        f"<main itemscope itemtype='https://schema.org/Recipe http://a.test/b'>{TEXT}</main>"
    )
    assert (row["site_name"], row["schema_types"]) == ("The Boat", ["NewsArticle", "Report", "Recipe"])


@pytest.mark.parametrize(
    ("html", "flag", "evidence"),
    [
        ("<script></script><div id=app></div>", "needs_js", "the root of an application is empty"),
        ("<script></script><p>Please enable JavaScript.</p>", "needs_js", 'it says "enable JavaScript"'),
        ("<p>Closed.</p>", "too_short", "7 characters"),
        ("", "empty", "no text"),
        (f"<nav>{TEXT}</nav><footer>{TEXT}</footer>", "boilerplate_only", "all text is in navigation"),
        (f"<meta name=robots content='noindex, nofollow'><main>{TEXT}</main>", "noindex", "robots: noindex"),
    ],
)
def test_a_flag_comes_with_its_evidence(html: str, flag: str, evidence: str) -> None:
    row = read(html)
    assert flag in row["flags"]
    assert any(one.startswith(f"{flag}: {evidence}") for one in row["flag_evidence"])
    assert [one.partition(":")[0] for one in row["flag_evidence"]] == row["flags"]

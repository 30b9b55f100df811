"""The title of a page, and what else it says of itself."""

import pytest

from assets.extract.metadata import iso_date, meta_contents, read_metadata
from assets.extract.titles import page_title
from assets.markup.tree import parse_html

URL = "https://docs.acme.example/guide/getting-started.html"


@pytest.mark.parametrize(
    ("markup", "title", "source"),
    [
        ("<title>Sailing | Acme</title><h1>Sailing<a href=#s>¶</a></h1>", "Sailing", "h1"),
        ("<title>Sailing | Acme</title><h1>Acme</h1><h1>Other</h1>", "Sailing", "title"),
        ("<meta property=og:site_name content='The Boat'><title>The Boat - Sails</title>", "Sails", "title"),
        ("<title>x</title><meta property=og:title content='Sails :: Acme'>", "Sails", "og:title"),
        ("<title>4.2. Sails - and ropes</title>", "4.2. Sails - and ropes", "title"),
        ("<h1>Only a heading</h1>", "Only a heading", "h1"),
        ("<title>Acme</title><h1>Acme</h1>", "Acme", "title"),
        ("<title>Sails | Boats</title><h1>Boats</h1>", "Sails", "title"),
        (
            "<title>Boats &raquo; On sails and ropes</title><h1><a href=/>Boats</a></h1><h2>On sails and ropes</h2>",
            "On sails and ropes",
            "h2",
        ),
        ("<title>Mending sails - The Acme of boats</title>", "Mending sails", "title"),
        ("<title>How to mend a sail</title><h1>Mending a sail by hand</h1>", "Mending a sail by hand", "h1"),
        (
            "<title>Untitled</title><h1><style>h1{}</style>Sails and their ro&shy;pes</h1>",
            "Sails and their ropes",
            "h1",
        ),
        ("<title>Sails | Acme</title><h1>Newsletter</h1><h1>Partners</h1>", "Sails", "title"),
        ("<svg><title>icon</title></svg>", "getting started", "path"),
    ],
)
def test_the_title_is_the_pages_own(markup: str, title: str, source: str) -> None:
    tree = parse_html(f"<html><body>{markup}<p>x</p></body></html>")
    assert tree is not None
    found = page_title(tree, meta_contents(tree), URL)
    assert (found.text, found.source) == (title, source)


def test_metadata_is_read_from_meta_and_json_ld() -> None:
    tree = parse_html(
        "<meta name=Description content=' What it\n is '>"
        "<meta property=article:published_time content=2024-05-01T10:00Z>"
        '<script type="application/ld+json">{"@graph": [{"author": [{"name": "Ann"}, "Bob"], '
        '"datePublished": "2020-01-01", "dateModified": "2024-06-02"}]}</script>'
        '<script type="application/ld+json">{"broken</script><script type="application/ld+json">'
        + "[" * 9_000
        + "</script>"
    )
    assert tree is not None
    found = read_metadata(tree, meta_contents(tree))
    assert (found.author, found.description) == ("Ann, Bob", "What it is")
    assert (found.published_on, found.modified_on) == ("2024-05-01", "2024-06-02")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-05-01", "2024-05-01"),
        ("2024/05/01 10:00", "2024-05-01"),
        ("20240501", "2024-05-01"),
        ("Wed, 01 May 2024 10:00:00 GMT", "2024-05-01"),
        ("2024-13-01", ""),
        ("0000-00-00", ""),
        ("yesterday", ""),
        ("", ""),
        ("9" * 10_000, ""),
    ],
)
def test_dates_are_iso_days_or_nothing(text: str, day: str) -> None:
    assert iso_date(text) == day

"""Sitemaps that are too large, too many, too deep or cut anywhere: what they cost, and what is kept of them."""

import gzip
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.seeds.sitemaps.entries import MAX_SITEMAP_BYTES, MAX_SITEMAP_URLS, SitemapReading, SitemapTrouble
from assets.seeds.sitemaps.reading import parse_sitemap, read_sitemap

URL = "http://e.test/maps/s.xml"
FILLING = b"<x:note>" + b"n" * 800 + b"</x:note>"
MIXED = (
    b"\xef\xbb\xbf<?xml version='1.0' encoding='utf-8'?><urlset><!-- a & b --><url><loc>/a?b=1&c=2&amp;d</loc></url>"
    b"<url><loc><![CDATA[/e?f&g<h>]]></loc></url><url><loc>/\xc3\xbc&#50;</loc></url></urlset>\n"
)


def large(entries: int) -> Iterator[bytes]:
    """Make a urlset of some kilobytes an entry, without ever holding it."""
    yield b"<?xml version='1.0'?><urlset>"
    for number in range(entries):
        yield b"<url><loc>/p/%d</loc>%s</url>" % (number, FILLING)
    yield b"</urlset>"


@pytest.mark.slow
def test_a_full_sitemap_is_read_in_bounded_memory() -> None:
    # tracemalloc counts what Python holds: the entries, and not one whole text of 42 MB beside them.
    tracemalloc.start()
    try:
        reading = read_sitemap(large(MAX_SITEMAP_URLS), URL)
        held_bytes, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(reading.entries), reading.reason) == (MAX_SITEMAP_URLS, "")
    assert peak_bytes - held_bytes < 12 * 1024 * 1024


@pytest.mark.slow
def test_limits_are_kept_and_told() -> None:
    many = b"<urlset>" + b"<url><loc>/a</loc></url>" * (MAX_SITEMAP_URLS + 1) + b"</urlset>"
    reading = parse_sitemap(many, URL)
    assert (len(reading.entries), reading.reason) == (MAX_SITEMAP_URLS, SitemapTrouble.TOO_MANY_URLS)
    lines = b"http://e.test/a\n" * (MAX_SITEMAP_URLS + 1)
    reading = parse_sitemap(lines, URL)
    assert (len(reading.entries), reading.reason) == (MAX_SITEMAP_URLS, SitemapTrouble.TOO_MANY_URLS)


@pytest.mark.slow
@pytest.mark.parametrize("layers", [0, 1, 2, 3])
def test_what_is_larger_than_allowed_is_cut_and_what_came_before_counts(layers: int) -> None:
    body = b"<urlset><url><loc>/a</loc></url>" + b" " * MAX_SITEMAP_BYTES + b"<url><loc>/b</loc></url></urlset>"
    for _ in range(layers):
        body = gzip.compress(body)
    reading = parse_sitemap(body, URL)
    assert ([entry.url for entry in reading.entries], reading.reason) == (["http://e.test/a"], SitemapTrouble.TOO_LARGE)


@pytest.mark.parametrize("start", [b"", b"<url><loc>/a</loc>", b"<url><loc>/a</loc></url>"])
def test_what_goes_on_without_entries_is_not_read_to_its_end(start: bytes) -> None:
    def endless() -> Iterator[bytes]:
        yield b"<urlset>" + start
        while True:
            yield b"<x/>" * 1000

    reading = read_sitemap(endless(), URL)
    assert [entry.url for entry in reading.entries] == ["http://e.test/a"] * bool(start)
    assert reading.reason == SitemapTrouble.TOO_LARGE


def test_nothing_of_a_bomb_of_entities_is_expanded() -> None:
    names = "abcdefghij"
    bomb = "".join(f'<!ENTITY {name} "{f"&{earlier};" * 10}">' for earlier, name in pairwise(names))
    declared = f'<!DOCTYPE u [<!ENTITY a "boom">{bomb}]>'
    urlset = "<urlset><url><loc>/&j;</loc></url><url><loc>/b</loc></url></urlset>"
    feed = "<feed><entry><link href='/&j;'/></entry><entry><link href='/b'/></entry></feed>"
    for body in (declared + urlset, declared + feed):
        reading = parse_sitemap(body.encode(), URL)
        assert [entry.url for entry in reading.entries] == ["http://e.test/b"]
        assert reading.reason == SitemapTrouble.ENTITY_REFUSED


def test_a_post_about_entities_is_no_danger() -> None:
    body = b"<rss><item><link>/a</link><x><![CDATA[<!ENTITY x 'y'>]]></x></item><item><link>/b?c&d;</link></item></rss>"
    reading = parse_sitemap(body, URL)
    assert [entry.url for entry in reading.entries] == ["http://e.test/a", "http://e.test/b?c&d;"]
    assert reading.reason == ""


@given(st.lists(st.integers(1, len(MIXED)), max_size=12), st.booleans())
def test_where_the_pieces_are_cut_changes_nothing(cuts: list[int], is_gzipped: bool) -> None:
    body = gzip.compress(MIXED, mtime=0) if is_gzipped else MIXED
    places = sorted({0, *(cut for cut in cuts if cut < len(body)), len(body)})
    pieces = [body[start:stop] for start, stop in pairwise(places)]
    assert read_sitemap(pieces, URL) == mixed()


def mixed() -> SitemapReading:
    reading = parse_sitemap(MIXED, URL)
    assert [entry.url for entry in reading.entries] == [
        "http://e.test/a?b=1&c=2&d",
        "http://e.test/e?f&g%3Ch%3E",
        "http://e.test/%C3%BC2",
    ]
    assert reading.reason == ""
    return reading


@given(st.integers(0, len(MIXED)))
def test_a_cut_sitemap_gives_only_whole_addresses(length: int) -> None:
    whole = [entry.url for entry in mixed().entries]
    reading = parse_sitemap(MIXED[:length], URL)
    read = [entry.url for entry in reading.entries]
    assert read == whole[: len(read)]
    assert reading.reason or length >= len(MIXED.rstrip())

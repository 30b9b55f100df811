"""Sitemaps and feeds, sound and broken."""

import gzip
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.seeds.sitemaps.entries import ChangeFrequency, SitemapEntry, SitemapTrouble
from assets.seeds.sitemaps.reading import parse_sitemap

URL = "http://e.test/maps/s.xml"
ONE = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://e.test/a</loc></url></urlset>'


def found(body: bytes) -> list[str]:
    return [entry.url for entry in parse_sitemap(body, URL).entries]


@pytest.mark.parametrize(
    "body",
    [
        ONE,
        gzip.compress(ONE),
        gzip.compress(gzip.compress(ONE)),
        gzip.compress(gzip.compress(gzip.compress(ONE))),
        gzip.compress(ONE[:40]) + gzip.compress(ONE[40:]) + b"\x00\x00",
        b"\xef\xbb\xbf\n\n" + ONE,
        b"\n \xef\xbb\xbf<?xml version='1.0' encoding='utf-8'?>" + ONE,
        ("<?xml version='1.0' encoding='UTF-16'?>" + ONE.decode()).encode("utf-16"),
        b"<?xml version='1.0' encoding='no-such'?>" + ONE,
        ONE.replace(b"xmlns", b"xmlns:unused"),
        ONE.replace(b"loc>", b"x:loc>"),
        b"http://e.test/a\r\nnot an address\r\n",
        b"E.test/a\r\ne.testing.example/b\nwww.e.test/c\n",
        b"x" * 100_000 + b" http://e.test/b\rhttp://e.test/a",
        b"\xef\xbb\xbfhttp://e.test/a",
        b"<rss><channel><item><link>http://e.test/a</link></item></channel></rss>",
        b"<rss><item><guid>http://e.test/a</guid></item></rss>",
        b"<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/'><item rdf:about='x'><link>/a</link></item></rdf:RDF>",
        b"<urlset><url><loc><url>/a</url></loc></url></urlset>",
        b"<urlset xmlns='http://www.google.com/schemas/sitemap-news/0.9'><url><loc>/a</loc></url></urlset>",
        b"<urlset><url><loc>/a</loc><image:loc>/i.png</image:loc></url></urlset>",
        b"<urlset><url><loc>/a</loc><video xmlns='v'><loc>/v.mp4</loc></video></url></urlset>",
        b"<feed><link href='/self'/><entry><link rel='edit' href='/no'/><link href='../a'/></entry></feed>",
    ],
)
def test_the_bytes_say_what_a_sitemap_is(body: bytes) -> None:
    assert parse_sitemap(body, URL).reason == ""
    assert found(body) == ["http://e.test/a"]


def test_entries_keep_what_the_publisher_says() -> None:
    body = b"""<urlset>
      <url><loc>/a</loc><lastmod>2024-05</lastmod><priority>0.8</priority>
        <changefreq>Weekly</changefreq></url>
      <url><loc> <![CDATA[b?x=1&y=2]]> </loc><lastmod>2024-05-06T07:08:09+02:00</lastmod><priority>7</priority></url>
      <url><loc>c?x=1&y=&#50;&amp;z</loc><lastmod>yesterday</lastmod><priority>nan</priority><changefreq>now</changefreq>
        <image:image xmlns:image="i"><image:loc>/i.png</image:loc></image:image></url>
      <url><!-- none --></url></urlset>"""
    reading = parse_sitemap(body, URL)
    assert reading.entries == (
        SitemapEntry("http://e.test/a", datetime(2024, 5, 1, tzinfo=UTC), 0.8, ChangeFrequency.WEEKLY),
        SitemapEntry("http://e.test/maps/b?x=1&y=2", datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)),
        SitemapEntry("http://e.test/maps/c?x=1&y=2&z"),
    )
    assert reading.invalid_lastmods == 1
    assert reading.reason == ""


def test_language_versions_are_told_apart_and_once() -> None:
    body = b"""<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">
      <url><loc>/en</loc><xhtml:link rel="alternate" hreflang="de" href="/de"/>
        <xhtml:link rel="alternate" hreflang="fr" href="/fr"/>
        <xhtml:link rel="alternate" media="only screen" href="/mobile"/></url>
      <url><loc>/de</loc><xhtml:link rel="alternate" hreflang="fr" href="/fr"/></url></urlset>"""
    reading = parse_sitemap(body, URL)
    assert found(body) == ["http://e.test/en", "http://e.test/de"]
    assert reading.alternates == ("http://e.test/fr",)


def test_an_entry_that_is_never_closed_does_not_hide_the_next() -> None:
    body = b"<urlset><url><loc>/a</loc><url><loc>/b</loc><url><loc>/c</loc></url></urlset>"
    assert found(body) == ["http://e.test/a", "http://e.test/b", "http://e.test/c"]
    assert parse_sitemap(body, URL).reason != ""


@pytest.mark.parametrize(
    ("text", "lastmod"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-02-03", datetime(2024, 2, 3, tzinfo=UTC)),
        ("2024-02-03T04:05Z", datetime(2024, 2, 3, 4, 5, tzinfo=UTC)),
        ("2024-2-3", datetime(2024, 2, 3, tzinfo=UTC)),
        ("2024-02-03T04:05:06.789+0100", datetime(2024, 2, 3, 3, 5, 6, 789_000, tzinfo=UTC)),
        ("2024-02-03 04:05:06 UTC", datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("2024-02-03 04:05:06 -02:00", datetime(2024, 2, 3, 6, 5, 6, tzinfo=UTC)),
        ("Sat, 03 Feb 24 04:05 EST", datetime(2024, 2, 3, 9, 5, tzinfo=UTC)),
        ("Sun, 06 Sep 2009 16:20:00 +0000", datetime(2009, 9, 6, 16, 20, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("2024-13", None),
        ("0000", None),
        ("now", None),
    ],
)
def test_lastmod_is_utc_or_unknown(text: str, lastmod: datetime | None) -> None:
    body = f"<urlset><url><loc>/a</loc><lastmod>{text}</lastmod></url></urlset>".encode()
    reading = parse_sitemap(body, URL)
    assert reading.entries[0].lastmod == lastmod
    assert reading.invalid_lastmods == (lastmod is None)


def test_an_index_gives_sitemaps() -> None:
    body = b"<sitemapindex><sitemap><loc>s.xml</loc></sitemap><sitemap><loc>/b.xml.gz</loc></sitemap></sitemapindex>"
    reading = parse_sitemap(body, URL)
    assert reading.sitemaps == (URL, "http://e.test/b.xml.gz")
    assert (reading.entries, reading.reason) == ((), "")


@pytest.mark.parametrize(
    ("body", "urls", "reason"),
    [
        (b"", [], SitemapTrouble.EMPTY),
        (b"<urlset/>", [], SitemapTrouble.EMPTY),
        (b"this is bogus", [], SitemapTrouble.NOT_A_SITEMAP),
        (b"<a><b/></a>", [], SitemapTrouble.NOT_A_SITEMAP),
        (b"<!DOCTYPE html><p>Sorry", [], SitemapTrouble.HTML),
        (b"<html><url><loc>/a</loc></url></html>", [], SitemapTrouble.HTML),
        (b"<urlset><url><loc>/a</loc></url><url><loc>/bcd", ["http://e.test/a"], SitemapTrouble.TRUNCATED),
        (
            b"<urlset><url><loc>/a</loc></url><url><loc>/b</lo",
            ["http://e.test/a", "http://e.test/b"],
            SitemapTrouble.TRUNCATED,
        ),
        (b"<urlset><url><loc>/a</loc></url></x></urlset>", ["http://e.test/a"], SitemapTrouble.BROKEN_XML),
        (gzip.compress(ONE, mtime=0)[:-12], [], SitemapTrouble.TRUNCATED),
        (b"\x1f\x8b nonsense", [], SitemapTrouble.BROKEN_GZIP),
    ],
)
def test_what_was_read_counts_and_the_reason_is_told(body: bytes, urls: list[str], reason: SitemapTrouble) -> None:
    reading = parse_sitemap(body, URL)
    assert reading.reason == reason
    assert found(body)[: len(urls)] == urls


@pytest.mark.parametrize("entity", ['SYSTEM "file:///etc/hostname"', '"lol"', 'SYSTEM "http://127.0.0.1:1/x"'])
def test_entities_bring_nothing_in(entity: str) -> None:
    body = f"<!DOCTYPE u [<!ENTITY x {entity}><!ENTITY y '&x;&x;&x;'>]><urlset>".encode()
    body += b"<url><loc>/&y;</loc></url><url><loc>&x;</loc></url><url><loc>/a?b&c</loc></url></urlset>"
    assert found(body) == ["http://e.test/a?b&c"]
    assert parse_sitemap(body, URL).reason == SitemapTrouble.ENTITY_REFUSED


def test_octets_that_are_no_text_do_not_end_the_reading() -> None:
    body = b"<rss><item><title>\xff\x00\x03</title><link>/a?b=1&amp;c</link></item><item><link>/d</link></item></rss>"
    assert found(body) == ["http://e.test/a?b=1&c", "http://e.test/d"]


@given(
    st.binary()
    | st.lists(st.sampled_from([b"<url>", b"</url>", b"<loc>", b"/a", b"&", b"<![CDATA[", b"]]>", b"<?xml"])).map(
        b"".join
    )
)
def test_no_bytes_raise(body: bytes) -> None:
    parse_sitemap(body, URL)
    parse_sitemap(b"<" + body, URL)
    parse_sitemap(b"\x1f\x8b" + body, URL)

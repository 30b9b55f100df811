"""The reading of a sitemap or feed, whatever its form: bytes into a ``SitemapReading``."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from assets.seeds.sitemaps.entries import SitemapReading
from assets.seeds.sitemaps.intake import SitemapText, sliced
from assets.seeds.sitemaps.line_form import read_lines
from assets.seeds.sitemaps.xml_form import read_xml


def parse_sitemap(body: bytes, url: str) -> SitemapReading:
    """Read a sitemap or feed that is whole in memory; as ``read_sitemap``."""
    return read_sitemap(sliced(body), url)


def read_sitemap(pieces: Iterable[bytes], url: str) -> SitemapReading:
    """Read a sitemap or feed piece by piece; what could be read of a broken one counts. Never raises.

    Args:
        pieces: the payload, chunking removed; gzip may still be on it, up to three times.
        url: where it came from; relative addresses are resolved against it.
    """
    text = SitemapText(pieces)
    clean = text.pieces()
    head = next(clean, b"")
    whole = chain([head], clean)
    reading = read_xml(whole, url) if head.startswith(b"<") else read_lines(whole, url)
    return replace(reading, reason=text.trouble) if text.trouble else reading

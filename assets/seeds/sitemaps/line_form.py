"""The sitemap that is plain lines: one address each."""

from collections.abc import Iterable, Iterator
from typing import Final

from assets.seeds.sitemaps.entries import MAX_SITEMAP_URLS, SitemapEntry, SitemapReading, SitemapTrouble
from assets.url.host import host_name
from assets.url.parse import parse

_MAX_LINE_BYTES: Final = 16 * 1024


def read_lines(pieces: Iterable[bytes], url: str) -> SitemapReading:
    """Read a text sitemap.

    Args:
        pieces: UTF-8, as ``SitemapText`` gives it.
        url: where it came from.
    """
    scheme, _, _ = url.partition(":")
    host = host_name(url)
    entries: list[SitemapEntry] = []
    is_empty = True
    for line in _lines(pieces):
        is_empty = is_empty and not line
        lower = line[: len(host) + 8].lower()
        # Only whole addresses, and those of this host that lack their scheme: in a text that is no sitemap at all,
        # every word would be a relative one.
        if lower.startswith(("http://", "https://")):
            href = parse(line)
        elif host and lower.startswith(host) and lower[len(host) : len(host) + 1] in ("", "/", "?", ":"):
            href = parse(f"{scheme}://{line}")
        else:
            href = None
        if href is None:
            continue
        if len(entries) == MAX_SITEMAP_URLS:
            return SitemapReading(tuple(entries), reason=SitemapTrouble.TOO_MANY_URLS)
        entries.append(SitemapEntry(href))
    if entries:
        return SitemapReading(tuple(entries))
    return SitemapReading(reason=SitemapTrouble.EMPTY if is_empty else SitemapTrouble.NOT_A_SITEMAP)


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    cut = b""
    for piece in pieces:
        *whole, cut = (cut + piece).replace(b"\r", b"\n").split(b"\n")
        yield from (line.decode("utf-8", "replace").strip() for line in whole)
        cut = cut[: _MAX_LINE_BYTES + 1]
        # No address is that long: what is left of the line must not look like one.
        cut = b"-" if len(cut) > _MAX_LINE_BYTES else cut
    yield cut.decode("utf-8", "replace").strip()

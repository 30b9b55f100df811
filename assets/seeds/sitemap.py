"""The publisher's sitemap.xml, in every form it takes: XML, index, RSS, Atom, plain lines, each also gzipped.

Reads bytes into addresses. Fetching, following nested sitemaps and judging scope belong elsewhere.
"""

import math
import re
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from io import BytesIO
from typing import Final

from lxml import etree

from assets.url.parse import parse, resolve

MAX_SITEMAP_BYTES: Final = 50 * 1024 * 1024  # sitemaps.org; uncompressed
MAX_SITEMAP_URLS: Final = 50_000  # sitemaps.org
_MAX_GZIP_LAYERS: Final = 2  # a .xml.gz that the server compressed once more
_GZIP: Final = b"\x1f\x8b"
_PIECE_BYTES: Final = 64 * 1024
_BLANK: Final = b" \t\r\n\x00"
_YEAR_MONTH: Final = re.compile(r"\d{4}(?:-\d{2})?")
_CONTAINERS: Final = frozenset({"url", "sitemap", "item", "entry"})
_DATES: Final = ("lastmod", "updated", "modified", "pubdate", "date", "published", "issued")
_HTML: Final = re.compile(rb"<!doctype\s+html|<html", re.IGNORECASE)
# CDATA, a reference that XML knows by itself, or an ampersand that starts no reference. After its first complaint,
# libxml2 drops "&amp;" without a word, but keeps "&#38;".
_AMPERSAND: Final = rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?:(amp|lt|gt|quot|apos);|(?!#\d+;|#x[0-9A-Fa-f]+;%s))"
_AMPERSANDS: Final = re.compile(_AMPERSAND % b"", re.DOTALL)
_AMPERSANDS_BESIDE_ENTITIES: Final = re.compile(_AMPERSAND % rb"|[A-Za-z_][\w.-]*;", re.DOTALL)
_NUMERIC: Final = {b"lt": b"&#60;", b"gt": b"&#62;", b"quot": b"&#34;", b"apos": b"&#39;"}
_DECLARATION: Final = re.compile(rb"<\?xml\b(?:[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+))?[^>]*>")
_DECLARATION_BYTES: Final = 1024
_GB: Final = frozenset({"gb2312", "gbk", "gb_2312-80", "x-gbk"})
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r"))
_CUT_SHORT: Final = frozenset({"ERR_TAG_NOT_FINISHED", "ERR_DOCUMENT_END", "ERR_GT_REQUIRED", "ERR_LTSLASH_REQUIRED"})


class SitemapTrouble(StrEnum):
    """Why reading stopped early, or why nothing was read."""

    EMPTY = "empty"
    HTML = "html"
    NOT_A_SITEMAP = "not_a_sitemap"
    TRUNCATED = "truncated"
    BROKEN_GZIP = "broken_gzip"
    BROKEN_XML = "broken_xml"
    ENTITY_REFUSED = "entity_refused"  # a DTD brings its own text; nothing of it is fetched or expanded
    TOO_LARGE = "too_large"
    TOO_MANY_URLS = "too_many_urls"


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One page as the publisher announces it."""

    url: str
    lastmod: datetime | None = None
    priority: float | None = None


@dataclass(frozen=True, slots=True)
class SitemapReading:
    """What a sitemap says, in its order, and a ``SitemapTrouble`` (else empty) when that may not be all."""

    entries: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[str, ...] = ()
    reason: str = ""


def parse_sitemap(body: bytes, url: str) -> SitemapReading:
    """Read a sitemap or feed; what could be read of a broken one counts.

    Args:
        body: the payload, transfer and content encoding removed. Its own bytes say what it is; names and types lie.
        url: where it came from; relative addresses are resolved against it.
    """
    plain, trouble = _plain(body)
    text = _utf8(plain)
    reading = _read_xml(text, url) if text[:1] == b"<" else _read_lines(text)
    if trouble:
        return SitemapReading(reading.entries, reading.sitemaps, trouble)
    return reading


def _plain(body: bytes) -> tuple[bytes, SitemapTrouble | None]:
    trouble = None
    for _ in range(_MAX_GZIP_LAYERS):
        if not body.startswith(_GZIP):
            break
        body, found = _gunzip(body)
        trouble = trouble or found
    if len(body) > MAX_SITEMAP_BYTES:
        return body[:MAX_SITEMAP_BYTES], SitemapTrouble.TOO_LARGE
    return body, trouble


def _gunzip(body: bytes) -> tuple[bytes, SitemapTrouble | None]:
    plain = bytearray()
    decoder = None
    # Piece by piece, so that what came before a fault is kept.
    for start in range(0, len(body), _PIECE_BYTES):
        piece = body[start : start + _PIECE_BYTES]
        while piece:
            decoder = decoder or zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                plain += decoder.decompress(piece, MAX_SITEMAP_BYTES + 1 - len(plain))
            except zlib.error:
                return bytes(plain), SitemapTrouble.BROKEN_GZIP
            if len(plain) > MAX_SITEMAP_BYTES:
                return bytes(plain[:MAX_SITEMAP_BYTES]), SitemapTrouble.TOO_LARGE
            if not decoder.eof:
                break
            piece, decoder = decoder.unused_data, None
            if not piece.strip(b"\x00"):
                break  # padding after the last member
    return bytes(plain), SitemapTrouble.TRUNCATED if decoder else None


def _utf8(body: bytes) -> bytes:
    """Give a text without what libxml2 stumbles over: octets that are no text, encodings that it does not know."""
    body = body.lstrip(_BLANK)
    declared = _DECLARATION.match(body[:_DECLARATION_BYTES])
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif declared and declared[1]:
        encoding = declared[1].decode().lower()
    else:
        encoding = "utf-8-sig"  # a byte-order mark comes before anything that could be declared
    try:
        text = body.decode("gb18030" if encoding in _GB else encoding, "replace")
    except (LookupError, ValueError):
        text = body.decode("utf-8", "replace")
    plain = text.encode("utf-8", "replace").translate(None, _CONTROLS).strip(_BLANK)
    return plain[found.end() :].lstrip() if (found := _DECLARATION.match(plain[:_DECLARATION_BYTES])) else plain


def _read_lines(text: bytes) -> SitemapReading:
    lines = (line.strip() for line in text.decode("utf-8", "replace").splitlines())
    entries: list[SitemapEntry] = []
    for line in lines:
        # Only whole addresses: in a text that is no sitemap at all, every word would be a relative one.
        href = parse(line) if line[:8].lower().startswith(("http://", "https://")) else None
        if href is None:
            continue
        if len(entries) == MAX_SITEMAP_URLS:
            return SitemapReading(tuple(entries), reason=SitemapTrouble.TOO_MANY_URLS)
        entries.append(SitemapEntry(href))
    if entries:
        return SitemapReading(tuple(entries))
    return SitemapReading(reason=SitemapTrouble.NOT_A_SITEMAP if text else SitemapTrouble.EMPTY)


def _read_xml(text: bytes, url: str) -> SitemapReading:
    entries: list[SitemapEntry] = []
    sitemaps: list[str] = []
    if _HTML.match(text):
        return SitemapReading(reason=SitemapTrouble.HTML)
    if not text.endswith(b">"):
        text = text[: text.rfind(b"<")]  # cut short: half of an address is another address
    has_entities = b"<!ENTITY" in text
    ampersands = _AMPERSANDS_BESIDE_ENTITIES if has_entities else _AMPERSANDS
    text = ampersands.sub(lambda found: found[1] or _NUMERIC.get(found[2], b"&#38;"), text)
    parser = etree.iterparse(
        BytesIO(text), events=("start", "end"), recover=True, resolve_entities=False, no_network=True, load_dtd=False
    )
    trouble = SitemapTrouble.ENTITY_REFUSED if has_entities else None
    container: etree._Element | None = None  # the url, sitemap, item or entry that is open
    root = ""
    try:
        for event, element in parser:
            root = root or _local(element)
            if root == "html":
                return SitemapReading(reason=SitemapTrouble.HTML)
            if container is None and event == "start" and _local(element) in _CONTAINERS:
                container = element
            elif container is element and event == "end":
                _read_container(container, url, entries, sitemaps)
                _forget(container)
                container = None
                if len(entries) + len(sitemaps) > MAX_SITEMAP_URLS:
                    break
    except etree.XMLSyntaxError:
        trouble = trouble or SitemapTrouble.BROKEN_XML
    if container is not None:
        _read_container(container, url, entries, sitemaps)
    if len(entries) + len(sitemaps) > MAX_SITEMAP_URLS:
        trouble = SitemapTrouble.TOO_MANY_URLS
    trouble = trouble or _complaint(parser)
    if not trouble and not entries and not sitemaps:
        known = root in {"urlset", "sitemapindex", "rss", "rdf", "feed"}
        trouble = SitemapTrouble.EMPTY if known else SitemapTrouble.NOT_A_SITEMAP
    return SitemapReading(tuple(entries[:MAX_SITEMAP_URLS]), tuple(sitemaps[:MAX_SITEMAP_URLS]), trouble or "")


def _complaint(parser: "etree.iterparse[tuple[str, etree._Element]]") -> SitemapTrouble | None:
    fatal = [line.type_name for line in parser.error_log if line.level_name == "FATAL"]
    if not fatal:
        return None
    return SitemapTrouble.TRUNCATED if fatal[-1] in _CUT_SHORT else SitemapTrouble.BROKEN_XML


def _forget(container: etree._Element) -> None:
    """Free what was read: a sitemap of 50 MB must not become a tree of ten times that."""
    container.clear()
    parent = container.getparent()
    while parent is not None and container.getprevious() is not None:
        del parent[0]


def _read_container(container: etree._Element, url: str, entries: list[SitemapEntry], sitemaps: list[str]) -> None:
    kind = _local(container)
    children = [(name, child) for child in container if (name := _local(child))]
    if kind == "item":
        hrefs = _item_links(children)
    elif kind == "entry":
        hrefs = _entry_links(children)
    else:
        hrefs = [_text(child) for name, child in children if name == "loc"]
        if kind == "sitemap" and not children:
            hrefs = [_text(container)]  # some forget the loc
    addresses = [address for href in hrefs if href and (address := resolve(href, url))]
    if kind == "sitemap":
        sitemaps += addresses
        return
    texts = {name: _text(child) for name, child in reversed(children)}
    lastmod = next((time for name in _DATES if (time := _time(texts.get(name, "")))), None)
    priority = _priority(texts.get("priority", ""))
    entries += (SitemapEntry(address, lastmod, priority) for address in addresses)


def _item_links(children: list[tuple[str, etree._Element]]) -> list[str]:
    links = [_text(child) for name, child in children if name == "link"]
    # A guid is an address unless it says otherwise; many say otherwise and are one.
    guids = [_text(child) for name, child in children if name == "guid"]
    return [*(link for link in links if link), *(guid for guid in guids if guid.startswith("http"))][:1]


def _entry_links(children: list[tuple[str, etree._Element]]) -> list[str]:
    links = [(child.get("rel", ""), child.get("href", "")) for name, child in children if name == "link"]
    return [href for wanted in ("alternate", "") for rel, href in links if rel == wanted][:1]


def _local(element: etree._Element) -> str:
    tag = element.tag
    # Comments and entities have no name. A prefix without a declaration stays in the tag.
    return re.split("[}:]", tag)[-1].lower() if isinstance(tag, str) else ""


def _text(element: etree._Element) -> str:
    """Give the text of an element and of those inside it; none when an entity leaves a hole in it."""
    if next(element.iter(etree.Entity), None) is not None:
        return ""
    return "".join(str(text) for text in element.itertext(etree.Element)).strip()


def _time(text: str) -> datetime | None:
    """Read a W3C or an RFC 822 date as UTC; a time without zone counts as UTC."""
    if not text:
        return None
    try:
        if _YEAR_MONTH.fullmatch(text):
            year, _, month = text.partition("-")
            return datetime(int(year), int(month or 1), 1, tzinfo=UTC)
        time = datetime.fromisoformat(text) if text[:4].isdigit() else parsedate_to_datetime(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _priority(text: str) -> float | None:
    try:
        priority = float(text)
    except ValueError:
        return None
    return priority if math.isfinite(priority) and 0 <= priority <= 1 else None

"""Sitemaps that are XML: urlset, index, RSS, RDF and Atom, read leniently and without growing a tree."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Final

from lxml import etree

from assets.seeds.sitemaps.dates import read_date
from assets.seeds.sitemaps.entries import (
    MAX_SITEMAP_URLS,
    ChangeFrequency,
    SitemapEntry,
    SitemapReading,
    SitemapTrouble,
)
from assets.seeds.sitemaps.repair import HOLE, RepairedMarkup
from assets.url.parse import resolve

_MAX_ELEMENTS: Final = 20_000  # in or between entries: a thousand images with all their facts are far less
_CONTAINERS: Final = frozenset({"url", "sitemap", "item", "entry"})
_ROOTS: Final = frozenset({"urlset", "sitemapindex", "rss", "rdf", "feed"})
_DATES: Final = ("lastmod", "updated", "modified", "pubdate", "date", "published", "issued")
_EXTENSION: Final = re.compile("image|video|news|pagemap", re.IGNORECASE)  # prefixes
_HTML: Final = re.compile(rb"<!doctype\s+html|<html", re.IGNORECASE)
_CUT_SHORT: Final = frozenset({"ERR_TAG_NOT_FINISHED", "ERR_DOCUMENT_END", "ERR_GT_REQUIRED", "ERR_LTSLASH_REQUIRED"})


def read_xml(pieces: Iterable[bytes], url: str) -> SitemapReading:
    """Read a sitemap or feed that is meant to be XML.

    Args:
        pieces: UTF-8 without a declaration; the first begins with ``<``.
        url: where it came from; relative addresses are resolved against it.
    """
    left = iter(pieces)
    head = next(left)
    if _HTML.match(head):
        return SitemapReading(reason=SitemapTrouble.HTML)
    markup = RepairedMarkup(chain([head], left))
    found = _Found(url)
    root, trouble = _walk(markup, found)
    if markup.has_entities and trouble is not SitemapTrouble.HTML:
        trouble = SitemapTrouble.ENTITY_REFUSED
    if not trouble and not found.entries and not found.sitemaps:
        trouble = SitemapTrouble.EMPTY if root in _ROOTS else SitemapTrouble.NOT_A_SITEMAP
    return found.reading(trouble)


@dataclass(slots=True)
class _Found:
    """What was read so far."""

    url: str
    entries: list[SitemapEntry] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    sitemap_lastmods: dict[str, datetime] = field(default_factory=dict)
    alternates: dict[str, None] = field(default_factory=dict)
    invalid_lastmods: int = 0

    @property
    def is_full(self) -> bool:
        """Whether there is more than a sitemap may hold."""
        return len(self.entries) + len(self.sitemaps) > MAX_SITEMAP_URLS

    def reading(self, trouble: SitemapTrouble | None) -> SitemapReading:
        """Give all that was read."""
        entries = tuple(self.entries[:MAX_SITEMAP_URLS])
        listed = {entry.url for entry in entries}
        return SitemapReading(
            entries,
            tuple(self.sitemaps[:MAX_SITEMAP_URLS]),
            tuple(url for url in self.alternates if url not in listed),
            self.invalid_lastmods,
            trouble or "",
            self.sitemap_lastmods,
        )

    def take(self, container: etree._Element) -> None:
        """Read one url, sitemap, item or entry."""
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
        addresses = self._resolved(hrefs)
        texts = {name: _text(child) for name, child in reversed(children)}
        dates = [text for name in _DATES if (text := texts.get(name, ""))]
        lastmod = next((time for text in dates if (time := read_date(text))), None)
        if kind == "sitemap":
            self.sitemaps += addresses
            self.sitemap_lastmods |= dict.fromkeys(addresses, lastmod) if lastmod else {}
            return
        self.invalid_lastmods += bool(addresses and dates and lastmod is None)
        priority = _priority(texts.get("priority", ""))
        changefreq = _changefreq(texts.get("changefreq", ""))
        self.entries += (SitemapEntry(address, lastmod, priority, changefreq) for address in addresses)
        if kind == "url" and len(self.alternates) < MAX_SITEMAP_URLS:
            self.alternates |= dict.fromkeys(self._resolved(_alternates(children)))

    def _resolved(self, hrefs: Iterable[str]) -> list[str]:
        return [address for href in hrefs if href and HOLE not in href and (address := resolve(href, self.url))]


def _walk(markup: RepairedMarkup, found: _Found) -> tuple[str, SitemapTrouble | None]:
    """Take one entry after the other; give the name of the root, and why the reading may not be whole."""
    parser = etree.iterparse(
        markup, events=("start", "end"), recover=True, resolve_entities=False, no_network=True, load_dtd=False
    )
    trouble: SitemapTrouble | None = None
    container: etree._Element | None = None  # the url, sitemap, item or entry that is open
    elements = 0  # starts and ends since an entry began or ended
    root = ""
    try:
        for event, element in parser:
            name = _local(element)
            root = root or name
            if root == "html":
                return root, SitemapTrouble.HTML
            elements += 1
            if event == "start":
                # One inside another of its kind: the first was never closed.
                if container is not None and element.getparent() is container and name == _local(container):
                    found.take(container)
                    container = None
                if container is None and name in _CONTAINERS:
                    container, elements = element, 0
            elif container is not None and container is element:
                found.take(container)
                container, elements = None, 0
            if event == "end" and container is None:
                _forget(element)
            if found.is_full:
                return root, SitemapTrouble.TOO_MANY_URLS
            if elements > 2 * _MAX_ELEMENTS:
                trouble = SitemapTrouble.TOO_LARGE
                break
    except etree.XMLSyntaxError:
        trouble = SitemapTrouble.BROKEN_XML
    if container is not None:
        found.take(container)
    return root, SitemapTrouble.TOO_MANY_URLS if found.is_full else trouble or _complaint(parser)


def _complaint(parser: "etree.iterparse[tuple[str, etree._Element]]") -> SitemapTrouble | None:
    fatal = [line.type_name for line in parser.error_log if line.level_name == "FATAL"]
    if not fatal:
        return None
    return SitemapTrouble.TRUNCATED if fatal[-1] in _CUT_SHORT else SitemapTrouble.BROKEN_XML


def _forget(element: etree._Element) -> None:
    """Free what was read: a sitemap of 50 MB must not become a tree of ten times that."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _item_links(children: list[tuple[str, etree._Element]]) -> list[str]:
    links = [_text(child) for name, child in children if name == "link"]
    # A guid is an address unless it says otherwise; many say otherwise and are one.
    guids = [_text(child) for name, child in children if name == "guid"]
    return [*(link for link in links if link), *(guid for guid in guids if guid.startswith("http"))][:1]


def _entry_links(children: list[tuple[str, etree._Element]]) -> list[str]:
    links = [(child.get("rel", ""), child.get("href", "")) for name, child in children if name == "link"]
    return [href for wanted in ("alternate", "") for rel, href in links if rel == wanted][:1]


def _alternates(children: list[tuple[str, etree._Element]]) -> list[str]:
    links = [child for name, child in children if name == "link" and child.get("hreflang")]
    return [link.get("href", "") for link in links if "alternate" in link.get("rel", "").lower().split()]


def _local(element: etree._Element) -> str:
    """Give the name of an element in lower case; none for what belongs to an image, a video or a news item."""
    tag = element.tag
    if not isinstance(tag, str):
        return ""  # a comment or an entity
    return _name(tag, element.prefix)


@lru_cache(maxsize=1024)
def _name(tag: str, declared_prefix: str | None) -> str:
    # A prefix without a declaration stays in the tag. Namespaces are not looked at: many name a wrong one.
    prefix, _, name = tag.rpartition("}")[2].rpartition(":")
    return "" if _EXTENSION.fullmatch(declared_prefix or prefix) else name.lower()


def _text(element: etree._Element) -> str:
    """Give the text of an element and of those inside it."""
    return "".join(str(text) for text in element.itertext(etree.Element)).strip()


def _priority(text: str) -> float | None:
    try:
        priority = float(text)
    except ValueError:
        return None
    return priority if math.isfinite(priority) and 0 <= priority <= 1 else None


def _changefreq(text: str) -> ChangeFrequency | None:
    try:
        return ChangeFrequency(text.lower())
    except ValueError:
        return None

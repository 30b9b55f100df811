"""The links of one page: stored bytes to what a row of the links table says of them. No table, no site here."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias, cast

from lxml import etree

from assets.links.resources import TAGS, named_resources
from assets.links.targets import Targets
from assets.markup.charset import Text, decode_text, is_html
from assets.markup.decoding import decode_body
from assets.markup.fingerprint import token_count
from assets.markup.head import (
    declared_canonical,
    folded,
    html_language,
    refresh_target,
    robots_directives,
    title_text,
    web_address,
)
from assets.markup.tree import base_url, parse_plain
from assets.url.key import KeyRules
from assets.url.parse import parse

ANCHOR_CHARACTERS_MAX: Final = 300
# An anchor that nobody closed holds the rest of the page: its first pieces are enough.
_ANCHOR_PIECES_MAX: Final = 500

_FRAMES: Final = frozenset({"frame", "iframe"})
_LINK_KINDS: Final = ("canonical", "alternate", "next", "prev")
# lxml matches up to 18 names in C as fast as one; from 19 on a walk takes four times as long.
_WANTED: Final = frozenset({"a", "area", "form", "meta", "base", "title"}) | _FRAMES | TAGS
# Whose own text nobody sees. The first two are wanted anyway.
_UNSEEN: Final = ("script", "title", "style", "noscript", "template", "textarea")
_texts: Final = cast(Callable[[etree._Element], list[str]], etree.XPath("descendant::text()", smart_strings=False))

Hyperlink: TypeAlias = tuple[str, str, str, str, str]  # url, url_key, kind, anchor, rel
Resource: TypeAlias = tuple[str, str, int]  # url, kind, count


@dataclass(frozen=True, slots=True)
class LinkDocument:
    """One stored capture, as the parser needs it."""

    url: str  # after redirects
    body: bytes  # content-encoding kept
    content_encoding: str | None
    content_type: str | None
    robots_tag: str | None  # X-Robots-Tag values, comma-joined
    key_rules: KeyRules
    max_bytes: int  # of the body without its content-encoding


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The columns of ``links``, but those that say which capture it was."""

    reason: str
    charset: str
    charset_source: str
    robots_meta: str
    title: str = ""
    language: str = ""
    declared_canonical: str = ""
    words: int = 0
    forms: int = 0
    iframes: int = 0
    scripts: int = 0
    videos: int = 0
    images: int = 0
    hyperlinks: Sequence[Hyperlink] = ()
    resources: Sequence[Resource] = ()


def read_links(document: LinkDocument) -> PageLinks:
    """Parse a capture; never raises."""
    decoded = decode_body(document.body, document.content_encoding, max_bytes=document.max_bytes)
    text, tree = Text("", "", ""), None
    if is_html(document.content_type, decoded.data):
        text = decode_text(decoded.data, document.content_type)
        tree = parse_plain(text.text)
        reason = decoded.reason or ("" if tree is not None else "empty_page")
    else:
        reason = "not_html"
    if tree is not None:
        return _page_links(tree, reason, text, document)
    robots = ",".join(robots_directives(None, document.robots_tag))
    return PageLinks(reason, text.charset, text.source, robots)


def _page_links(tree: etree._Element, reason: str, text: Text, document: LinkDocument) -> PageLinks:
    found = _gathered(tree)
    page_url = parse(document.url) or document.url
    base = base_url(found, page_url)
    targets = Targets(page_url, base, document.key_rules)
    hyperlinks = _hyperlinks(found, targets, base_is_page=base == page_url)
    refresh = refresh_target(found, base)
    if refresh is not None and refresh[1] is not None and (target := targets[refresh[1]]) is not None:
        hyperlinks.append((*target, "refresh", "", ""))
    return PageLinks(
        reason=reason,
        charset=text.charset,
        charset_source=text.source,
        robots_meta=",".join(robots_directives(found, document.robots_tag)),
        title=title_text(found),
        language=html_language(tree),
        declared_canonical=declared_canonical(found, base),
        words=_words(tree, found),
        forms=found.count("form"),
        iframes=found.count("iframe"),
        scripts=found.count("script"),
        videos=found.count("video"),
        images=found.count("img"),
        hyperlinks=hyperlinks,
        resources=_resources(found, base),
    )


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The wanted elements of a page, found in one walk, in document order."""

    tagged: list[tuple[str, etree._Element]]
    by_tag: dict[str, list[etree._Element]]

    def iter(self, tag: str, /) -> Iterable[etree._Element]:
        return self.by_tag.get(tag, ())

    def count(self, tag: str) -> int:
        return len(self.by_tag.get(tag, ()))


def _gathered(tree: etree._Element) -> _Gathered:
    tagged = [(str(element.tag), element) for element in tree.iter(*_WANTED)]
    by_tag: dict[str, list[etree._Element]] = {}
    for tag, element in tagged:
        if tag != "a":
            by_tag.setdefault(tag, []).append(element)
    return _Gathered(tagged, by_tag)


def _words(tree: etree._Element, found: _Gathered) -> int:
    """Count the words of all text but that of unseen elements. No word goes on from one piece of text to the next."""
    unseen = [element for tag in _UNSEEN[:2] for element in found.iter(tag)]
    unseen.extend(tree.iter(*_UNSEEN[2:]))
    return token_count(" ".join(_texts(tree))) - token_count(" ".join(element.text or "" for element in unseen))


def _hyperlinks(found: _Gathered, targets: Targets, *, base_is_page: bool) -> list[Hyperlink]:
    """Make the links absolute; what is no web address, and the page itself, is left out."""
    hyperlinks: list[Hyperlink] = []
    for tag, element in found.tagged:
        kind: str | None = tag
        if tag == "a" or tag == "area":
            href = element.get("href")
        elif tag in _FRAMES:
            href = element.get("src") or ""
        elif tag == "link":
            href, kind = element.get("href"), _link_kind(element)
        else:
            continue
        if href is None or kind is None or (base_is_page and href[:1] == "#"):
            continue
        target = targets[href]
        if target is None:
            continue
        if tag in _FRAMES:
            hyperlinks.append((*target, kind, "", ""))
            continue
        text = element.get("title") if tag == "link" else _inner_text(element)
        rel = element.get("rel")
        anchor = " ".join(text.split())[:ANCHOR_CHARACTERS_MAX] if text else ""
        hyperlinks.append((*target, kind, anchor, folded(rel.lower()) if rel else ""))
    return hyperlinks


def _link_kind(element: etree._Element) -> str | None:
    """Say what page a ``link`` names; None when it names none."""
    words = (element.get("rel") or "").lower().split()
    # "alternate stylesheet" is a style, not another page.
    if not element.get("href") or "stylesheet" in words:
        return None
    return next((kind for kind in _LINK_KINDS if kind in words), "prev" if "previous" in words else None)


def _inner_text(element: etree._Element) -> str:
    before, after, inner = element.text or "", "", element
    # Nearly all links hold a text, or one element in another that does: far faster than a walk.
    while len(inner) == 1:
        inner = inner[0]
        after = (inner.tail or "") + after
        if not isinstance(inner.tag, str):
            return before + after
        before += inner.text or ""
    return before + after if len(inner) == 0 else "".join(map(str, islice(element.itertext(), _ANCHOR_PIECES_MAX)))


def _resources(found: _Gathered, base: str) -> list[Resource]:
    """Make the resources absolute, each once, under the kind that came first."""
    counts: dict[str, int] = {}
    kinds: dict[str, str] = {}
    for tag, element in found.tagged:
        if tag not in TAGS:
            continue
        for href, kind in named_resources(element, tag):
            url = web_address(href, base) if href.strip() else None
            if url is not None:
                counts[url] = counts.get(url, 0) + 1
                kinds.setdefault(url, kind)
    return [(url, kinds[url], count) for url, count in counts.items()]

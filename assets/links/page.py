"""The links of one page: stored bytes to what a row of the links table says of them. No table, no site here."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias, cast

from lxml import etree

from assets.links.resources import TAGS, named_resources
from assets.links.targets import Targets
from assets.markup.charset import Text, decode_text, is_html
from assets.markup.decoding import decode_body
from assets.markup.fingerprint import token_count
from assets.markup.head import (
    declared_canonicals,
    folded,
    header_refresh,
    html_language,
    refresh_target,
    robots_directives,
    title_text,
    web_address,
)
from assets.markup.link_header import header_links
from assets.markup.tree import base_url, parse_plain
from assets.url.key import KeyRules
from assets.url.parse import parse

ANCHOR_CHARACTERS_MAX: Final = 300
# An anchor that nobody closed holds the rest of the page: its first pieces are enough.
_ANCHOR_PIECES_MAX: Final = 500

_FRAMES: Final = frozenset({"frame", "iframe"})
_LINK_KINDS: Final = ("canonical", "alternate", "next", "prev")
_COUNTED: Final = {"form": "forms", "iframe": "iframes", "script": "scripts", "video": "videos", "img": "images"}
_KEPT: Final = frozenset({"meta", "title", "link", "script"})
# lxml matches up to 18 names in C as fast as one; from 19 on a walk takes four times as long.
_WANTED: Final = frozenset({"a", "area", "form"}) | _FRAMES | TAGS | _KEPT
# Whose own text nobody sees, as that of scripts and titles.
_UNSEEN: Final = ("style", "noscript", "template", "textarea")
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
    link_header: str | None  # Link values, comma-joined
    refresh: str | None  # the Refresh header
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
    page_url = parse(document.url) or document.url
    refresh = _refresh_link(header_refresh(document.refresh, page_url), Targets(page_url, page_url, document.key_rules))
    return PageLinks(reason, text.charset, text.source, robots, hyperlinks=refresh)


def _page_links(tree: etree._Element, reason: str, text: Text, document: LinkDocument) -> PageLinks:
    page_url = parse(document.url) or document.url
    base = base_url(tree, page_url)
    targets = Targets(page_url, base, document.key_rules)
    found = _walk(tree, targets, base_is_page=base == page_url)
    refresh = header_refresh(document.refresh, page_url) or refresh_target(found, base)
    found.hyperlinks += _refresh_link(refresh, targets)
    found.hyperlinks += _header_hyperlinks(document)
    canonicals = declared_canonicals(found, base, page_url, document.link_header)
    return PageLinks(
        reason=reason,
        charset=text.charset,
        charset_source=text.source,
        robots_meta=",".join(robots_directives(found, document.robots_tag)),
        title=title_text(found),
        language=html_language(tree),
        declared_canonical=canonicals[0] if canonicals else "",
        words=_words(tree, found),
        hyperlinks=found.hyperlinks,
        resources=_resources(found.resources, base),
        **found.counts,
    )


def _refresh_link(refresh: tuple[int, str | None] | None, targets: Targets) -> list[Hyperlink]:
    target = targets[refresh[1]] if refresh is not None and refresh[1] is not None else None
    return [] if target is None else [(*target, "refresh", "", "")]


def _header_hyperlinks(document: LinkDocument) -> list[Hyperlink]:
    """Give the pages that the Link header names; its addresses are relative to the page, whatever its base."""
    page_url = parse(document.url) or document.url
    targets = Targets(page_url, page_url, document.key_rules)
    links = [(link, targets[link.href]) for link in header_links(document.link_header)]
    return [
        (*target, kind, "", " ".join(link.rel))
        for link, target in links
        if target is not None
        for kind in _LINK_KINDS
        if kind in link.rel
    ]


@dataclass(slots=True)
class _Found:
    """What the walk over a page has found so far."""

    hyperlinks: list[Hyperlink] = field(default_factory=list)
    resources: list[tuple[str, str]] = field(default_factory=list)  # href, kind
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED.values(), 0))
    kept: dict[str, list[etree._Element]] = field(default_factory=lambda: {tag: [] for tag in _KEPT})

    def iter(self, tag: str, /) -> Iterable[etree._Element]:
        return self.kept[tag]


def _walk(tree: etree._Element, targets: Targets, *, base_is_page: bool) -> _Found:
    """Go through the wanted elements once. Few are kept: many at a time would keep the garbage collector busy."""
    found = _Found()
    hyperlinks = found.hyperlinks
    for element in tree.iter(*_WANTED):
        tag = element.tag
        if tag == "a" or tag == "area":
            href = element.get("href")
            if href is None or (base_is_page and href[:1] == "#"):
                continue
            target = targets[href]
            if target is not None:
                hyperlinks.append((*target, tag, _anchor(_inner_text(element)), _rel(element)))
            continue
        if tag in _COUNTED:
            found.counts[_COUNTED[tag]] += 1
        if tag in _KEPT:
            found.kept[tag].append(element)
        if tag in TAGS:
            found.resources += named_resources(element, tag)
        if tag in _FRAMES or tag == "link":
            _other_hyperlink(element, tag, targets, hyperlinks)
    return found


def _other_hyperlink(element: etree._Element, tag: str, targets: Targets, hyperlinks: list[Hyperlink]) -> None:
    kind = _link_kind(element) if tag == "link" else tag
    target = targets[element.get("href" if tag == "link" else "src") or ""] if kind else None
    if target is None or kind is None:
        return
    if tag == "link":
        hyperlinks.append((*target, kind, _anchor(element.get("title") or ""), _rel(element)))
    else:
        hyperlinks.append((*target, kind, "", ""))


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


def _anchor(text: str) -> str:
    return " ".join(text.split())[:ANCHOR_CHARACTERS_MAX]


def _rel(element: etree._Element) -> str:
    rel = element.get("rel")
    return folded(rel.lower()) if rel else ""


def _words(tree: etree._Element, found: _Found) -> int:
    """Count the words of all text but that of unseen elements. No word goes on from one piece of text to the next."""
    unseen = [*found.iter("script"), *found.iter("title"), *tree.iter(*_UNSEEN)]
    return token_count(" ".join(_texts(tree))) - token_count(" ".join(element.text or "" for element in unseen))


def _resources(named: Iterable[tuple[str, str]], base: str) -> list[Resource]:
    """Make the resources absolute, each once, under the kind that came first."""
    counts: dict[str, int] = {}
    kinds: dict[str, str] = {}
    for href, kind in named:
        url = web_address(href, base) if href.strip() else None
        if url is not None:
            counts[url] = counts.get(url, 0) + 1
            kinds.setdefault(url, kind)
    return [(url, kinds[url], count) for url, count in counts.items()]

"""The links of one page: stored bytes to one row of the links table. One pass over the tree; no table, no site here."""

from dataclasses import dataclass, field
from typing import Final

from lxml.html import HtmlElement

from assets.links.resources import TAGS, named_resources
from assets.markup.charset import Text, decode_text, is_html
from assets.markup.decoding import decode_body
from assets.markup.fingerprint import tokens
from assets.markup.head import (
    declared_canonical,
    folded,
    html_language,
    refresh_target,
    robots_directives,
    title_text,
    web_address,
)
from assets.markup.tree import base_url, parse_html
from assets.url.key import KeyRules, resolve_with_key
from assets.url.parse import parse

ANCHOR_CHARACTERS_MAX: Final = 300
# An anchor that nobody closed holds the rest of the page: its first pieces are enough.
_ANCHOR_PIECES_MAX: Final = 500

_FRAMES: Final = frozenset({"frame", "iframe"})
_LINK_KINDS: Final = ("canonical", "alternate", "next", "prev")
_COUNTED: Final = {"form": "forms", "iframe": "iframes", "script": "scripts", "video": "videos", "img": "images"}
_UNSEEN: Final = frozenset({"script", "style", "noscript", "template", "title", "textarea"})


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


@dataclass(slots=True)
class _Found:
    """What the pass over the tree has seen so far."""

    hyperlinks: list[tuple[str, str, str, str]] = field(default_factory=list)  # href, kind, anchor, rel
    resources: list[tuple[str, str]] = field(default_factory=list)  # href, kind
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED.values(), 0))
    text: list[str] = field(default_factory=list)


def read_links(document: LinkDocument) -> dict[str, object]:
    """Parse a capture into the columns of ``links``, but those that say which capture it was; never raises."""
    decoded = decode_body(document.body, document.content_encoding, max_bytes=document.max_bytes)
    if not is_html(document.content_type, decoded.data):
        return _row("not_html", Text("", "", ""), document, None)
    text = decode_text(decoded.data, document.content_type)
    tree = parse_html(text.text)
    return _row(decoded.reason or ("" if tree is not None else "empty_page"), text, document, tree)


def _row(reason: str, text: Text, document: LinkDocument, tree: HtmlElement | None) -> dict[str, object]:
    page_url = parse(document.url) or document.url
    base = base_url(tree, page_url) if tree is not None else page_url
    found = _walk(tree) if tree is not None else _Found()
    refresh = refresh_target(tree, base) if tree is not None else None
    if refresh is not None and refresh[1] is not None:
        found.hyperlinks.append((refresh[1], "refresh", "", ""))
    return {
        "reason": reason,
        "title": title_text(tree) if tree is not None else "",
        "language": html_language(tree) if tree is not None else "",
        "charset": text.charset,
        "charset_source": text.source,
        "declared_canonical": declared_canonical(tree, base) if tree is not None else "",
        "robots_meta": ",".join(robots_directives(tree, document.robots_tag)),
        "words": len(tokens(" ".join(found.text))),
        **found.counts,
        "hyperlinks": _hyperlinks(found, page_url, base, document.key_rules),
        "resources": _resources(found, base),
    }


def _walk(tree: HtmlElement) -> _Found:
    """Go through all elements once."""
    found = _Found()
    for element in tree.iter():
        tag = element.tag
        if element.tail:
            found.text.append(element.tail)
        if not isinstance(tag, str):
            continue
        if element.text and tag not in _UNSEEN:
            found.text.append(element.text)
        if tag in _COUNTED:
            found.counts[_COUNTED[tag]] += 1
        if tag in ("a", "area"):
            href = element.get("href")
            if href is not None:
                found.hyperlinks.append((href, tag, _anchor(element), _rel(element)))
        elif tag in _FRAMES:
            found.hyperlinks.append((element.get("src") or "", tag, "", ""))
        elif tag in TAGS:
            if tag == "link":
                _link_element(element, found)
            found.resources.extend(pair for pair in named_resources(element, tag) if pair[0].strip())
    return found


def _link_element(element: HtmlElement, found: _Found) -> None:
    href, rel = element.get("href"), _rel(element)
    words = rel.split()
    # "alternate stylesheet" is a style, not another page.
    if href and "stylesheet" not in words:
        kind = next((kind for kind in _LINK_KINDS if kind in words), "prev" if "previous" in words else None)
        if kind:
            found.hyperlinks.append((href, kind, folded(element.get("title"))[:ANCHOR_CHARACTERS_MAX], rel))


def _rel(element: HtmlElement) -> str:
    return " ".join((element.get("rel") or "").lower().split())


def _anchor(element: HtmlElement) -> str:
    if len(element) == 0:
        return folded(element.text)[:ANCHOR_CHARACTERS_MAX]
    pieces = []
    for index, piece in enumerate(element.itertext()):
        if index == _ANCHOR_PIECES_MAX:
            break
        pieces.append(piece)
    return folded("".join(pieces))[:ANCHOR_CHARACTERS_MAX]


def _hyperlinks(found: _Found, page_url: str, base: str, rules: KeyRules) -> list[dict[str, str]]:
    """Make the links absolute; what is no web address, and the page itself, is left out."""
    rows = []
    for href, kind, anchor, rel in found.hyperlinks:
        if href.startswith("#") and base == page_url:
            continue
        resolved = resolve_with_key(href, base, rules)
        if resolved is not None and resolved[0] != page_url:
            rows.append({"url": resolved[0], "url_key": resolved[1], "kind": kind, "anchor": anchor, "rel": rel})
    return rows


def _resources(found: _Found, base: str) -> list[dict[str, object]]:
    """Make the resources absolute, each once, under the kind that came first."""
    counts: dict[str, int] = {}
    kinds: dict[str, str] = {}
    for href, kind in found.resources:
        url = web_address(href, base)
        if url is not None:
            counts[url] = counts.get(url, 0) + 1
            kinds.setdefault(url, kind)
    return [{"url": url, "kind": kinds[url], "count": count} for url, count in counts.items()]

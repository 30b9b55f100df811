"""HTML trees: text parsed so that nothing is lost silently, and the base of a page's links."""

import re
from typing import Final

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from assets.url.parse import resolve

# libxml2 gives up at 256 open elements (2,048 with huge_tree) and drops the rest of the page; trafilatura, recursing,
# gives up at some 255. Nothing that people read nests so deep.
_DEPTH_MAX: Final = 200

# What libxml2 cannot hold in a tree, or what no text needs: C0 controls but white space, and non-characters.
_UNWANTED: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# Stops at the next "<", so that no page costs more than linear time.
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)[^<>]*>")
_VOID_NAMES: Final = "area base br col embed hr img input link meta source track wbr param frame"
_VOID: Final = frozenset(_VOID_NAMES.split())
# Tags that carry something beside their place in the nesting are kept at any depth.
_KEPT: Final = frozenset({"a", "iframe", "script", "style", "title", "textarea", "pre"})
# Elements that end without an end tag, when one of these starts.
_ENDED_BY: Final[dict[str, frozenset[str]]] = {
    "p": frozenset({"p"}),
    "li": frozenset({"p", "li"}),
    "dt": frozenset({"p", "dt", "dd"}),
    "dd": frozenset({"p", "dt", "dd"}),
    "option": frozenset({"option"}),
    "td": frozenset({"p", "td", "th"}),
    "th": frozenset({"p", "td", "th"}),
    "tr": frozenset({"p", "td", "th", "tr"}),
    "tbody": frozenset({"p", "td", "th", "tr", "thead", "tbody", "tfoot"}),
}
_OPTIONAL_END: Final = frozenset().union(*_ENDED_BY.values())


def parse_html(text: str) -> HtmlElement | None:
    """Parse a page; None when it holds no element and no text.

    A page that nests deeper than any parser goes is flattened first: its text and its links stay.
    """
    text = _UNWANTED.sub("", text)
    # Depth (and a text over 10 MB) is an error to see only without huge_tree.
    tree, complete = _parse(text, huge=False)
    return tree if complete else _parse(flattened(text), huge=True)[0]


def base_url(tree: HtmlElement, page_url: str) -> str:
    """Give the address that relative links start from: the first ``<base href>``, itself resolved, or the page's."""
    for element in tree.iter("base"):
        href = element.get("href")
        if href is not None:
            base = resolve(href, page_url)
            return base if base and base.startswith(("http://", "https://")) else page_url
    return page_url


def flattened(text: str) -> str:
    """Drop the tags of elements that lie deeper than the limit, but those that say more than where they lie.

    >>> flattened("<b>" * 300 + "x" + "</b>" * 300).count("<b>")
    200
    """
    open_tags: list[tuple[str, bool]] = []

    def kept(match: re.Match[str]) -> str:
        name = match[2].lower()
        if name in _VOID:
            return match[0]
        ended = _OPTIONAL_END if match[1] else _ENDED_BY.get(name, frozenset())
        while open_tags and open_tags[-1][0] in ended and not (match[1] and open_tags[-1][0] == name):
            open_tags.pop()
        if not match[1]:
            keep = len(open_tags) < _DEPTH_MAX or name in _KEPT
            open_tags.append((name, keep))
        elif open_tags and open_tags[-1][0] == name:
            _, keep = open_tags.pop()
        else:
            # An end tag out of turn: the parser knows better what it means, where it can still do harm to nothing.
            keep = len(open_tags) < _DEPTH_MAX
        return match[0] if keep else " "

    return _TAG.sub(kept, text)


def _parse(text: str, *, huge: bool) -> tuple[HtmlElement | None, bool]:
    """Parse, and say whether all of the page is in the tree."""
    # Bytes, as lxml refuses str with an XML declaration.
    parser = HTMLParser(encoding="utf-8", huge_tree=huge)
    try:
        tree = document_fromstring(text.encode("utf-8"), parser=parser)
    except etree.LxmlError:
        return None, not _is_cut(parser)
    return tree, not _is_cut(parser)


def _is_cut(parser: HTMLParser) -> bool:
    return any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log)

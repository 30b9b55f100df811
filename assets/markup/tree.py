"""HTML trees: text parsed so that nothing is lost silently, and the base of a page's links."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol

from lxml import etree
from lxml.html import HtmlElement, HTMLParser

from assets.url.parse import resolve

# libxml2 gives up at 256 open elements (2,048 with huge_tree) and drops the rest of the page; trafilatura, recursing,
# gives up at some 255. Nothing that people read nests so deep.
_DEPTH_MAX: Final = 200

# What libxml2 cannot hold in a tree, or what no text needs: C0 controls but white space, and non-characters.
_CONTROLS: Final = bytes([*range(0x09), 0x0B, *range(0x0E, 0x20), 0x7F])
_NON_CHARACTERS: Final = ("\ufffe", "\uffff")
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


_SHOWN: Final = etree.XPath(".//text()[not(parent::style or parent::script)]", smart_strings=False)

_HTML_PARSER: Final = partial(HTMLParser, encoding="utf-8")
_PLAIN_PARSER: Final = partial(etree.HTMLParser, encoding="utf-8", collect_ids=False)


class Elements(Protocol):
    """Where the elements of a page are found by their tag: a tree, or what was gathered from one."""

    def iter(self, tag: str, /) -> Iterable[etree._Element]:
        """Give the elements that have a tag, in document order."""
        ...


def parse_html(text: str) -> HtmlElement | None:
    """Parse a page; None when it holds no element and no text.

    A page that nests deeper than any parser goes is flattened first: its text and its links stay.
    """
    return _whole_tree(text, _HTML_PARSER)


def parse_plain(text: str) -> etree._Element | None:
    """Parse a page into the same tree as ``parse_html``, less the methods for HTML, whose lookup costs time a node."""
    return _whole_tree(text, _PLAIN_PARSER)


def base_url(tree: Elements, page_url: str) -> str:
    """Give the address that relative links start from: the first ``<base href>``, itself resolved, or the page's."""
    for element in tree.iter("base"):
        href = element.get("href")
        if href is not None:
            base = resolve(href, page_url)
            return base if base and base.startswith(("http://", "https://")) else page_url
    return page_url


def shown_text(element: etree._Element) -> str:
    """Give the text in an element, as it stands, without that of styles and scripts in it."""
    texts: Any = _SHOWN(element)
    return "".join(texts)


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


def _whole_tree(text: str, new_parser: Callable[..., etree.HTMLParser]) -> etree._Element | None:
    for unwanted in _NON_CHARACTERS:
        text = text.replace(unwanted, "")
    # Bytes, as lxml refuses str with an XML declaration. In UTF-8 no character but a control has a byte of a control,
    # and lone surrogates are ignored.
    data = text.encode("utf-8", "ignore").translate(None, _CONTROLS)
    # Depth (and a text over 10 MB) is an error to see only without huge_tree.
    tree, complete = _parse(data, new_parser())
    if not complete:
        tree, _ = _parse(flattened(data.decode("utf-8")).encode("utf-8"), new_parser(huge_tree=True))
    return tree


def _parse(data: bytes, parser: etree.HTMLParser) -> tuple[etree._Element | None, bool]:
    """Parse, and say whether all of the page is in the tree."""
    try:
        tree = etree.fromstring(data, parser)
    except etree.LxmlError:
        tree = None
    return tree, not any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log)

"""A second opinion on a page's main text: trafilatura's, with all of its fallbacks, as an outline."""

import logging
from dataclasses import dataclass
from typing import Final

from lxml import etree
from trafilatura import bare_extraction

from assets.extract.outline import Node, outline
from assets.markup.tree import parse_html

# trafilatura warns of every page that gives nothing; here that is a flag of a row.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

# What trafilatura calls the elements of HTML.
_TAGS: Final = {"list": "ul", "item": "li", "row": "tr", "cell": "td", "quote": "blockquote", "ref": "a", "lb": "br"}
_HEADS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True, slots=True)
class Opinion:
    """What trafilatura takes for the main text; None when it finds none, and why when it broke down."""

    body: Node | None
    reason: str


def second_opinion(html: str) -> Opinion:
    """Ask trafilatura for the main text of a page."""
    tree = parse_html(html)
    if tree is None:
        return Opinion(None, "")
    for element in list(tree.iter("noscript")):
        # What a script shell says to those without scripts is not its text.
        if element.getparent() is not None:
            element.drop_tree()
    try:
        document = bare_extraction(
            tree, output_format="txt", include_comments=False, include_links=True, with_metadata=False
        )
    except Exception as error:  # noqa: BLE001
        # Third-party code on input that someone made to break it: one row with a reason, never the batch.
        return Opinion(None, f"extract_error: {type(error).__name__}")
    body = getattr(document, "body", None)
    return Opinion(None if body is None else outline(_html(body)), "")


def _html(body: etree._Element) -> etree._Element:
    """Give trafilatura's tree the names of HTML back."""
    for element in body.iter():
        tag = element.tag
        if tag == "head":
            rend = element.get("rend") or "h2"
            element.tag = rend if rend in _HEADS else "h2"
        elif tag == "code" and "\n" in "".join(map(str, element.itertext())):
            element.tag = "pre"
        elif tag == "list" and element.get("rend") == "ol":
            element.tag = "ol"
        elif isinstance(tag, str):
            element.tag = _TAGS.get(tag, tag)
    return body

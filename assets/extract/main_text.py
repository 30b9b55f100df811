"""Main text: a page without its furniture, as Markdown and plain, chosen by ``content`` or by a second opinion."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from lxml import etree

from assets.extract.content import content_of
from assets.extract.facts import NO_FACTS, Facts, facts_of
from assets.extract.markdown import markdown_of
from assets.extract.outline import Node, outline
from assets.extract.plain import plain_text
from assets.extract.second_opinion import second_opinion
from assets.markup.tree import base_url
from assets.url.parse import resolve

# A text this short, and less than this share of what the page shows, may be a teaser, with the article in a script or
# under names that say nothing: then another extractor is asked, which costs ten times as much.
_THIN_CHARACTERS: Final = 1_000
_THIN_SHARE: Final = 0.5
# A page that shows so much and hardly a sentence is an index: no article hides in it, and all of it is what it says.
_INDEX_CHARACTERS: Final = 30_000
_FURNITURE: Final = frozenset({"nav", "header", "footer", "aside", "form", "button", "select"})


@dataclass(frozen=True, slots=True)
class MainText:
    """A page's main text, twice; ``reason`` says what went wrong while it was sought."""

    markdown: str
    text: str
    reason: str
    facts: Facts = NO_FACTS
    is_furniture: bool = False  # nothing but furniture was there


def main_text(tree: etree._Element, html: str, page_url: str) -> MainText:
    """Find the main text of a page.

    Args:
        tree: the page, parsed.
        html: the page as it came, for a second opinion.
    """
    root = outline(tree)
    part = content_of(root)
    text = plain_text(part)
    reason = ""
    if root.characters > _INDEX_CHARACTERS and len(text) < _THIN_CHARACTERS:
        text = ""
    elif len(text) < _THIN_CHARACTERS and len(text) < _THIN_SHARE * root.characters:
        other = second_opinion(html)
        reason = other.reason
        if other.body is not None and (other_text := plain_text(other.body)):
            part, text = other.body, other_text
    if not text:
        part = _without_furniture(outline(tree))
        text = plain_text(part)
    if not text:
        part = outline(tree)
        text = plain_text(part)
    resolve = partial(absolute, base=base_url(tree, page_url))
    return MainText(markdown_of(part, resolve), text, reason, facts_of(part, resolve), _is_all_furniture(part))


def _without_furniture(root: Node) -> Node:
    """Drop the elements that HTML itself calls furniture."""
    for node in root.walk():
        node.dropped = node.tag in _FURNITURE
    return root


def _is_all_furniture(part: Node) -> bool:
    """Say whether no word of a part stands outside of what HTML itself calls furniture."""
    above: Node | None = part
    while above is not None:
        if above.tag in _FURNITURE:
            return True
        above = above.parent
    stack = [part]
    while stack:
        node = stack.pop()
        if not node.dropped and node.tag not in _FURNITURE:
            if any(isinstance(one, str) and not one.isspace() for one in node.parts):
                return False
            stack.extend(node.children())
    return True


def absolute(href: str, base: str) -> str | None:
    """Resolve a link as people follow it, with its fragment; None for what leads nowhere (``javascript:``, ``data:``).

    >>> absolute("x.html#part", "http://e.test/a/b.html"), absolute("javascript:void(0)", "http://e.test/")
    ('http://e.test/a/x.html#part', None)
    """
    url = resolve(href, base)
    if url is None or not url.startswith(("http://", "https://", "mailto:", "ftp://")):
        return None
    fragment = re.sub(r"\s", "%20", href.partition("#")[2].strip())
    return f"{url}#{fragment}" if fragment else url

"""Main text: a page without its furniture, as Markdown and as plain text. trafilatura chooses; its faults end here."""

import logging
import re
from dataclasses import dataclass
from typing import Final

from lxml.etree import _Element, strip_tags
from lxml.html import HtmlElement
from trafilatura import bare_extraction
from trafilatura.xml import xmltotxt

from assets.markup.tree import base_url
from assets.url.parse import resolve

# trafilatura warns of every page that gives nothing; here that is a flag of a row.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

# Source: WHATWG HTML, 4.9.11 (a colspan ends at 1,000); within that, a cell spans no more columns than its table has.
_SPAN_MAX: Final = 1_000
# Left out of what people see, and with the furniture left out too.
SHOWN_WITHOUT: Final = frozenset({"script", "style", "noscript", "template", "svg"})
_FURNITURE: Final = SHOWN_WITHOUT | {"nav", "header", "footer", "aside", "form", "button", "select"}
# HTML's, and those of the tree that trafilatura makes.
_BLOCK_NAMES: Final = (
    "address article blockquote body br caption center dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li "
    "main ol p pre section summary table tbody tfoot thead tr ul head item lb list quote row"
)
_BLOCKS: Final = frozenset(_BLOCK_NAMES.split())
_CELLS: Final = frozenset({"td", "th", "cell"})
_VERBATIM: Final = frozenset({"pre", "code"})


@dataclass(frozen=True, slots=True)
class MainText:
    """A page's main text, twice; ``reason`` says what went wrong while it was sought."""

    markdown: str
    text: str
    reason: str


def main_text(tree: HtmlElement, page_url: str) -> MainText:
    """Find the main text. The tree is changed: links become absolute, ``noscript`` goes."""
    prepare(tree, page_url)
    try:
        document = bare_extraction(
            tree,
            output_format="markdown",
            include_comments=False,
            include_links=True,
            include_tables=True,
            with_metadata=False,
        )
        body = getattr(document, "body", None)
        found = None if body is None else (xmltotxt(body, True).strip(), plain_text(body, frozenset()))
    except Exception as error:  # noqa: BLE001
        # Third-party code on input that someone made to break it: one row with a reason, never the batch.
        plain = plain_text(tree, SHOWN_WITHOUT)
        return MainText(plain, plain, f"extract_error: {type(error).__name__}")
    if found is None or not found[1]:
        # No article in it: then what people see of it, without the furniture, or else with it.
        plain = plain_text(tree, _FURNITURE) or plain_text(tree, SHOWN_WITHOUT)
        return MainText(plain, plain, "")
    return MainText(*found, "")


def prepare(tree: HtmlElement, page_url: str) -> None:
    """Put into the tree what trafilatura gets wrong when it does it itself."""
    base = base_url(tree, page_url)
    for element in tree.iter("a", "img", "area"):
        name = "src" if element.tag == "img" else "href"
        href = element.get(name)
        if href is None:
            continue
        url = absolute(href, base)
        if url is None:
            del element.attrib[name]
        else:
            element.set(name, url)
    _bound_spans(tree)
    _flatten_code(tree)
    for element in list(tree.iter("noscript", "base")):
        # What a script shell says to those without scripts is not its text.
        if element.getparent() is not None:
            element.drop_tree()


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


def plain_text(tree: _Element, left_out: frozenset[str]) -> str:
    """Give the text of the body, a line a block, without the elements named."""
    parts: list[str] = []
    body = next(tree.iter("body", "frameset"), tree)
    # By hand: a recursive walk would end at deep pages.
    stack: list[_Element | str] = [body]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        is_block = node.tag in _BLOCKS
        if node is not body and node.tail:
            parent = node.getparent()
            verbatim = parent is not None and parent.tag in _VERBATIM
            stack.append(node.tail if verbatim else node.tail.replace("\n", " "))
        if not isinstance(node.tag, str) or node.tag in left_out:
            continue
        if is_block:
            parts.append("\n")
            stack.append("\n")
        elif node.tag in _CELLS:
            parts.append(" ")
        stack.extend(reversed(node))
        parts.append(_text_of(node))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _text_of(node: _Element) -> str:
    text = node.text or ""
    return text if node.tag in _VERBATIM else text.replace("\n", " ")


def _flatten_code(tree: HtmlElement) -> None:
    """Keep the text of markup inside inline code, which trafilatura drops; a link around all of it goes outside."""
    for code in list(tree.iter("code")):
        if not len(code) or next(code.iterancestors("pre"), None) is not None:
            continue
        links = list(code.iter("a"))
        whole = len(links) == 1 and links[0].text_content().strip() == code.text_content().strip()
        href = links[0].get("href") if whole else None
        strip_tags(code, "*")
        parent = code.getparent()
        if href and parent is not None:
            link = code.makeelement("a", {"href": href})
            link.tail, code.tail = code.tail, None
            parent.replace(code, link)
            link.append(code)


def _bound_spans(tree: HtmlElement) -> None:
    widths: dict[_Element, int] = {}
    for element in tree.iter("td", "th"):
        rowspan, colspan = element.get("rowspan"), element.get("colspan")
        if rowspan is not None:
            element.set("rowspan", str(_span(rowspan, _SPAN_MAX)))
        if colspan is not None:
            table = next(element.iterancestors("table"), tree)
            if table not in widths:
                widths[table] = max((len(row) for row in table.iter("tr")), default=1)
            element.set("colspan", str(_span(colspan, widths[table])))


def _span(value: str, most: int) -> int:
    digits = value.strip()[:10]
    return max(1, min(int(digits), most, _SPAN_MAX)) if digits.isascii() and digits.isdigit() else 1

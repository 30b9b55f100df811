"""Facts of a page's head: title, language, declared canonical, robots directives, refresh. Nothing is judged here."""

import re
from typing import Final

from lxml import etree

from assets.markup.link_header import header_links
from assets.markup.tree import Elements
from assets.url.parse import resolve

_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
# Source: WHATWG HTML, 4.2.5.3 (shared declarative refresh steps).
_REFRESH: Final = re.compile(
    r"""\s*(?:(\d+)(?:\.[\d.]*)?|\.[\d.]*)(?:\s*$|(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(["']?)(.*)$)""",
    re.IGNORECASE | re.DOTALL,
)
_DELAY_MAX_S: Final = 10**9
# Robots directives that take a value; any other word before a colon names a crawler.
_VALUED: Final = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_OUR_NAME: Final = "isobath"


def folded(text: str | None) -> str:
    """Fold white space.

    >>> folded("  a\\n b ")
    'a b'
    """
    return " ".join(text.split()) if text else ""


def title_text(tree: Elements) -> str:
    """Give the text of the first ``<title>`` that is not a picture's; empty when there is none."""
    for element in tree.iter("title"):
        parent = element.getparent()
        if parent is None or parent.tag != "svg":
            return folded("".join(map(str, element.itertext())))
    return ""


def html_language(tree: etree._Element) -> str:
    """Give the language that ``<html lang>`` names, as a lower-case BCP 47 tag; empty when it names none."""
    raw = tree.get("lang") or tree.get("xml:lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    tag = raw.strip().lower().replace("_", "-")
    return tag if _LANGUAGE.fullmatch(tag) and len(tag) <= 35 else ""


def declared_canonicals(tree: Elements | None, base: str, page_url: str, link_header: str | None) -> list[str]:
    """Give the addresses that ``rel=canonical`` names, absolute, each once: those of the page, then of its header.

    Args:
        base: what links of the page are relative to; those of its Link header are relative to ``page_url``.
    """
    named = [
        web_address(element.get("href") or "", base)
        for element in (tree.iter("link") if tree is not None else ())
        if element.get("href") and "canonical" in (element.get("rel") or "").lower().split()
    ]
    named += [web_address(link.href, page_url) for link in header_links(link_header) if "canonical" in link.rel]
    return [url for url in dict.fromkeys(named) if url]


def alternates(tree: Elements | None, base: str, page_url: str, link_header: str | None) -> list[tuple[str, str]]:
    """Give the versions of a page in other languages that it names: ``hreflang``, lower case, and absolute address.

    Args:
        base: what links of the page are relative to; those of its Link header are relative to ``page_url``.
    """
    named = [
        ((element.get("hreflang") or "").strip().lower(), web_address(element.get("href") or "", base))
        for element in (tree.iter("link") if tree is not None else ())
        if element.get("href") and "alternate" in (element.get("rel") or "").lower().split()
    ]
    named += [
        (link.hreflang, web_address(link.href, page_url))
        for link in header_links(link_header)
        if "alternate" in link.rel
    ]
    return [(language, url) for language, url in dict.fromkeys(named) if language and url]


def robots_directives(tree: Elements | None, robots_tag: str | None) -> tuple[str, ...]:
    """Give what the robots ``meta`` and ``X-Robots-Tag`` ask of every crawler or of us, lower case, each once."""
    found: dict[str, None] = {}
    for element in tree.iter("meta") if tree is not None else ():
        if (element.get("name") or "").strip().lower() in ("robots", _OUR_NAME):
            found.update(dict.fromkeys(_directives(element.get("content") or "")))
    found.update(dict.fromkeys(_directives(robots_tag or "")))
    return tuple(found)


def _directives(text: str) -> list[str]:
    """Split a list of directives; those after another crawler's name are not for us."""
    ours, found = True, []
    for part in text.lower().split(","):
        name, colon, value = (piece.strip() for piece in part.partition(":"))
        if colon and name not in _VALUED:
            ours, part = name == _OUR_NAME, value
        if ours and part.strip():
            found.append(folded(part))
    return found


def refresh_target(tree: Elements, base: str) -> tuple[int, str | None] | None:
    """Give a page's ``meta`` refresh: its delay in seconds, and where to; None for the address is the page itself.

    None when the page has no refresh. What stands in ``noscript`` is for others and not counted.
    """
    for element in tree.iter("meta"):
        if (element.get("http-equiv") or "").strip().lower() != "refresh":
            continue
        if next(element.iterancestors("noscript"), None) is None:
            parsed = parse_refresh(element.get("content") or "")
            if parsed is not None:
                delay_s, href = parsed
                return delay_s, web_address(href, base) if href else None
    return None


def header_refresh(value: str | None, page_url: str) -> tuple[int, str | None] | None:
    """Give the ``Refresh`` header of an answer as ``refresh_target`` gives a page's; None when it has none.

    It comes before any markup, so ``base`` has no say; where it can be read, the page's own refresh does not count.

    >>> header_refresh("0;url=b", "http://e.test/d/a"), header_refresh("9", "http://e.test/"), header_refresh("x", "")
    ((0, 'http://e.test/d/b'), (9, None), None)
    """
    parsed = parse_refresh(value or "")
    return (parsed[0], web_address(parsed[1], page_url) if parsed[1] else None) if parsed is not None else None


def parse_refresh(content: str) -> tuple[int, str] | None:
    """Read the ``content`` of a refresh: its delay in seconds and its address, empty when there is none.

    >>> parse_refresh("0; URL='x'"), parse_refresh("0 url=x"), parse_refresh("5"), parse_refresh("x")
    ((0, 'x'), (0, 'x'), (5, ''), None)
    """
    match = _REFRESH.match(content)
    if match is None:
        return None
    delay, quote, href = match[1] or "0", match[2] or "", match[3] or ""
    if quote:
        href = href.partition(quote)[0]
    # int() refuses thousands of digits.
    return int(delay[:10]) if len(delay) <= 10 else _DELAY_MAX_S, href.strip()


def web_address(href: str, base: str) -> str | None:
    """Resolve a link; None for what is no http(s) address."""
    url = resolve(href, base)
    return url if url and url.startswith(("http://", "https://")) else None

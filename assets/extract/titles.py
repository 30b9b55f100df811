"""The title of a page: its own, without the site's name."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from lxml.html import HtmlElement

from assets.markup.head import folded, title_text
from assets.url.parse import split_web_address

TITLE_CHARACTERS_MAX: Final = 500

# Marks that link a heading to itself: Sphinx and its kin put them into it.
_PERMALINK: Final = re.compile(r"\s*[¶§#🔗]\s*$")
_SEPARATOR: Final = re.compile(r"\s+[|–—·•»«:]+\s+|\s+-+\s+|\s*\|\s*|\s+::\s+")
_WORDS: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Title:
    """A title, and where it was found."""

    text: str
    source: str  # h1, og:title, title or path


def page_title(tree: HtmlElement, meta: dict[str, str], url: str) -> Title:
    """Choose the title: a heading that the page's other titles confirm, else ``og:title``, ``<title>``, a lone ``h1``.

    Args:
        meta: content of the ``meta`` elements by lower-case name or property.
        url: the page's address.
    """
    site_names = _site_names(meta, url)
    heading, is_only = _heading(tree)
    shown, shared = title_text(tree), folded(meta.get("og:title"))
    if heading and not _is_name(heading, site_names) and (_within(heading, shown) or _within(heading, shared)):
        return Title(heading[:TITLE_CHARACTERS_MAX], "h1")
    for text, source in ((shared, "og:title"), (shown, "title")):
        own = without_site_name(text, site_names)
        if own and not _is_name(own, site_names):
            return Title(own[:TITLE_CHARACTERS_MAX], source)
    if heading and is_only:
        return Title(heading[:TITLE_CHARACTERS_MAX], "h1")
    # All that is left is the site's name, as on a home page, or nothing.
    for text, source in ((shared, "og:title"), (shown, "title"), (heading, "h1")):
        if text:
            return Title(text[:TITLE_CHARACTERS_MAX], source)
    return Title(path_title(url)[:TITLE_CHARACTERS_MAX], "path")


def without_site_name(title: str, site_names: frozenset[str]) -> str:
    """Cut the first or the last part of a title when it is the site's name.

    >>> without_site_name("How to sail - Boats | Acme", frozenset({"acme"}))
    'How to sail - Boats'
    """
    separators = list(_SEPARATOR.finditer(title))
    if separators:
        last, first = separators[-1], separators[0]
        if _is_name(title[last.end() :], site_names):
            return title[: last.start()].strip()
        if _is_name(title[: first.start()], site_names):
            return title[first.end() :].strip()
    return title


def path_title(url: str) -> str:
    """Make a title of the last part of an address.

    >>> path_title("https://e.test/docs/getting%20started.html"), path_title("https://e.test/")
    ('getting started', 'e.test')
    """
    parts = split_web_address(url)
    if parts is None:
        return url
    path = parts[2].partition("?")[0].rstrip("/").rpartition("/")[2].partition(";")[0]
    name = folded(re.sub(r"[-_+]+", " ", re.sub(r"\.[A-Za-z]{1,5}$", "", unquote(path))))
    return name or parts[1]


def _heading(tree: HtmlElement) -> tuple[str, bool]:
    """Give the first heading of the first level that says something, and whether it is the only one."""
    texts = [text for element in tree.iter("h1") if (text := _PERMALINK.sub("", folded("".join(element.itertext()))))]
    return (texts[0], len(texts) == 1) if texts else ("", False)


def _site_names(meta: dict[str, str], url: str) -> frozenset[str]:
    """Give what the site may be called, reduced to letters and digits."""
    parts = split_web_address(url)
    host = parts[1].partition(":")[0].removeprefix("www.") if parts else ""
    names = [meta.get("og:site_name"), meta.get("application-name"), host, host.partition(".")[0]]
    # The name before the public suffix: "Example" on docs.example.org. Two labels from the end is near enough.
    names += host.split(".")[-2:-1]
    return frozenset(_reduced(name) for name in names if name) - {""}


def _is_name(text: str, site_names: frozenset[str]) -> bool:
    return _reduced(text) in site_names


def _within(part: str, whole: str) -> bool:
    reduced = _reduced(part)
    return bool(reduced) and reduced in _reduced(whole)


def _reduced(text: str) -> str:
    return "".join(_WORDS.findall(text.lower()))

"""The title of a page: its own, without the site's name."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml import etree

from assets.extract.outline import PERMALINK
from assets.markup.head import folded, title_text
from assets.markup.tree import base_url, shown_text
from assets.url.parse import resolve, split_web_address

TITLE_CHARACTERS_MAX: Final = 500

_SEPARATOR: Final = re.compile(r"\s+[|│–—·•»«:]+\s+|\s+-+\s+|\s*[|│]\s*|\s+::\s+")
# What stands between a title and the site's name, and hardly ever within a title.
_STRONG: Final = re.compile(r"\s*[|│»«]\s*|\s+[•·:]+\s+")
_WORDS: Final = re.compile(r"[^\W_]+")
_HEADINGS: Final = ("h1", "h2", "h3")
# Headings looked at: a page of thousands says nothing more in the last one.
_HEADINGS_MAX: Final = 60
# Least letters of a word that a host name shares with the site's name by no accident.
_TELLING_LETTERS: Final = 4
# Share of words that a heading and another title have in common when they say the same in other words.
_LIKE: Final = 0.5
# A lower heading is the page's title when it is a part of the other titles, and no mere "News".
_PART_LETTERS_MIN: Final = 12
# A heading that no other title resembles: a sentence is a title, a word may be a logo.
_LONE_WORDS_MIN: Final = 3
_PARTS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Title:
    """A title, and where it was found."""

    text: str
    source: str  # h1, h2, h3, og:title, title or path


@dataclass(frozen=True, slots=True)
class _Heading:
    """One of the first headings of the page."""

    level: str
    text: str
    leads_home: bool


def page_title(tree: etree._Element, meta: dict[str, str], url: str) -> Title:
    """Choose the title: a heading that the page's other titles confirm, else a lone ``h1``, ``og:title``, ``<title>``.

    Args:
        meta: content of the ``meta`` elements by lower-case name or property.
        url: the page's address.
    """
    names = _site_names(meta, url)
    shown, shared = _clean(title_text(tree)), _clean(meta.get("og:title"))
    headings = _headings(tree, url)
    own = [heading for heading in headings if not _is_logo(heading, shown, names)]
    found = _confirmed(own, shown, shared)
    if found is None:
        found = _from_titles(shown, shared, names, url)
    if found is None:
        # All that is left is the site's name, as on a home page, or nothing.
        first = next((heading.text for heading in headings if heading.level == "h1"), "")
        named = ((shared, "og:title"), (shown, "title"), (first, "h1"))
        found = next((Title(text, source) for text, source in named if text), Title(path_title(url), "path"))
    return Title(found.text[:TITLE_CHARACTERS_MAX], found.source)


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


def _confirmed(headings: list[_Heading], shown: str, shared: str) -> Title | None:
    """Give the first ``h1`` that the other titles hold, else a lone one like them, a lower one, a lone one unlike."""
    tops = [heading.text for heading in headings if heading.level == "h1"]
    for text in tops:
        if _within(text, shown) or _within(text, shared):
            return Title(text, "h1")
    lone = tops[0] if len(tops) == 1 else ""
    if lone and (not (shown or shared) or max(_likeness(lone, shown), _likeness(lone, shared)) >= _LIKE):
        return Title(lone, "h1")
    lower = [
        heading
        for heading in headings
        if heading.level != "h1" and (_is_part(heading.text, shown) or _is_part(heading.text, shared))
    ]
    if lower:
        longest = max(lower, key=lambda heading: len(heading.text))
        if len(_reduced(longest.text)) >= _PART_LETTERS_MIN:
            return Title(longest.text, longest.level)
    return Title(lone, "h1") if len(_WORDS.findall(lone)) >= _LONE_WORDS_MIN else None


def _from_titles(shown: str, shared: str, names: frozenset[str], url: str) -> Title | None:
    """Give the first of the page's other titles that says more than the site's name, without that."""
    for text, source in ((shared, "og:title"), (shown, "title")):
        own = without_site_name(text, names)
        if own == text:
            own = _without_last_part(text, url)
        if own and not _is_name(own, names):
            return Title(own, source)
    return None


def _without_last_part(title: str, url: str) -> str:
    """Cut the last part of a title when a separator of sites' names is before it, or the host's name is in it."""
    separators = list(_SEPARATOR.finditer(title))
    if not separators:
        return title
    last = separators[-1]
    before, after = title[: last.start()].strip(), title[last.end() :]
    parts = split_web_address(url)
    host = parts[1].lower() if parts else ""
    telling = [word for word in _WORDS.findall(after.lower()) if len(word) >= _TELLING_LETTERS and word in host]
    if before and (telling or _STRONG.fullmatch(last[0])):
        return before
    return title


def _headings(tree: etree._Element, url: str) -> list[_Heading]:
    base = base_url(tree, url)
    home = resolve("/", url)
    found = []
    for element in islice(tree.iter(*_HEADINGS), _HEADINGS_MAX):
        text = PERMALINK.sub("", _clean(shown_text(element)))
        if text:
            parent = element.getparent()
            around = [parent] if parent is not None and parent.tag == "a" else []
            links = (link.get("href") for link in (*around, *element.iter("a")))
            found.append(_Heading(str(element.tag), text, any(href and resolve(href, base) == home for href in links)))
    return found


def _is_logo(heading: _Heading, shown: str, names: frozenset[str]) -> bool:
    """Say whether a heading is the site's name: by its link, or as it ends the title of which the page's own begins."""
    if heading.leads_home or _is_name(heading.text, names):
        return True
    places = list(_SEPARATOR.finditer(shown))
    if heading.level != "h1" or not places or _is_name(shown[: places[0].start()], names):
        return False
    return any(_reduced(heading.text) == _reduced(shown[place.end() :]) for place in places)


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


def _is_part(part: str, whole: str) -> bool:
    """Say whether a text is one or more of the parts of a title."""
    reduced = _reduced(part)
    places = [place.span() for place in _SEPARATOR.finditer(whole)][:_PARTS_MAX]
    starts, ends = [0, *[end for _, end in places]], [*[start for start, _ in places], len(whole)]
    return bool(reduced) and any(reduced == _reduced(whole[a:b]) for a in starts for b in ends if b > a)


def _likeness(one: str, other: str) -> float:
    """Give the share of the words of the shorter text that the other has, too."""
    ours, theirs = set(_WORDS.findall(one.lower())), set(_WORDS.findall(other.lower()))
    return len(ours & theirs) / min(len(ours), len(theirs)) if ours and theirs else 0.0


def _clean(text: str | None) -> str:
    # Soft hyphens say where a word may break, and are none of it.
    return folded((text or "").replace("\xad", ""))


def _reduced(text: str) -> str:
    return "".join(_WORDS.findall(text.lower()))

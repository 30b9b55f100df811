"""Vetoes: pages that are never merged, however alike their texts are.

Four things tell pages apart for certain: the version of what they describe and the number within a row of pages, both
read from the URL; the language they say they are in; and the canonical addresses they declare. The language in a URL is
not among them: ``/de/`` often serves the untranslated page. A person's word stands above all of these.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import ibis
import ibis.expr.types as ir

# In a dialect that Python, RE2 and Java share: the engines run it too. The bare number is cut at two digits because
# longer ones are mostly ids and years; "15" and "3" are how PostgreSQL and Python name a release.
_STAGE: Final = r"(?:[-_.]?(?:alpha|beta|a|b|rc|pre|dev|post|final|ga|release|snapshot)[-_.]?[0-9]*)?"
_VERSION_SEGMENT: Final = (
    r"^(?:"
    rf"(?:[a-z][a-z_]*[-_]?)?[0-9]+(?:\.(?:[0-9]+|x))+{_STAGE}"  # 3.11, v1.2.0-rc1, release-2.x
    rf"|v[0-9]+{_STAGE}"  # v1, v2beta1
    r"|[0-9]{1,2}"
    r"|latest|stable|current|dev|devel|develop|main|master|trunk|nightly|edge|unstable|snapshot|lts"
    r")$"
)
_VERSION_RE: Final = re.compile(_VERSION_SEGMENT)
# A bare "p" is WordPress's name of a post, not of a page of a list.
_PAGE_NUMBER: Final = (
    r"(?:[?&](?:page|paged|page_?no|page_?num(?:ber)?|pg|start|offset|skip)=|/pages?[-_/]?)0*([0-9]+)(?:[&/.;]|$)"
)
_PAGE_NUMBER_RE: Final = re.compile(_PAGE_NUMBER)
_FIRST_PAGES: Final = ("", "0", "1")


class Veto(StrEnum):
    """Why two alike pages are not merged, the strongest first."""

    REVIEWER = "reviewer"
    PAGINATION = "pagination"
    VERSION = "version"
    LANGUAGE = "language"
    CANONICAL = "canonical"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a page is, whatever its text says."""

    url_key: str
    language: str = ""  # as the page says
    canonical_key: str = ""  # as the page declares; empty when it does not


def version_of(url_key: str) -> str:
    """Give the version segments of an address's path, slash-joined; empty when it has none.

    >>> version_of("https://docs.example.org/en/3.11/library/os.html")
    '3.11'
    >>> version_of("https://example.org/blog/2024/a-title?v=3.11")
    ''
    """
    path = url_key.lower().split("?", 1)[0].split("/")[3:]
    return "/".join(segment for segment in path if _VERSION_RE.search(segment))


def version_column(url_key: ir.StringValue) -> ir.StringValue:
    """Give the expression of ``version_of``."""
    # What a text is split by, Spark takes for an expression, DuckDB for a text.
    path = url_key.lower().re_replace("[?].*", "").split("/")[3:]
    # Of no segments Spark makes null, DuckDB the empty text.
    return ibis.coalesce(path.filter(lambda segment: segment.re_search(_VERSION_SEGMENT)).join("/"), "")


def page_number_of(url_key: str) -> str:
    """Give the number of a page within a row of pages; empty for the first and for pages outside of any.

    >>> page_number_of("https://example.org/news?page=2"), page_number_of("https://example.org/news/page/1")
    ('2', '')
    """
    match = _PAGE_NUMBER_RE.search(url_key.lower())
    return "" if match is None or match[1] in _FIRST_PAGES else match[1]


def page_number_column(url_key: ir.StringValue) -> ir.StringValue:
    """Give the expression of ``page_number_of``."""
    number = url_key.lower().re_extract(_PAGE_NUMBER, 1)
    return number.isin(_FIRST_PAGES).ifelse("", number)


def language_column(language: ir.StringValue) -> ir.StringValue:
    """Give the language of a tag without its region, as an expression."""
    return ibis.coalesce(language.lower().split("-")[0], "")


def veto(one: Identity, other: Identity) -> str:
    """Say why two alike pages are not merged; empty when they may be.

    A page that names no language may be in any, and one that declares no canonical address may have any.
    """
    # "page/2" would pass for a version as well.
    if page_number_of(one.url_key) != page_number_of(other.url_key):
        return Veto.PAGINATION
    if version_of(one.url_key) != version_of(other.url_key):
        return Veto.VERSION
    if _differ(_primary(one.language), _primary(other.language)):
        return Veto.LANGUAGE
    if _differ(one.canonical_key, other.canonical_key):
        return Veto.CANONICAL
    return ""


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and one != other


def _primary(language: str) -> str:
    return language.lower().partition("-")[0]

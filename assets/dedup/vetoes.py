"""Vetoes: pages that are never merged, however alike their texts are.

Two things tell pages apart for certain: the version of what they describe, read from the URL, and the language they
say they are in. The language in a URL is not among them: ``/de/`` often serves the untranslated page.
"""

import re
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
    path = url_key.lower().split("?")[0].split("/")[3:]
    return path.filter(lambda segment: segment.re_search(_VERSION_SEGMENT)).join("/")


def language_column(language: ir.StringValue) -> ir.StringValue:
    """Give the language of a tag without its region, as an expression."""
    return ibis.coalesce(language.lower().split("-")[0], "")


def veto(version: str, other_version: str, language: str, other_language: str) -> str:
    """Say why two alike pages are not merged; empty when they may be. Languages are primary ones.

    A page that names no language may be in any.
    """
    if version != other_version:
        return "version"
    if language and other_language and language != other_language:
        return "language"
    return ""

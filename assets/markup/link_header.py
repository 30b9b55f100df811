"""The Link header of an answer: what a server says of a page's other addresses. Source: RFC 8288."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_PARAMETERS: Final = r"""(?:\s*;\s*(?:[\w!#$%&'*+.^`|~-]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)?)*"""
_LINK: Final = re.compile(rf"<([^>]*)>({_PARAMETERS})")
_PARAMETER: Final = re.compile(r""";\s*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?""")
_KEPT: Final = frozenset({"canonical", "alternate"})  # others, such as preload, are about no page
_LENGTH_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """One link of a Link header."""

    href: str  # as it stands there, relative to the page's address
    rel: tuple[str, ...]  # lower case
    hreflang: str  # lower case; empty when it names none


def header_links(value: str | None) -> list[HeaderLink]:
    """Read a Link header; what does not parse is left out, and so is a link whose context is another page.

    >>> [(link.href, link.rel, link.hreflang) for link in header_links('</b,c>; rel="canonical x", <d>;hreflang=de')]
    [('/b,c', ('canonical', 'x'), ''), ('d', (), 'de')]
    """
    found = []
    for href, parameters in _LINK.findall((value or "")[:_LENGTH_MAX]):
        named: dict[str, str] = {}
        for name, quoted, plain in _PARAMETER.findall(parameters):
            named.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or plain)
        if not named.get("anchor"):
            rel = tuple(named.get("rel", "").lower().split())
            found.append(HeaderLink(href.strip(), rel, named.get("hreflang", "").strip().lower()))
    return found


def links_about_pages(values: Iterable[str]) -> str | None:
    """Keep of Link headers the links that name other addresses of a page; None when there are none.

    >>> links_about_pages(['</s.css>; rel=preload, </a>; rel=canonical', '</b>; rel="alternate"; hreflang=fr'])
    '</a>; rel="canonical", </b>; rel="alternate"; hreflang="fr"'
    """
    return ", ".join(_written(values)) or None


def _written(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        for link in header_links(value):
            rel = [word for word in link.rel if word in _KEPT]
            if rel:
                hreflang = f'; hreflang="{link.hreflang}"' if link.hreflang else ""
                yield f'<{link.href}>; rel="{" ".join(rel)}"{hreflang}'

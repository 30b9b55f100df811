"""Resources: what a page needs or embeds besides its text: images, scripts, styles, media, icons. Never hyperlinks."""

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree

# Source: WHATWG HTML, 4.8.4.3.10 (parsing a srcset attribute); only the addresses are wanted.
_SRCSET: Final = re.compile(r"[\s,]*(\S+)\s*((?:\([^)]*\)|[^,(])*)")
_ICONS: Final = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "fluid-icon"})
_MEDIA: Final = frozenset({"audio", "video", "track", "embed"})
TAGS: Final = frozenset({"img", "input", "source", "script", "object", "link"}) | _MEDIA


def named_resources(element: etree._Element, tag: str) -> Iterator[tuple[str, str]]:
    """Give the addresses, as written, and the kinds of what an element loads; ``link`` by its rel."""
    if tag == "link":
        rel = (element.get("rel") or "").lower().split()
        if "stylesheet" in rel:
            yield element.get("href") or "", "style"
        elif not _ICONS.isdisjoint(rel):
            yield element.get("href") or "", "icon"
        elif "manifest" in rel:
            yield element.get("href") or "", "other"
        return
    if tag == "object":
        yield element.get("data") or "", "other"
        return
    source = element.get("src") or ""
    if tag == "img" or (tag == "input" and (element.get("type") or "").lower() == "image"):
        yield source, "image"
    elif tag == "script":
        yield source, "script"
    elif tag in _MEDIA or tag == "source":
        yield source, "media"
    if tag in ("img", "source"):
        for url in srcset_urls(element.get("srcset") or ""):
            yield url, "image"
    elif tag == "video":
        yield element.get("poster") or "", "image"


def srcset_urls(srcset: str) -> list[str]:
    """Give the addresses of a ``srcset``, as written; commas inside an address stay.

    >>> srcset_urls("a.png, b,1.png 2x,c.png 100w")
    ['a.png', 'b,1.png', 'c.png']
    """
    urls = []
    at = 0
    while match := _SRCSET.match(srcset, at):
        url = match[1]
        # A comma at the end of the address ends the candidate: no descriptors follow.
        at = match.end(1) if url.endswith(",") else match.end()
        if url.rstrip(","):
            urls.append(url.rstrip(","))
    return urls

"""WHATWG parsing and resolving of addresses. What an address means to us is decided beside it, never here."""

import re
from functools import lru_cache
from typing import Final

from ada_url import URL

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# A relative path that WHATWG parsing only appends, after steps up: no segment is empty, starts with a dot or has what
# must be escaped. Nearly all links of a page are so.
_PLAIN: Final = re.compile(
    r"(/|(?:\.\./)*)((?:[A-Za-z0-9\-_~][A-Za-z0-9\-_~.]*/)*(?:[A-Za-z0-9\-_~][A-Za-z0-9\-_~.]*/?)"
    r"(?:\?[A-Za-z0-9\-._~!$&()*+,;=:@/?%]*)?)(?:#.*)?",
    re.DOTALL,
)


def parse(url: str) -> str | None:
    """Give an absolute address as WHATWG serialises it, without its fragment; None when it does not parse.

    >>> parse(" HTTP://E.test:80/a/../b c#top ")
    'http://e.test/b%20c'
    """
    try:
        return _without_fragment(URL(url).href)
    except UnicodeEncodeError:
        return parse(encodable(url))
    except ValueError:
        return None


def resolve(href: str, base: str) -> str | None:
    """Give the address that ``href`` means on a page at ``base``, without fragment; None when it does not parse.

    >>> resolve("../x.html", "http://e.test/a/b/c.html")
    'http://e.test/a/x.html'
    """
    plain = _PLAIN.fullmatch(href)
    if plain is not None:
        place = _place(base)
        if place is not None:
            origin, directory = place
            up, path = plain.groups()
            if not up:
                return f"{origin}{directory}/{path}"
            if up == "/":
                return f"{origin}/{path}"
            return f"{origin}{directory.rsplit('/', len(up) // 3)[0]}/{path}"
    try:
        return _without_fragment(URL(href, base).href)
    except UnicodeEncodeError:
        return resolve(encodable(href), encodable(base))
    except ValueError:
        return None


def encodable(text: str) -> str:
    """Replace lone surrogates by U+FFFD, as WHATWG does before it parses: no file, table or socket takes them.

    >>> encodable("a" + chr(0xD800)) == "a" + chr(0xFFFD)
    True
    """
    return _SURROGATE.sub("\ufffd", text)


def split_web_address(href: str) -> tuple[str, str, str] | None:
    """Split a serialised http(s) address into scheme, authority and the rest, which starts with a slash.

    Args:
        href: as ``parse`` or ``resolve`` gave it.

    >>> split_web_address("https://e.test:8080/a?b")
    ('https', 'e.test:8080', '/a?b')
    >>> split_web_address("mailto:a@e.test")
    """
    if href.startswith("https://"):
        cut = href.index("/", 8)
        return "https", href[8:cut], href[cut:]
    if href.startswith("http://"):
        cut = href.index("/", 7)
        return "http", href[7:cut], href[cut:]
    return None


@lru_cache(maxsize=256)
def _place(base: str) -> tuple[str, str] | None:
    """Give scheme with authority, and the directory without its last slash; None for what is no http(s) address."""
    page = parse(base)
    parts = split_web_address(page) if page else None
    if parts is None:
        return None
    scheme, authority, rest = parts
    directory = rest.partition("?")[0].rpartition("/")[0]
    return f"{scheme}://{authority}", directory


def _without_fragment(href: str) -> str:
    # A serialised address has "#" only before its fragment. Trailing spaces can then remain in an opaque path
    # ("data:x #f"), where they would be stripped by the next parse.
    return href.partition("#")[0].rstrip(" ") if "#" in href else href

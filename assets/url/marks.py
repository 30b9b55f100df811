"""Marks of an address: parts by which a site's own kinds of pages can be told apart, such as its print versions."""

from urllib.parse import unquote_plus


def marks(url: str) -> frozenset[str]:
    """Give the names of an address's query parameters and the folders on its path.

    >>> sorted(marks("https://example.org/print/guide/intro?sid=7&view"))
    ['/guide/', '/print/', '?sid', '?view']
    """
    before, _, query = url.partition("#")[0].partition("?")
    folders = before.split("/")[3:-1]
    names = (unquote_plus(part.partition("=")[0]) for part in query.split("&") if part)
    return frozenset([*(f"/{folder}/" for folder in folders if folder), *(f"?{name}" for name in names)])

"""Requests: how Isobath introduces itself, and what it sends."""

from typing import Final

from assets.fetch.item import FetchItem, Purpose
from assets.fetch.politeness import cookie_header
from resources.ports import FetchRequest, SiteSettings

PRODUCT: Final = "Isobath"  # the token that robots.txt groups are matched with
MAX_SITEMAP_BYTES: Final = 50 * 1024 * 1024
MAX_ROBOTS_BYTES: Final = 1024 * 1024  # RFC 9309 wants at least 500 KiB read
_ACCEPT: Final = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"


def request_of(item: FetchItem, settings: SiteSettings, user_agent: str) -> FetchRequest:
    """Write the request for an item."""
    headers = {
        "User-Agent": user_agent,
        "Accept": _ACCEPT if item.purpose in (Purpose.PAGE, Purpose.PROBE) else "*/*",
        "Accept-Encoding": "gzip, deflate",
        "Connection": "keep-alive",
    }
    if item.validators is not None:
        if item.validators.etag:
            headers["If-None-Match"] = item.validators.etag
        if item.validators.last_modified:
            headers["If-Modified-Since"] = item.validators.last_modified
    headers |= cookie_header(item.cookies)
    limits = {Purpose.SITEMAP: MAX_SITEMAP_BYTES, Purpose.ROBOTS: MAX_ROBOTS_BYTES}
    return FetchRequest(
        url=item.url,
        headers=tuple(headers.items()),
        max_body_bytes=limits.get(item.purpose, settings.max_body_bytes),
        allow_private_networks=settings.allow_private_networks,
    )


def user_agent(version: str, contact_url: str) -> str:
    """Name the product, its version and where its operator can be reached.

    >>> user_agent("0.1.0", "https://example.org/bot")
    'Isobath/0.1.0 (+https://example.org/bot)'
    """
    return f"{PRODUCT}/{version} (+{contact_url})"

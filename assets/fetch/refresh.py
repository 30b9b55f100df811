"""Refreshes that are redirects: a page that sends its visitors elsewhere before they could read it.

How a refresh is spelt stands in ``assets.markup.head``; one that waits longer is a link, and the links room's.
"""

from typing import Final

from assets.markup.charset import decode_text, media_type
from assets.markup.decoding import decode_body
from assets.markup.head import header_refresh, refresh_target
from assets.markup.tree import base_url, parse_html
from assets.url.parse import parse
from resources.ports import FetchResponse

MAX_DELAY_S: Final = 3  # a longer one leaves time to read the page
HEAD_BYTES: Final = 16 * 1024  # of the decoded body; a refresh stands in the head


def refresh_url(response: FetchResponse) -> str | None:
    """Give the other address that a page's refresh leads to at once; None when it has none, or only reloads itself.

    Source: WHATWG HTML, 7.5.1: a ``Refresh`` header is read as the element is, and before it.
    """
    if response.status != 200:
        return None
    page_url = parse(response.request.url) or response.request.url
    refresh = header_refresh(response.header("Refresh"), page_url) or _element_refresh(response, page_url)
    if refresh is None or refresh[0] > MAX_DELAY_S or refresh[1] == page_url:
        return None
    return refresh[1]


def _element_refresh(response: FetchResponse, page_url: str) -> tuple[int, str | None] | None:
    if media_type(response.header("Content-Type")) != "text/html":
        return None
    start = decode_body(response.body, response.header("Content-Encoding"), max_bytes=HEAD_BYTES).data
    folded = start.lower()
    # Nearly all pages end here, without being parsed.
    if b"http-equiv" not in folded or b"refresh" not in folded:
        return None
    if len(start) == HEAD_BYTES:
        # Up to the last whole tag: a character cut in two would hide the charset, a cut tag would lose its attributes.
        start = start[: start.rfind(b">") + 1]
    tree = parse_html(decode_text(start, response.header("Content-Type")).text)
    return None if tree is None else refresh_target(tree, base_url(tree, page_url))

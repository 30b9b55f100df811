"""Fetch outcomes: the verdict on one request, from its answer alone."""

from enum import StrEnum
from typing import Final

from resources.ports import FetchFailure, FetchResponse, Truncation


class FetchOutcome(StrEnum):
    """What became of one request. One row of ``fetches`` has one."""

    FETCHED = "fetched"  # answered with a page, which is stored
    NOT_MODIFIED = "not_modified"  # 304 to our validators: the stored copy holds
    REDIRECTED = "redirected"  # leads to another address, which is asked next
    GONE = "gone"  # 404 or 410
    CLIENT_ERROR = "client_error"  # any other answer that is neither 2xx nor 5xx, such as 403 or 429
    SERVER_ERROR = "server_error"  # 5xx, or a 304 that nobody asked for
    TIMEOUT = "timeout"  # no whole answer in time
    NETWORK_ERROR = "network_error"  # no connection, TLS that cannot be trusted, or an answer that is not HTTP
    DNS_ERROR = "dns_error"  # the host name does not resolve
    ROBOTS_DENIED = "robots_denied"  # robots.txt forbids it; not asked
    ROBOTS_UNREACHABLE = "robots_unreachable"  # robots.txt cannot be had, which forbids everything; not asked
    OUT_OF_SCOPE = "out_of_scope"  # a redirect led out of the site; not asked
    PRIVATE_ADDRESS = "private_address"  # the host resolves to a private address; not asked
    TOO_LARGE = "too_large"  # cut at the limit; what was read is stored
    TRUNCATED = "truncated"  # the peer or the deadline cut it; what was read is stored
    WRONG_TYPE = "wrong_type"  # answered and stored, but not a page
    DEFERRED = "deferred"  # put off: the host refuses for now, or the page rests; comes first in the next crawl


# Outcomes that come with a stored payload whose links and text can be read.
READABLE: Final = frozenset(
    {FetchOutcome.FETCHED, FetchOutcome.NOT_MODIFIED, FetchOutcome.TOO_LARGE, FetchOutcome.TRUNCATED}
)
# A deferred page is none of them: it was not asked, and will be.
ERRORS: Final = frozenset(
    {
        FetchOutcome.CLIENT_ERROR,
        FetchOutcome.SERVER_ERROR,
        FetchOutcome.TIMEOUT,
        FetchOutcome.NETWORK_ERROR,
        FetchOutcome.DNS_ERROR,
        FetchOutcome.ROBOTS_UNREACHABLE,
    }
)

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
DOCUMENT_TYPES: Final = {"text": "text/plain", "pdf": "application/pdf"}  # of documents that a site may count as pages
_FAILURES: Final = {
    FetchFailure.TIMEOUT: FetchOutcome.TIMEOUT,
    FetchFailure.NETWORK_ERROR: FetchOutcome.NETWORK_ERROR,
    FetchFailure.DNS_NOT_FOUND: FetchOutcome.DNS_ERROR,
    FetchFailure.DNS_TRANSIENT: FetchOutcome.DNS_ERROR,
    FetchFailure.PRIVATE_ADDRESS: FetchOutcome.PRIVATE_ADDRESS,
}


def outcome_of(
    response: FetchResponse, *, types: frozenset[str] | None = PAGE_TYPES, conditional: bool = False
) -> FetchOutcome:
    """Name what an answer means.

    Args:
        response: the answer.
        types: media types that will do; None: every one (robots.txt, sitemaps).
        conditional: whether validators were sent; a 304 that nobody asked for is an error of the server.
    """
    if response.failure is not None:
        return _FAILURES[response.failure]
    status = response.status or 0
    if status == 304:
        return FetchOutcome.NOT_MODIFIED if conditional else FetchOutcome.SERVER_ERROR
    if status in REDIRECTS and response.header("Location") is not None:
        return FetchOutcome.REDIRECTED
    if status in (404, 410):
        return FetchOutcome.GONE
    if status >= 500:
        return FetchOutcome.SERVER_ERROR
    if not 200 <= status < 300:
        return FetchOutcome.CLIENT_ERROR
    if response.truncated is Truncation.LENGTH:
        return FetchOutcome.TOO_LARGE
    if response.truncated is not None:
        return FetchOutcome.TRUNCATED
    media_type = (response.header("Content-Type") or "").split(";")[0].strip().lower()
    if types is None or media_type in types:
        return FetchOutcome.FETCHED
    return FetchOutcome.WRONG_TYPE


def outcome_detail(response: FetchResponse) -> str:
    """Say in few words what stands behind an outcome; empty when the outcome says it all."""
    if response.failure is not None:
        return response.failure_detail or response.failure.value
    if response.truncated is not None:
        return f"cut after {len(response.body)} bytes: {response.truncated.value}"
    status = response.status or 0
    if status in REDIRECTS and response.header("Location") is None:
        return f"{status} without Location"
    if status >= 400:
        return f"{status} {response.reason}".strip()
    return ""

"""Fetch outcomes: the verdict on one request, from its answer alone."""

from enum import StrEnum
from typing import Final

from resources.ports import FetchFailure, FetchResponse, Truncation


class FetchOutcome(StrEnum):
    """What became of one request. One row of ``fetches`` has one."""

    FETCHED = "fetched"
    NOT_MODIFIED = "not_modified"
    REDIRECTED = "redirected"
    GONE = "gone"
    CLIENT_ERROR = "client_error"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    NETWORK_ERROR = "network_error"
    DNS_ERROR = "dns_error"
    ROBOTS_DENIED = "robots_denied"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    OUT_OF_SCOPE = "out_of_scope"
    PRIVATE_ADDRESS = "private_address"
    TOO_LARGE = "too_large"  # cut at the limit; what was read is stored
    TRUNCATED = "truncated"  # the peer or the deadline cut it; what was read is stored
    WRONG_TYPE = "wrong_type"  # stored, but not a page
    DEFERRED = "deferred"


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
_PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_FAILURES: Final = {
    FetchFailure.TIMEOUT: FetchOutcome.TIMEOUT,
    FetchFailure.NETWORK_ERROR: FetchOutcome.NETWORK_ERROR,
    FetchFailure.DNS_NOT_FOUND: FetchOutcome.DNS_ERROR,
    FetchFailure.DNS_TRANSIENT: FetchOutcome.DNS_ERROR,
    FetchFailure.PRIVATE_ADDRESS: FetchOutcome.PRIVATE_ADDRESS,
}


def outcome_of(response: FetchResponse, *, any_type: bool = False, conditional: bool = False) -> FetchOutcome:
    """Name what an answer means.

    Args:
        response: the answer.
        any_type: whether every media type will do (robots.txt, sitemaps), not only pages.
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
    if any_type or media_type in _PAGE_TYPES:
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

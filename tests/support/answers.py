"""Made-up answers and items for tests of pure code."""

from datetime import UTC, datetime

from assets.fetch.item import FetchItem, Purpose
from assets.fetch.judge import Surroundings
from assets.fetch.outcome import PAGE_TYPES
from assets.fetch.refresh import refresh_url
from assets.url.key import DEFAULT_RULES
from assets.url.scope import Refusal, RejectReason
from resources.ports import FetchFailure, FetchRequest, FetchResponse, Truncation

NOON = datetime(2026, 1, 2, 12, 0, 0, 250_000, tzinfo=UTC)


def answer(
    url: str = "http://e.test/a",
    status: int | None = 200,
    body: bytes = b"<p>hello",
    *headers: tuple[str, str],
    failure: FetchFailure | None = None,
    truncated: Truncation | None = None,
    reason: str = "OK",
) -> FetchResponse:
    """Make an answer; with ``failure`` give ``status=None``."""
    return FetchResponse(
        request=FetchRequest(url=url, headers=(("User-Agent", "Isobath/test"),), max_body_bytes=1_000_000),
        started_at=NOON,
        fetch_ms=12,
        request_head=b"GET /a HTTP/1.1\r\nHost: e.test\r\nUser-Agent: Isobath/test\r\n\r\n",
        status=status,
        reason=reason if status is not None else "",
        headers=headers,
        body=body if status is not None else b"",
        peer_ip="127.0.0.1" if status is not None else None,
        truncated=truncated,
        failure=failure,
        failure_detail="made up" if failure else "",
    )


def page_item(url: str = "http://e.test/a", **changes: object) -> FetchItem:
    """Make the item of a page."""
    fields: dict[str, object] = {
        "site": "e.test",
        "layer": "depth_0",
        "purpose": Purpose.PAGE,
        "url": url,
        "url_key": url,
        "host_key": "http://" + url.split("/")[2],
        "origin_key": url,
    }
    return FetchItem(**(fields | changes))  # type: ignore[arg-type]


def surroundings(*, known: set[str] | None = None) -> Surroundings:
    """Make what a judge knows of the site e.test, of whose pages none is stored."""
    return Surroundings(
        refusal=lambda url: None if "e.test" in url else Refusal(RejectReason.OUT_OF_SCOPE, "e.test"),
        key_rules=DEFAULT_RULES,
        known=known or set(),
        validators=lambda key, url: None,
        retry_base_s=2.0,
        page_types=PAGE_TYPES,
        refresh_url=refresh_url,
    )

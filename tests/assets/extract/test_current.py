"""Current pages: what a history of fetches says of a page today."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from assets.extract.current import CurrentPage, current_pages

START = datetime(2030, 1, 1, tzinfo=UTC)
KEY = "http://e.test/a"


def fetch(outcome: str, hours: float, **facts: Any) -> dict[str, Any]:
    stored = outcome in ("fetched", "truncated", "not_modified")
    return {
        "crawl_id": f"crawl-{hours}",
        "purpose": "page",
        "url": KEY,
        "url_key": KEY,
        "hop": 0,
        "attempt": 1,
        "outcome": outcome,
        "requested_at": START + timedelta(hours=hours),
        "content_type": "text/html",
        "payload_digest": "sha1:A" if stored else None,
        "robots_tag": None,
        "link_header": None,
        "body_warc_file": "w" if stored else None,
        "body_warc_offset": 5 if stored else None,
        "body_warc_bytes": 9 if stored else None,
        **facts,
    }


def judge(*history: tuple[str, float]) -> CurrentPage | None:
    found = current_pages(fetch(outcome, hours) for outcome, hours in reversed(history))
    return found[0] if found else None


@pytest.mark.parametrize(
    ("history", "status"),
    [
        ([("fetched", 0)], "live"),
        ([("fetched", 0), ("not_modified", 9)], "live"),
        ([("fetched", 0), ("timeout", 9)], "live"),
        ([("fetched", 0), ("client_error", 9)], "live"),
        ([("fetched", 0), ("robots_denied", 9)], "live"),
        ([("fetched", 0), ("gone", 9)], "live"),
        ([("fetched", 0), ("gone", 9), ("gone", 32.9)], "live"),
        ([("fetched", 0), ("gone", 9), ("gone", 33)], "gone"),
        ([("fetched", 0), ("gone", 9), ("timeout", 20), ("gone", 33)], "gone"),
        ([("fetched", 0), ("gone", 9), ("gone", 33), ("timeout", 40)], "gone"),
        ([("fetched", 0), ("gone", 9), ("fetched", 20), ("gone", 40)], "live"),
        ([("fetched", 0), ("gone", 9), ("gone", 40), ("fetched", 50)], "live"),
        ([("gone", 0)], "gone"),
        ([("timeout", 0)], "error"),
        ([("server_error", 0), ("deferred", 1)], "error"),
        ([("fetched", 0), ("wrong_type", 9)], "not_a_page"),
        ([("wrong_type", 0)], "not_a_page"),
        ([("redirected", 0)], None),
        ([("fetched", 0), ("redirected", 9)], None),
        ([("redirected", 0), ("fetched", 0.1)], "live"),
        ([("robots_denied", 0)], None),
        ([("out_of_scope", 0), ("private_address", 1)], None),
    ],
)
def test_a_history_has_one_status(history: list[tuple[str, float]], status: str | None) -> None:
    page = judge(*history)
    assert (page.status.value if page else None) == status


@pytest.mark.parametrize(
    ("history", "since_hours"),
    [
        ([("fetched", 0), ("robots_denied", 9)], None),
        ([("fetched", 0), ("robots_denied", 9), ("robots_denied", 32)], None),
        ([("fetched", 0), ("robots_denied", 9), ("robots_denied", 33)], 9),
        ([("fetched", 0), ("robots_denied", 9), ("robots_denied", 33), ("not_modified", 40)], None),
        ([("fetched", 0), ("robots_unreachable", 9), ("robots_unreachable", 99)], None),
    ],
)
def test_a_page_is_forbidden_when_robots_txt_goes_on_forbidding_it(
    history: list[tuple[str, float]], since_hours: float | None
) -> None:
    page = judge(*history)
    assert page is not None
    assert (page.status.value, page.forbidden_since) == (
        "live",
        None if since_hours is None else START + timedelta(hours=since_hours),
    )


def test_gone_visits_count_from_the_last_answer_that_was_none() -> None:
    page = judge(("fetched", 0), ("gone", 1), ("fetched", 2), ("gone", 3), ("timeout", 4), ("gone", 5))
    assert page is not None
    assert (page.gone_since, page.gone_visits) == (START + timedelta(hours=3), 2)
    assert (page.first_seen_at, page.last_asked_at) == (START, START + timedelta(hours=5))


def test_a_304_confirms_the_bytes_that_came_before() -> None:
    first = fetch("fetched", 0, robots_tag="noindex", link_header="</c>; rel=canonical")
    page = current_pages([fetch("not_modified", 50), first])[0]
    assert page.capture is not None
    assert (page.capture.crawl_id, page.capture.fetched_at) == ("crawl-50", START)
    assert page.capture.robots_tag == "noindex"
    assert page.capture.link_header == "</c>; rel=canonical"


@pytest.mark.parametrize(
    ("outcome", "content_type", "status"),
    [
        ("fetched", None, "live"),
        ("fetched", "application/pdf", "live"),
        ("truncated", "application/pdf", "not_a_page"),
        ("truncated", "text/plain", "not_a_page"),
        ("truncated", "text/html", "live"),
        ("fetched", "image/png", "not_a_page"),
    ],
)
def test_only_html_and_whole_documents_of_kinds_that_are_read_are_pages(
    outcome: str, content_type: str | None, status: str
) -> None:
    assert current_pages([fetch(outcome, 0, content_type=content_type)])[0].status == status


def test_robots_and_sitemaps_are_no_pages() -> None:
    assert current_pages([fetch("fetched", 0, purpose="robots")]) == []


def test_what_was_cut_off_never_takes_the_place_of_a_whole_copy() -> None:
    whole = fetch("fetched", 0, payload_digest="sha1:WHOLE")
    cut = fetch("truncated", 9, payload_digest="sha1:CUT", body_warc_file="v")
    found = current_pages([whole, cut])[0]
    assert found.capture is not None
    assert (found.status, found.capture.payload_digest) == ("live", "sha1:WHOLE")
    only = current_pages([cut])[0]
    assert only.capture is not None
    assert only.capture.payload_digest == "sha1:CUT"

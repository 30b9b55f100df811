"""Stored copies: which captures a conditional request may confirm."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from assets.fetch.copies import PageCopies, StoredPayloads
from assets.fetch.facts import as_table, request_row
from assets.fetch.judge import judge
from assets.schemas import FETCHES
from assets.warc.records import Place
from resources.ports import FetchResponse, Truncation
from tests.support.answers import NOON, answer, page_item, surroundings

HTML = ("Content-Type", "text/html")
TAG = ("ETag", 'W/"a-1;gzip"')
PLACE = Place("raw/x.warc.gz", 0, 100)


def copies(response: FetchResponse) -> dict[str, str | None]:
    item = page_item()
    judgement = judge(item, response, surroundings(), now=NOON, refusals=1)
    row = request_row(item, judgement, response, place=PLACE, body_place=PLACE, digest="sha1:X")
    copies = PageCopies(as_table([{**row, "crawl_id": "1"}], FETCHES), now=NOON)
    found = copies.validators(item.url_key, item.url)
    return {} if found is None else {item.url_key: found.etag}


def test_a_whole_page_can_be_confirmed_by_its_tag_as_it_was_sent() -> None:
    assert copies(answer("http://e.test/a", 200, b"<p>whole", HTML, TAG)) == {"http://e.test/a": 'W/"a-1;gzip"'}


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(
            answer("http://e.test/a", 200, b"<p>wh", HTML, TAG, truncated=Truncation.DISCONNECT), id="broken off"
        ),
        pytest.param(answer("http://e.test/a", 200, b"<p>wh", HTML, TAG, truncated=Truncation.LENGTH), id="too large"),
        pytest.param(
            answer("http://e.test/a", 200, b'<meta http-equiv=refresh content="0;url=b">', HTML, TAG), id="refresh"
        ),
        pytest.param(answer("http://e.test/a", 404, b"<p>no", HTML, TAG), id="gone"),
        pytest.param(answer("http://e.test/a", 200, b"<p>whole", HTML), id="no validators"),
    ],
)
def test_what_is_no_whole_page_is_asked_without_conditions(response: FetchResponse) -> None:
    assert copies(response) == {}


def stored(digest: str, offset: int, *, at: datetime = NOON, record_type: str = "response") -> dict[str, Any]:
    item, place = page_item(), Place("raw/x.warc.gz", offset, 100)
    response = replace(answer("http://e.test/a", 200, b"<p>whole", HTML, TAG), started_at=at)
    judgement = judge(item, response, surroundings(), now=NOON, refusals=1)
    row = request_row(item, judgement, response, place=place, body_place=place, digest=digest)
    return {**row, "crawl_id": "1", "record_type": record_type}


def test_a_payload_keeps_its_first_capture_however_many_follow() -> None:
    later = NOON + timedelta(minutes=1)
    payloads = StoredPayloads(as_table([stored("sha1:A", 7, at=later), stored("sha1:A", 3)], FETCHES))
    payloads.add(as_table([], FETCHES))
    payloads.add(
        as_table([stored("sha1:A", 9), stored("sha1:B", 11), stored("sha1:C", 13, record_type="revisit")], FETCHES)
    )
    found = {digest: payloads.get(digest) for digest in ("sha1:A", "sha1:B", "sha1:C")}
    assert {digest: copy and copy.place.offset for digest, copy in found.items()} == {
        "sha1:A": 3,
        "sha1:B": 11,
        "sha1:C": None,
    }


@pytest.mark.parametrize(("days", "is_trusted"), [(89, True), (90, False)])
def test_a_copy_is_confirmed_for_ninety_days(days: int, is_trusted: bool) -> None:
    copies = PageCopies(as_table([stored("sha1:A", 0)], FETCHES), now=NOON + timedelta(days=days))
    assert (copies.validators("http://e.test/a", "http://e.test/a") is not None) == is_trusted
    assert copies.validators("http://e.test/a", "http://e.test/a?") is None

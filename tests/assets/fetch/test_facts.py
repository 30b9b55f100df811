"""Stored copies: which captures a conditional request may confirm."""

import pytest

from assets.fetch.facts import as_table, request_row, stored_copies
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
    table = as_table([{**row, "crawl_id": "1"}], FETCHES)
    return {key: found.etag for key, found in stored_copies(table, now=NOON).items()}


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

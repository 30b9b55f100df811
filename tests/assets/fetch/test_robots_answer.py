"""Robots answers: what an answer teaches, and what a 304 confirms."""

import gzip
from datetime import timedelta

import pytest

from assets.fetch.item import FetchItem, Purpose, Validators
from assets.fetch.robots import RobotsVerdict
from assets.fetch.robots_answer import RobotsAnswer, robots_answer
from assets.warc.records import Place, StoredCopy
from resources.ports import FetchFailure, Truncation
from tests.support.answers import NOON, answer, page_item

URL = "http://e.test/robots.txt"
TEXT = b"User-agent: *\nDisallow: /x\n"
PLAIN = ("Content-Type", "text/plain")


def item(etag: str | None = None, url: str = URL) -> FetchItem:
    copy = StoredCopy(url, NOON - timedelta(days=2), "sha1:A", Place("f.warc.gz", 0, 1))
    validators = Validators(etag, None, copy, "text/plain", len(TEXT)) if etag else None
    return page_item(url, purpose=Purpose.ROBOTS, origin_key=URL, validators=validators)


def known(etag: str | None = '"1"') -> RobotsAnswer:
    headers = [PLAIN, *([("ETag", etag)] if etag else [])]
    return robots_answer(item(), answer(URL, 200, TEXT, *headers), None, now=NOON)


def forbids(found: RobotsAnswer, path: str = "/a") -> bool:
    return not found.rules.allows(path, "mybot")


def test_a_304_confirms_the_rules_that_were_asked_about() -> None:
    found = robots_answer(item('"1"'), answer(URL, 304, b"", ("ETag", 'W/"1"')), known(), now=NOON)
    assert (found.rules, found.status, found.etag) == (known().rules, 304, '"1"')
    assert forbids(found, "/x")
    assert not forbids(found)


@pytest.mark.parametrize(
    ("asked", "before"),
    [
        (item(), known()),
        (item('"2"'), known()),
        (item('"1"', "http://e.test/other"), known()),
        (item('"1"'), None),
    ],
    ids=["not asked", "of another text", "of another address", "of a text that is lost"],
)
def test_a_304_that_confirms_nothing_at_hand_forbids(asked: FetchItem, before: RobotsAnswer | None) -> None:
    found = robots_answer(asked, answer(asked.url, 304, b""), before, now=NOON)
    assert not found.is_good
    assert forbids(found)


def test_validators_of_error_pages_are_not_kept() -> None:
    found = robots_answer(item(), answer(URL, 404, b"", ("ETag", '"1"')), None, now=NOON)
    assert (found.is_good, found.etag, found.rules.reason) == (True, None, "robots_404")


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize(
    ("header", "wait_s"), [("1800", 1800.0), ("Fri, 02 Jan 2026 12:10:00 GMT", 599.75), ("soon", None), (None, None)]
)
def test_a_host_may_say_when_to_ask_again(status: int, header: str | None, wait_s: float | None) -> None:
    headers = [("Retry-After", header)] if header else []
    found = robots_answer(item(), answer(URL, status, b"", *headers, reason="No"), known(), now=NOON)
    assert found.retry_after_s == wait_s
    assert found.rules.reason == f"robots_unreachable: {status} No"
    assert forbids(found)


@pytest.mark.parametrize("failure", [FetchFailure.TIMEOUT, FetchFailure.NETWORK_ERROR, FetchFailure.DNS_TRANSIENT])
def test_no_answer_forbids(failure: FetchFailure) -> None:
    found = robots_answer(item(), answer(URL, None, failure=failure), known(), now=NOON)
    assert (found.status, found.rules.reason) == (None, "robots_unreachable: made up")
    assert forbids(found)


@pytest.mark.parametrize("truncated", [Truncation.TIME, Truncation.DISCONNECT])
def test_a_file_that_breaks_off_forbids(truncated: Truncation) -> None:
    found = robots_answer(item(), answer(URL, 200, TEXT, PLAIN, truncated=truncated), None, now=NOON)
    assert found.rules.reason == f"robots_unreachable: cut after {len(TEXT)} bytes: {truncated}"
    assert forbids(found)


def test_a_file_that_is_too_long_is_read_as_far_as_it_goes() -> None:
    body = TEXT + b"#" * 1_100_000
    found = robots_answer(item(), answer(URL, 200, body, PLAIN, truncated=Truncation.LENGTH), None, now=NOON)
    assert forbids(found, "/x")
    assert not forbids(found)


def test_content_codings_are_undone() -> None:
    packed, coding = gzip.compress(TEXT), ("Content-Encoding", "gzip")
    assert forbids(robots_answer(item(), answer(URL, 200, packed, PLAIN, coding), None, now=NOON), "/x")
    assert forbids(robots_answer(item(), answer(URL, 200, TEXT, PLAIN, coding), None, now=NOON), "/x")
    broken = robots_answer(item(), answer(URL, 200, packed[:-12], PLAIN, coding), None, now=NOON)
    assert broken.rules.reason.startswith("robots_unreachable: body cut_short after ")


def test_an_answer_is_the_same_when_a_table_kept_it() -> None:
    found = known()
    rules = {"verdict": found.rules.verdict.value, "reason": found.rules.reason, "body": found.rules.body}
    assert RobotsAnswer.from_row({**rules, "url": URL, "status": 200, "etag": '"1"', "last_modified": None}) == found
    assert found.rules.verdict is RobotsVerdict.READ_RULES

from datetime import timedelta

import pytest

from assets.fetch.item import FetchItem, Purpose, Validators
from assets.fetch.judge import Judgement, judge
from assets.fetch.outcome import FetchOutcome
from assets.warc.records import Place, StoredCopy
from resources.ports import FetchFailure, FetchResponse, Truncation
from tests.support.answers import NOON, answer, page_item, surroundings


def verdict(
    response: FetchResponse, item: FetchItem | None = None, *, known: set[str] | None = None, refusals: int = 1
) -> Judgement:
    return judge(item or page_item(), response, surroundings(known=known), now=NOON, refusals=refusals)


COPY = Validators('"1"', None, StoredCopy("http://e.test/a", NOON, "sha1:X", Place("f", 0, 1)), "text/html", 8)


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (answer(), FetchOutcome.FETCHED),
        (answer("http://e.test/a", 200, b"x", ("Content-Type", "text/html; charset=gbk")), FetchOutcome.FETCHED),
        (answer("http://e.test/a", 200, b"x", ("Content-Type", "application/pdf")), FetchOutcome.WRONG_TYPE),
        (answer(truncated=Truncation.LENGTH), FetchOutcome.TOO_LARGE),
        (answer(truncated=Truncation.TIME), FetchOutcome.TRUNCATED),
        (answer(status=404), FetchOutcome.GONE),
        (answer(status=410), FetchOutcome.GONE),
        (answer(status=403), FetchOutcome.CLIENT_ERROR),
        (answer(status=302), FetchOutcome.CLIENT_ERROR),
        (answer(status=304), FetchOutcome.SERVER_ERROR),
        (answer(status=500), FetchOutcome.SERVER_ERROR),
        (answer(status=None, failure=FetchFailure.TIMEOUT), FetchOutcome.TIMEOUT),
        (answer(status=None, failure=FetchFailure.DNS_NOT_FOUND), FetchOutcome.DNS_ERROR),
        (answer(status=None, failure=FetchFailure.PRIVATE_ADDRESS), FetchOutcome.PRIVATE_ADDRESS),
    ],
    ids=lambda value: value.value if isinstance(value, FetchOutcome) else "",
)
def test_each_answer_has_one_outcome(response: FetchResponse, outcome: FetchOutcome) -> None:
    assert verdict(response).outcome is outcome


def test_a_304_that_was_asked_for_is_not_modified() -> None:
    assert verdict(answer(status=304), page_item(validators=COPY)).outcome is FetchOutcome.NOT_MODIFIED


@pytest.mark.parametrize("status", [404, 410, 403, 200])
def test_no_second_try_where_it_cannot_help(status: int) -> None:
    assert verdict(answer(status=status)).is_final


def test_two_retries_with_growing_waits() -> None:
    first = verdict(answer(status=500))
    assert first.next_item is not None
    assert (first.next_item.attempt, first.wait_s) == (2, 2.0)
    second = verdict(answer(status=500), first.next_item)
    assert second.next_item is not None
    assert (second.next_item.attempt, second.wait_s) == (3, 4.0)
    assert verdict(answer(status=500), second.next_item).is_final


def test_an_unknown_name_is_final_and_a_deaf_resolver_is_not() -> None:
    assert verdict(answer(status=None, failure=FetchFailure.DNS_NOT_FOUND)).is_final
    assert not verdict(answer(status=None, failure=FetchFailure.DNS_TRANSIENT)).is_final


def test_a_body_cut_by_the_peer_is_tried_once_more() -> None:
    first = verdict(answer(truncated=Truncation.DISCONNECT))
    assert first.next_item is not None
    assert verdict(answer(truncated=Truncation.DISCONNECT), first.next_item).is_final


def redirect(location: str, *cookies: str) -> FetchResponse:
    headers = [("Location", location), *(("Set-Cookie", cookie) for cookie in cookies)]
    return answer("http://e.test/a", 302, b"", *headers)


def test_a_redirect_goes_on_hop_by_hop() -> None:
    found = verdict(redirect("b/../c?x=1"))
    assert found.next_item is not None
    assert (found.next_item.url, found.next_item.hop, found.next_item.origin_key) == (
        "http://e.test/c?x=1",
        1,
        "http://e.test/a",
    )


def test_a_redirect_off_the_site_is_refused_and_recorded() -> None:
    found = verdict(redirect("https://other.test/"))
    assert found.refused_hop is not None
    assert not found.is_final
    assert "out_of_scope" in found.refused_hop.reason


def test_a_redirect_to_what_is_known_ends_there() -> None:
    found = verdict(redirect("/known"), known={"http://e.test/known"})
    assert found.is_final
    assert found.reason == "target already known"


def test_a_redirect_to_its_own_key_is_followed() -> None:
    assert verdict(redirect("/a/"), known={"http://e.test/a"}).next_item is not None


def test_a_ring_ends_as_a_loop() -> None:
    there = verdict(redirect("/b")).next_item
    assert there is not None
    back = verdict(redirect("/a"), there, known={"http://e.test/a"})
    assert (back.is_final, back.reason) == (True, "redirect_loop")


def test_a_page_that_redirects_to_itself_with_a_cookie_is_asked_again_once() -> None:
    again = verdict(redirect("/a", "seen=1; Path=/")).next_item
    assert again is not None
    assert again.cookies == (("seen", "1"),)
    loop = verdict(redirect("/a", "seen=1"), again)
    assert (loop.is_final, loop.reason) == (True, "redirect_loop")


def test_eleven_hops_are_one_too_many() -> None:
    item = page_item(hop=10)
    assert "more than 10 hops" in verdict(redirect("/next"), item).reason


def test_a_location_that_does_not_parse_is_said() -> None:
    assert "does not parse" in verdict(redirect("http://[::bad")).reason


def test_another_spelling_is_tried_when_the_first_is_gone() -> None:
    item = page_item(other_urls=("http://e.test/a/",))
    found = verdict(answer(status=404), item)
    assert found.next_item is not None
    assert (found.next_item.url, found.next_item.other_urls) == ("http://e.test/a/", ())


def test_a_refusal_pauses_the_whole_host() -> None:
    found = verdict(answer("http://e.test/a", 503, b"", ("Retry-After", "9")))
    assert (found.pause_s, found.set_aside) == (9.0, False)
    assert found.next_item is not None


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("header", "pause_s", "set_aside"),
    [
        pytest.param("9", 9.0, False, id="seconds"),
        pytest.param("Fri, 02 Jan 2026 12:01:00 GMT", 59.75, False, id="date"),
        pytest.param("Tue, 05 May 2037 10:00:00 GMT", 24 * 3600.0, True, id="far date, capped"),
        pytest.param("-5", 10.0, False, id="negative"),
        pytest.param("soon", 10.0, False, id="garbage"),
        pytest.param("Thu, 01 Jan 2026 00:00:00 GMT", 10.0, False, id="past date"),
    ],
)
def test_a_refusal_pauses_as_long_as_the_host_says(status: int, header: str, pause_s: float, set_aside: bool) -> None:
    found = verdict(answer("http://e.test/a", status, b"", ("Retry-After", header)))
    assert (found.pause_s, found.set_aside) == (pause_s, set_aside)
    assert not set_aside or "left alone for 86400 s" in found.reason


def test_a_host_that_wants_a_long_rest_is_set_aside() -> None:
    found = verdict(answer("http://e.test/a", 429, b"", ("Retry-After", "7200")))
    assert (found.outcome, found.set_aside, found.pause_s) == (FetchOutcome.DEFERRED, True, 7200.0)


def test_a_host_that_keeps_refusing_is_set_aside() -> None:
    assert verdict(answer(status=429), refusals=5).set_aside
    assert timedelta(seconds=verdict(answer(status=429), refusals=2).pause_s or 0) == timedelta(seconds=20)


def test_robots_redirects_are_not_held_to_the_scope() -> None:
    item = page_item("http://e.test/robots.txt", purpose=Purpose.ROBOTS)
    assert verdict(redirect("https://other.test/robots.txt"), item).next_item is not None

"""The whole life of a robots.txt, as a walk sees it: had, not had, redirected, grown stale, confirmed, changed."""

import asyncio
import itertools
from pathlib import Path

import pytest

from assets import names
from assets.crawl.robots_book import KEEPS
from assets.crawl.scheduler import FetchScheduler
from assets.schemas import ROBOTS
from resources.ports import FetchFailure, FetchRequest, FetchResponse
from tests.support.answers import answer
from tests.support.scripted_walk import T0, Walker, fetch_in, redirect, robots_text

HOST = "http://e.test"
ROBOTS_URL = f"{HOST}/robots.txt"
PAGE = f"{HOST}/private/a"


@pytest.fixture
def walker(tmp_path: Path) -> Walker:
    return Walker(tmp_path)


@pytest.mark.parametrize(
    "trouble",
    [
        answer(ROBOTS_URL, 503, b"", reason="Busy"),
        answer(ROBOTS_URL, 500, b"", reason="Oops"),
        answer(ROBOTS_URL, 429, b"", reason="Slow down"),
        answer(ROBOTS_URL, None, failure=FetchFailure.TIMEOUT),
        answer(ROBOTS_URL, None, failure=FetchFailure.NETWORK_ERROR),
        answer(ROBOTS_URL, None, failure=FetchFailure.DNS_TRANSIENT),
    ],
    ids=lambda trouble: str(trouble.failure or trouble.status),
)
def test_a_host_is_left_alone_until_its_file_can_be_had(walker: Walker, trouble: FetchResponse) -> None:
    walker.fetcher.answers[ROBOTS_URL] = trouble
    [(outcome, reason)] = walker.fetch(PAGE)
    assert (outcome, reason.partition(":")[0]) == ("robots_unreachable", "robots_unreachable")
    assert set(walker.fetcher.urls()) == {ROBOTS_URL}
    walker.clock.advance(3600)
    walker.fetcher.answers[ROBOTS_URL] = robots_text("User-agent: *\nDisallow: /private")
    assert walker.fetch(PAGE, f"{HOST}/a") == [
        ("robots_denied", "http://e.test/robots.txt: Disallow: /private"),
        ("fetched", ""),
    ]


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_no_file_is_no_rule(walker: Walker, status: int) -> None:
    walker.fetcher.answers[ROBOTS_URL] = answer(ROBOTS_URL, status, b"User-agent: *\nDisallow: /")
    assert walker.fetch(PAGE) == [("fetched", "")]
    assert [row["reason"] for row in walker.robots_rows()] == [f"robots_{status}"]


@pytest.mark.parametrize("validator", [("ETag", '"1"'), ("Last-Modified", "Tue, 01 Jan 2030 00:00:00 GMT")])
@pytest.mark.parametrize("at", [ROBOTS_URL, "http://www.e.test/robots.txt"], ids=["here", "after a redirect"])
def test_a_stale_copy_that_is_confirmed_is_kept_for_another_day(
    walker: Walker, validator: tuple[str, str], at: str
) -> None:
    walker.fetcher.answers[ROBOTS_URL] = redirect(at)
    walker.fetcher.answers[at] = robots_text("User-agent: *\nDisallow: /private", validator)
    asks = [ROBOTS_URL] if at == ROBOTS_URL else [ROBOTS_URL, at]
    for day, asked in ((0.0, asks), (0.9, []), (1.1, asks), (2.0, []), (2.2, asks)):
        walker.clock.advance(86_400 * day - (walker.clock.now() - T0).total_seconds())
        [(outcome, _)] = walker.fetch(PAGE)
        assert outcome == "robots_denied"
        assert walker.fetcher.urls() == asked
    rows = walker.robots_rows()
    assert [row["status"] for row in rows] == [200, 304, 304]
    assert len({(row["body"], row["reason"], row["etag"], row["last_modified"], row["url"]) for row in rows}) == 1
    assert all(row["expires_at"] - row["fetched_at"] == KEEPS for row in rows)


def test_a_stale_copy_that_changed_gives_way(walker: Walker) -> None:
    walker.fetcher.answers[ROBOTS_URL] = robots_text("User-agent: *\nDisallow: /", ("ETag", '"1"'))
    assert walker.fetch(PAGE)[0][0] == "robots_denied"
    walker.clock.advance(90_000)
    walker.fetcher.answers[ROBOTS_URL] = robots_text("User-agent: *\nDisallow:", ("ETag", '"2"'))
    assert walker.fetch(PAGE) == [("fetched", "")]


def test_nothing_is_asked_conditionally_when_the_rules_are_lost(walker: Walker) -> None:
    walker.fetcher.answers[ROBOTS_URL] = robots_text("User-agent: *\nDisallow: /", ("ETag", '"1"'))
    walker.fetch(PAGE)
    walker.tables.replace(names.T_ROBOTS, sites=["e.test"], rows=ROBOTS.empty_table())
    assert walker.fetch(PAGE)[0][0] == "robots_denied"
    assert [row["status"] for row in walker.robots_rows()] == [200]


@pytest.mark.parametrize(("hops", "outcome"), [(5, "robots_denied"), (6, "fetched")])
def test_five_redirects_are_followed(walker: Walker, hops: int, outcome: str) -> None:
    urls = [ROBOTS_URL, *(f"http://r{n}.test/robots.txt" for n in range(hops))]
    walker.fetcher.answers |= {url: redirect(target) for url, target in itertools.pairwise(urls)}
    walker.fetcher.answers[urls[-1]] = robots_text("User-agent: *\nDisallow: /private")
    assert walker.fetch(PAGE)[0][0] == outcome
    assert walker.robots_rows()[0]["host_key"] == HOST


def test_a_redirect_to_nowhere_is_a_file_that_cannot_be_had(walker: Walker) -> None:
    walker.fetcher.answers[ROBOTS_URL] = redirect("http://nowhere.test/robots.txt")
    gone = answer("http://nowhere.test/robots.txt", None, failure=FetchFailure.DNS_NOT_FOUND)
    walker.fetcher.answers[gone.request.url] = gone
    assert walker.fetch(PAGE)[0][0] == "robots_unreachable"
    walker.fetcher.answers[ROBOTS_URL] = answer(ROBOTS_URL, None, failure=FetchFailure.DNS_NOT_FOUND)
    assert walker.fetch(PAGE)[0][0] == "dns_error"


def test_a_file_that_cannot_be_had_is_not_asked_again_at_once_in_the_same_walk(walker: Walker) -> None:
    walker.fetcher.answers[ROBOTS_URL] = answer(ROBOTS_URL, 500, b"", ("Retry-After", "1800"))

    async def walk() -> list[int]:
        asked = []
        async with FetchScheduler(walker.fetcher, walker.clock) as scheduler:
            crawl = walker.crawl(scheduler)
            for number in range(3):
                await fetch_in(crawl, f"{HOST}/{number}")
                asked.append(len(walker.fetcher.urls()))
                walker.clock.advance(1000)
        return asked

    assert asyncio.run(walk()) == [3, 0, 3]


def test_a_site_that_fails_leaves_the_question_to_the_others(walker: Walker) -> None:
    async def walk() -> list[tuple[str, str]]:
        async with FetchScheduler(walker.fetcher, walker.clock) as scheduler:
            failing, waiting = walker.crawl(scheduler, "e.test"), walker.crawl(scheduler, "www.e.test")

            def fail_once(request: FetchRequest) -> FetchResponse:
                walker.fetcher.answers[ROBOTS_URL] = robots_text("User-agent: *\nDisallow: /private")
                raise RuntimeError("planted")

            walker.fetcher.answers[ROBOTS_URL] = fail_once
            first, second = await asyncio.gather(
                fetch_in(failing, f"{HOST}/1"), fetch_in(waiting, PAGE), return_exceptions=True
            )
            assert isinstance(first, RuntimeError)
            assert isinstance(second, list)
            return second

    assert asyncio.run(asyncio.wait_for(walk(), 10))[0][0] == "robots_denied"

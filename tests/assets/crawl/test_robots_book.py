"""The robots book: how long a host's robots.txt holds, when it is asked again, and what holds when it cannot be had."""

from datetime import UTC, datetime, timedelta
from typing import Literal

import pyarrow as pa
import pytest

from assets.crawl.robots_book import ASKS_UNREACHABLE_AGAIN, KEEPS, RobotsBook
from assets.fetch.robots import read_robots
from assets.fetch.robots_answer import RobotsAnswer
from assets.schemas import ROBOTS

HOST = "http://e.test"
ROBOTS_URL = f"{HOST}/robots.txt"
PAGE = f"{HOST}/private/a"
T0 = datetime(2030, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def learnt(status: int | None, text: bytes = b"", *, retry_after_s: float | None = None) -> RobotsAnswer:
    rules = read_robots(status, text, ROBOTS_URL, "Isobath")
    return RobotsAnswer(rules, ROBOTS_URL, status, retry_after_s=retry_after_s)


def empty_book(unreachable: Literal["disallow", "allow"] = "disallow") -> RobotsBook:
    return RobotsBook("e.test", ROBOTS.empty_table(), unreachable=unreachable)


def allowed(book: RobotsBook, now: datetime, url: str = PAGE) -> bool | None:
    rules = book.rules(HOST, now)
    return None if rules is None else rules.allows(url, "Isobath")


@pytest.mark.parametrize("good", [learnt(200, b"User-agent: *\nDisallow: /x"), learnt(404)], ids=["rules", "no file"])
def test_a_good_copy_holds_for_a_day_whatever_happens_and_no_longer(good: RobotsAnswer) -> None:
    book = empty_book()
    book.learn(HOST, good, T0)
    book.learn(HOST, learnt(503), T0 + HOUR)
    assert allowed(book, T0 + KEEPS - timedelta(seconds=1)) is True
    assert allowed(book, T0 + KEEPS) is None
    book.learn(HOST, learnt(503), T0 + KEEPS)
    assert allowed(book, T0 + KEEPS) is False
    assert book.known(HOST) == good


def test_a_host_without_its_file_is_asked_again_later_and_later() -> None:
    book, now, waits = empty_book(), T0, []
    for _ in range(10):
        book.learn(HOST, learnt(None), now)
        wait = next(step for n in range(1, 400) if allowed(book, now + (step := ASKS_UNREACHABLE_AGAIN * n)) is None)
        waits.append(wait / ASKS_UNREACHABLE_AGAIN)
        now += wait
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 144, 144]
    book.learn(HOST, learnt(404), now)
    assert allowed(book, now) is True
    now += KEEPS
    book.learn(HOST, learnt(None), now)
    assert allowed(book, now + ASKS_UNREACHABLE_AGAIN) is None


@pytest.mark.parametrize(("retry_after_s", "wait"), [(5.0, ASKS_UNREACHABLE_AGAIN), (3600.0, HOUR)])
def test_a_host_that_names_a_longer_time_is_left_alone_so_long(retry_after_s: float, wait: timedelta) -> None:
    book = empty_book()
    row = book.learn(HOST, learnt(503, retry_after_s=retry_after_s), T0)
    assert row["expires_at"] == T0 + wait
    assert allowed(book, T0 + wait - timedelta(seconds=1)) is False
    assert allowed(book, T0 + wait) is None


def test_a_site_may_take_no_file_for_a_yes() -> None:
    book = empty_book("allow")
    row = book.learn(HOST, learnt(503), T0)
    assert allowed(book, T0) is True
    assert row["verdict"] == "disallow_all"


def test_a_book_is_the_same_when_a_table_kept_it() -> None:
    book = empty_book()
    rows = [
        book.learn(HOST, learnt(200, b"User-agent: *\nDisallow: /private/\nSitemap: /s.xml"), T0),
        book.learn("http://other.test", learnt(503), T0),
    ]
    again = RobotsBook("e.test", pa.Table.from_pylist(rows, schema=ROBOTS), unreachable="disallow")
    assert again.known(HOST) == book.known(HOST)
    assert again.sitemaps(HOST) == ("http://e.test/s.xml",)
    for now in (T0, T0 + ASKS_UNREACHABLE_AGAIN, T0 + KEEPS):
        for host in (HOST, "http://other.test"):
            assert again.rules(host, now) == book.rules(host, now)

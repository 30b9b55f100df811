"""Dead pages: how often a page may fail before it is asked rarely, and who comes first in line."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from assets.fetch.dead import END_COLUMNS, FAILURES, dead_pages, left_by_last_crawl
from assets.fetch.outcome import FetchOutcome
from assets.schemas import FETCHES

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SCHEMA = pa.schema([FETCHES.field(name) for name in END_COLUMNS])

Story = Sequence[tuple[int, str]]  # (day, outcome), one a crawl; "deferred: why" has a reason


def ends(**stories: Story) -> pa.Table:
    rows = [
        {
            "crawl_id": f"{START + day * DAY:%Y%m%dT%H%M%S%f}",
            "origin_key": key,
            "outcome": outcome.partition(": ")[0],
            "reason": outcome.partition(": ")[2],
            "requested_at": START + day * DAY,
        }
        for key, story in stories.items()
        for day, outcome in story
    ]
    # Newest first, since no order is promised.
    return pa.Table.from_pylist(rows[::-1], schema=SCHEMA)


def fails(*days: int, outcome: str = "server_error") -> list[tuple[int, str]]:
    return [(day, outcome) for day in days]


@pytest.mark.parametrize(
    ("days", "rest_days"),
    [((0, 1), 0), ((0, 1, 2), 7), ((0, 1, 2, 9), 30), ((0, 1, 2, 9, 39), 90), ((0, 1, 2, 9, 39, 129), 90)],
    ids=["two", "three", "four", "five", "six"],
)
def test_each_failing_crawl_in_a_row_makes_the_rest_longer(days: tuple[int, ...], rest_days: int) -> None:
    table, last = ends(page=fails(*days)), START + days[-1] * DAY
    just_before = dead_pages(table, now=last + rest_days * DAY - timedelta(seconds=1))
    assert {key: page.retry_at for key, page in just_before.items()} == (
        {"page": last + rest_days * DAY} if rest_days else {}
    )
    assert dead_pages(table, now=last + rest_days * DAY) == {}


@pytest.mark.parametrize("outcome", sorted(FAILURES))
def test_any_kind_of_failure_counts(outcome: FetchOutcome) -> None:
    assert dead_pages(ends(page=fails(0, 1, 2, outcome=outcome.value)), now=START + 3 * DAY).keys() == {"page"}


@pytest.mark.parametrize(
    "outcome", ["fetched", "not_modified", "redirected", "gone", "truncated", "too_large", "wrong_type"]
)
def test_any_answer_ends_the_row_of_failures(outcome: str) -> None:
    assert dead_pages(ends(page=[*fails(0, 1), (2, outcome), *fails(3, 4)]), now=START + 5 * DAY) == {}
    assert dead_pages(ends(page=fails(0, 1, 2, 3, outcome=outcome)), now=START + 4 * DAY) == {}


@pytest.mark.parametrize("outcome", ["deferred", "deferred: failed in 3 crawls running", "robots_unreachable"])
def test_a_crawl_that_did_not_ask_the_page_is_neither_failure_nor_success(outcome: str) -> None:
    assert dead_pages(ends(page=[*fails(0, 1), (2, outcome)]), now=START + 3 * DAY) == {}
    put_off = dead_pages(ends(page=[*fails(0, 1, 2), (3, outcome), (4, outcome)]), now=START + 5 * DAY)
    assert put_off["page"].retry_at == START + 9 * DAY


def test_several_rows_of_one_crawl_are_one_failure() -> None:
    assert dead_pages(ends(page=[*fails(0, 0, 0), *fails(1)]), now=START + 2 * DAY) == {}


def test_the_reason_says_how_often_and_until_when() -> None:
    dead = dead_pages(ends(page=fails(0, 1, 2, 9), other=[(9, "fetched")]), now=START + 10 * DAY)
    assert dead["page"].reason == "failed in 4 crawls running; asked again after 2026-04-09"


def test_without_earlier_crawls_nobody_is_dead_or_first() -> None:
    assert dead_pages(ends(), now=START) == {}
    assert left_by_last_crawl(ends()) == set()


def test_first_in_line_is_what_the_last_crawl_left() -> None:
    table = ends(
        left=[(0, "fetched"), (1, "deferred: 429; the host asked to be left alone")],
        made_up=[(0, "deferred"), (1, "fetched")],
        long_ago=[(0, "deferred")],
        dead=[(0, "server_error"), (1, "deferred: failed in 3 crawls running; asked again after 2026-03-08")],
    )
    assert left_by_last_crawl(table) == {"left"}

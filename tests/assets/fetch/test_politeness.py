from datetime import UTC, datetime

import pytest

from assets.fetch.politeness import (
    HostManners,
    backoff_s,
    cookies_after,
    politeness_delay_s,
    retry_after_s,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("last_fetch_s", "crawl_delay_s", "expected"),
    [
        pytest.param(0.01, None, 1.0, id="a fast host still gets the least delay"),
        pytest.param(0.5, None, 5.0, id="ten times the last answer"),
        pytest.param(60.0, None, 30.0, id="no more than the most delay"),
        pytest.param(0.5, 7.0, 7.0, id="Crawl-delay wins when it is longer"),
        pytest.param(0.5, 90.0, 90.0, id="Crawl-delay may exceed the most delay"),
    ],
)
def test_the_delay_follows_the_host(last_fetch_s: float, crawl_delay_s: float | None, expected: float) -> None:
    manners = HostManners(1.0, 30.0)
    assert politeness_delay_s(manners, last_fetch_s=last_fetch_s, crawl_delay_s=crawl_delay_s, jitter=0.0) == expected


def test_jitter_only_ever_adds() -> None:
    manners = HostManners(1.0, 30.0)
    assert politeness_delay_s(manners, last_fetch_s=0.1, crawl_delay_s=None, jitter=1.0) == pytest.approx(1.1)


def test_no_delay_is_no_delay_but_crawl_delay_still_counts() -> None:
    manners = HostManners(0.0, 30.0)
    assert politeness_delay_s(manners, last_fetch_s=2.0, crawl_delay_s=None, jitter=1.0) == 0.0
    assert politeness_delay_s(manners, last_fetch_s=2.0, crawl_delay_s=3.0, jitter=1.0) == 3.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("9", 9.0, id="seconds"),
        pytest.param("Fri, 02 Jan 2026 03:05:05 GMT", 60.0, id="date"),
        pytest.param("Fri, 02 Jan 2036 03:05:05 GMT", 24 * 3600.0, id="far future is capped"),
        pytest.param("99999999999999999999", 24 * 3600.0, id="absurd number is capped"),
        pytest.param("Thu, 01 Jan 2026 00:00:00 GMT", None, id="past date"),
        pytest.param("0", None, id="zero"),
        pytest.param("-5", None, id="negative"),
        pytest.param("soon", None, id="garbage"),
        pytest.param("", None, id="empty"),
        pytest.param("٣", None, id="digits of another script"),
        pytest.param(None, None, id="absent"),
    ],
)
def test_retry_after_is_read_in_both_forms_and_never_raises(value: str | None, expected: float | None) -> None:
    assert retry_after_s(value, NOW) == expected


def test_backing_off_doubles_and_ends() -> None:
    assert [backoff_s(n) for n in (1, 2, 3)] == [10.0, 20.0, 40.0]
    assert backoff_s(1_000) == 24 * 3600.0


def test_cookies_live_in_the_chain_and_stay_on_their_host() -> None:
    first = cookies_after((), ["seen=1; Path=/", "b=2"], same_host=True)
    assert first == (("b", "2"), ("seen", "1"))
    assert cookies_after(first, ["seen=2"], same_host=True) == (("b", "2"), ("seen", "2"))
    assert cookies_after(first, ["x=1"], same_host=False) == ()

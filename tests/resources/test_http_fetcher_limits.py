"""The fetcher against servers that are slow, endless, rude, or gone."""

from collections.abc import Iterator

import pytest

from resources.ports import FetchFailure, Truncation
from tests.support.asking import Asker, ask, make_fetcher
from tests.support.loopback import LoopbackSite


@pytest.fixture(scope="module")
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite({"/": "<title>Home</title>", "/five": "12345"}) as running:
        yield running


@pytest.fixture(scope="module")
def fetcher() -> Iterator[Asker]:
    made = make_fetcher()
    yield made
    made.close()


@pytest.mark.parametrize(("limit", "truncated"), [(4, Truncation.LENGTH), (5, None), (6, None)])
def test_a_body_over_the_limit_is_cut(
    site: LoopbackSite, fetcher: Asker, limit: int, truncated: Truncation | None
) -> None:
    answer = ask(fetcher, site.url("/five"), max_body_bytes=limit)
    assert (answer.body, answer.truncated) == (b"12345"[:limit], truncated)


def test_an_endless_body_is_cut_and_its_connection_not_used_again(site: LoopbackSite, fetcher: Asker) -> None:
    answer = ask(fetcher, site.url("/_/endless"), max_body_bytes=100_000)
    assert (len(answer.body), answer.truncated) == (100_000, Truncation.LENGTH)
    assert ask(fetcher, site.url("/five")).body == b"12345"


@pytest.mark.parametrize(("path", "body"), [("/_/drop", b"0123456789"), ("/_/broken-chunks", b"good")])
def test_what_came_before_a_disconnect_is_kept(site: LoopbackSite, fetcher: Asker, path: str, body: bytes) -> None:
    answer = ask(fetcher, site.url(path))
    assert (answer.status, answer.body, answer.truncated) == (200, body, Truncation.DISCONNECT)


def test_a_dripping_body_ends_at_the_deadline(site: LoopbackSite, fetcher: Asker) -> None:
    answer = ask(fetcher, site.url("/_/drip"), total_timeout_s=0.3)
    assert (answer.status, answer.truncated) == (200, Truncation.TIME)
    assert answer.body.startswith(b".")
    assert 250 <= answer.fetch_ms < 1500


def test_a_dripping_head_ends_at_the_deadline(site: LoopbackSite, fetcher: Asker) -> None:
    answer = ask(fetcher, site.url("/_/drip-head"), total_timeout_s=0.3)
    assert answer.failure is FetchFailure.TIMEOUT
    assert 250 <= answer.fetch_ms < 1500


@pytest.mark.parametrize("limits", [{"read_timeout_s": 0.1}, {"total_timeout_s": 0.1}], ids=["read", "total"])
def test_a_slow_server_is_a_timeout(site: LoopbackSite, fetcher: Asker, limits: dict[str, float]) -> None:
    answer = ask(fetcher, site.url("/_/slow?s=30"), **limits)
    assert (answer.failure, answer.status, answer.truncated) == (FetchFailure.TIMEOUT, None, None)
    assert answer.failure_detail
    assert answer.request_head.startswith(b"GET /_/slow?s=30 HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/_/drop-before", "without response"),
        ("/_/not-http", "SSH-2.0"),
        ("/_/headers-bomb", "headers longer than 262144 bytes"),
    ],
)
def test_an_answer_that_is_not_http_is_a_network_error(
    site: LoopbackSite, fetcher: Asker, path: str, detail: str
) -> None:
    answer = ask(fetcher, site.url(path))
    assert answer.failure is FetchFailure.NETWORK_ERROR
    assert detail in answer.failure_detail
    assert len(answer.failure_detail) <= 300


def test_a_refused_connection_is_a_network_error(fetcher: Asker) -> None:
    with LoopbackSite() as gone:
        url = gone.url("/")
    answer = ask(fetcher, url)
    assert (answer.failure, answer.request_head, answer.peer_ip) == (FetchFailure.NETWORK_ERROR, b"", None)
    assert "refused" in answer.failure_detail


def test_plain_http_where_tls_was_expected_is_a_network_error(site: LoopbackSite, fetcher: Asker) -> None:
    answer = ask(fetcher, site.url("/").replace("http:", "https:"))
    assert answer.failure is FetchFailure.NETWORK_ERROR
    assert "SSL" in answer.failure_detail


def test_bytes_that_nobody_asked_for_are_not_taken_for_the_next_answer(site: LoopbackSite, fetcher: Asker) -> None:
    for _ in range(3):
        assert ask(fetcher, site.url("/_/surplus")).body == b"four"
        assert ask(fetcher, site.url("/five")).body == b"12345"


def test_an_idle_connection_that_the_server_has_left_is_replaced(fetcher: Asker) -> None:
    with LoopbackSite({"/five": "12345"}) as site:
        assert ask(fetcher, site.url("/five")).body == b"12345"
        # The server closes instead of answering: on a used connection that earns one more try, on a new one none.
        assert ask(fetcher, site.url("/_/drop-before")).failure is FetchFailure.NETWORK_ERROR
        assert ask(fetcher, site.url("/_/drop-before")).failure is FetchFailure.NETWORK_ERROR
        assert ask(fetcher, site.url("/five")).body == b"12345"
        assert site.paths_seen().count("/_/drop-before") == 3


def test_a_bomb_is_cut_where_it_passes_the_limit(site: LoopbackSite, fetcher: Asker) -> None:
    answer = ask(fetcher, site.url("/_/bomb"))
    assert answer.body.startswith(b"\x1f\x8b")
    assert answer.truncated is Truncation.LENGTH
    assert 40_000 < len(answer.body) < 200_000  # of the 200,000 that unpack to 200 MB

"""New connections: they go only where the guard lets them, and TLS trusts whom it should."""

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from resources.http_dialing import trusting_context
from resources.ports import FetchFailure, FetchResponse
from tests.support.asking import ask, make_fetcher, wanted
from tests.support.authority import Authority, make_authority
from tests.support.loopback import LoopbackSite


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0"])
def test_every_spelling_of_this_machine_is_refused(host: str) -> None:
    with make_fetcher() as fetcher:
        answer = ask(fetcher, f"http://{host}/", allow_private_networks=False)
    assert answer.failure is FetchFailure.PRIVATE_ADDRESS
    assert host in answer.failure_detail


def test_a_name_is_looked_up_once_and_the_judged_address_is_the_one_connected_to() -> None:
    looked_up: list[str] = []

    def rebinding(host: str) -> Sequence[str]:
        looked_up.append(host)
        return ["127.0.0.1"] if len(looked_up) == 1 else ["127.0.0.2"]

    with LoopbackSite({"/": "here"}) as site, make_fetcher(resolve=rebinding) as fetcher:
        answer = ask(fetcher, site.url("/").replace("127.0.0.1", "changes.test"))
    assert (answer.body, answer.peer_ip, looked_up) == (b"here", "127.0.0.1", ["changes.test"])


def test_the_next_address_is_tried_when_one_refuses() -> None:
    with LoopbackSite({"/": "here"}) as site, make_fetcher(resolve=lambda host: ["127.9.9.9", "127.0.0.1"]) as fetcher:
        answer = ask(fetcher, site.url("/").replace("127.0.0.1", "two.test"))
    assert (answer.body, answer.peer_ip) == (b"here", "127.0.0.1")


def test_an_address_that_does_not_answer_takes_only_its_share_of_the_time() -> None:
    with LoopbackSite({"/": "here"}) as site, deaf_port("127.0.0.3", int(site.host.rpartition(":")[2])):
        url = site.url("/").replace("127.0.0.1", "half-deaf.test")
        with make_fetcher(resolve=lambda host: ["127.0.0.3", "127.0.0.1"]) as fetcher:
            answer = ask(fetcher, url, connect_timeout_s=0.4)
            assert (answer.body, answer.peer_ip) == (b"here", "127.0.0.1")
            assert 150 <= answer.fetch_ms < 400
        with make_fetcher(resolve=lambda host: ["127.0.0.3"]) as fetcher:
            for limits in ({"connect_timeout_s": 0.1}, {"total_timeout_s": 0.1}):
                assert ask(fetcher, url, **limits).failure is FetchFailure.TIMEOUT


@contextmanager
def deaf_port(address: str, port: int) -> Iterator[None]:
    """Listen at a port whose queue is full, so that the system drops what knocks."""
    with ExitStack() as stack:
        try:
            stack.enter_context(socket.create_server((address, port), backlog=0))
        except OSError:
            pytest.skip(f"this system has no {address} (only Linux does)")
        for _ in range(3):
            knocking = stack.enter_context(socket.socket())
            knocking.setblocking(False)
            knocking.connect_ex((address, port))
        yield


def test_a_refusal_names_every_address_and_why() -> None:
    with make_fetcher(resolve=lambda host: ["10.0.0.1", "192.0.2.1"]) as fetcher:
        answer = ask(fetcher, "http://inside.test/", allow_private_networks=False)
    assert "10.0.0.1 (private), 192.0.2.1 (documentation)" in answer.failure_detail


@pytest.mark.parametrize(
    ("number", "failure"),
    [
        (socket.EAI_NONAME, FetchFailure.DNS_NOT_FOUND),
        (socket.EAI_NODATA, FetchFailure.DNS_NOT_FOUND),
        (socket.EAI_AGAIN, FetchFailure.DNS_TRANSIENT),
        (socket.EAI_FAIL, FetchFailure.DNS_TRANSIENT),
        (None, FetchFailure.DNS_NOT_FOUND),
    ],
)
def test_a_look_up_that_fails_says_whether_the_name_exists(number: int | None, failure: FetchFailure) -> None:
    def failing(host: str) -> Sequence[str]:
        if number is None:
            return []
        raise socket.gaierror(number, "as the resolver says")

    with make_fetcher(resolve=failing) as fetcher:
        assert ask(fetcher, "http://gone.test/").failure is failure


def test_a_label_too_long_for_the_name_system_is_a_name_that_does_not_exist() -> None:
    with make_fetcher() as fetcher:
        answer = ask(fetcher, f"http://{'a' * 64}.test/")
    assert answer.failure in (FetchFailure.DNS_NOT_FOUND, FetchFailure.DNS_TRANSIENT)


def test_a_slow_resolver_is_a_timeout_and_holds_no_other_host_up() -> None:
    may_answer = threading.Event()

    def slow_for_one(host: str) -> Sequence[str]:
        assert host != "slow.test" or may_answer.wait(10)
        return ["127.0.0.1"]

    with LoopbackSite({"/": "here"}) as site, make_fetcher(resolve=slow_for_one) as fetcher:
        slow, fast = (wanted(site.url("/").replace("127.0.0.1", f"{pace}.test")) for pace in ("slow", "fast"))

        async def both() -> list[FetchResponse]:
            late = asyncio.create_task(fetcher.fetcher.fetch(replace(slow, total_timeout_s=0.2)))
            soon = await fetcher.fetcher.fetch(fast)
            assert not late.done()
            return [await late, soon]

        late, soon = fetcher.run(both())
        may_answer.set()
    assert (late.failure, soon.body) == (FetchFailure.TIMEOUT, b"here")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The signer of good.test."""
    return make_authority(tmp_path_factory.mktemp("tls"), "good.test")


@pytest.mark.parametrize(
    ("host", "trusted", "problem"),
    [
        ("good.test", True, ""),
        ("good.test.", True, ""),
        ("other.test", True, "Hostname mismatch"),
        ("127.0.0.1", True, "IP address mismatch"),
        ("good.test", False, "self-signed certificate"),
        ("a" * 64, True, "label"),
    ],
)
def test_certificates_are_checked_against_the_name_that_was_asked(
    authority: Authority, host: str, trusted: bool, problem: str
) -> None:
    tls = trusting_context(str(authority.pem)) if trusted else None
    with (
        LoopbackSite({"/": "secret"}, tls=authority.server) as site,
        make_fetcher(resolve=lambda name: ["127.0.0.1"], tls=tls) as fetcher,
    ):
        for path in ("/", "/_/chunked", "/_/drop-before", "/_/http10", "/"):
            answer = ask(fetcher, site.url(path).replace("127.0.0.1", host))
            if problem:
                assert answer.failure is FetchFailure.NETWORK_ERROR
                assert problem in answer.failure_detail
            elif path == "/_/drop-before":
                assert answer.failure is FetchFailure.NETWORK_ERROR
            else:
                assert (answer.status, answer.peer_ip, answer.truncated) == (200, "127.0.0.1", None)
        whole = ["/", "/_/chunked", "/_/drop-before", "/_/drop-before", "/_/http10", "/"]
        assert site.paths_seen() == ([] if problem else whole)

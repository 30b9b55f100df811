"""Fetching through a proxy: what it is asked, what is judged before it is, and what is told when it fails."""

import socket
import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipelines.deployments import deploy, settings_from
from resources.errors import BadSettings
from resources.http_dialing import trusting_context
from resources.http_proxy import Proxy
from resources.ports import FetchFailure
from tests.support.asking import HEADERS, Asker, ask, make_fetcher
from tests.support.authority import make_authority
from tests.support.loopback import LoopbackSite
from tests.support.loopback_proxy import LoopbackProxy

LOGIN = "Proxy-Authorization: Basic YW5uOnMgdA=="  # ann, "s t"
KNOWN = {"proxy.test": ["127.0.0.1"], "inside.test": ["93.184.215.14", "10.0.0.1"], "outside.test": ["93.184.215.14"]}


def resolve(host: str) -> Sequence[str]:
    if host in KNOWN:
        return KNOWN[host]
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def fetcher_behind(proxy: LoopbackProxy, *, tls: ssl.SSLContext | None = None, login: str = "ann:s%20t@") -> Asker:
    return make_fetcher(resolve=resolve, tls=tls, proxy=Proxy.of(f"http://{login}proxy.test:{proxy.port}/"))


def test_a_plain_request_is_asked_in_absolute_form_and_the_password_stays_between_us_and_the_proxy() -> None:
    with LoopbackSite({"/a?b": "here"}) as site, LoopbackProxy() as proxy, fetcher_behind(proxy) as fetcher:
        host = site.host.replace("127.0.0.1", "unknown.test")
        for _ in range(2):
            answer = ask(fetcher, f"http://{host}/a?b", allow_private_networks=False)
            assert (answer.body, answer.peer_ip) == (b"here", None)
        lines = [f"GET http://{host}/a?b HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in HEADERS)]
        assert answer.request_head.decode().split("\r\n") == [*lines, "", ""]
        assert [head.split("\r\n") for head in proxy.heads] == [[*lines, LOGIN, "", ""]] * 2
        assert site.paths_seen() == ["/a?b"] * 2


def test_tls_goes_through_a_tunnel_and_is_checked_against_the_host(tmp_path_factory: pytest.TempPathFactory) -> None:
    authority = make_authority(tmp_path_factory.mktemp("tls"), "good.test")
    with (
        LoopbackSite({"/a": "here"}, tls=authority.server) as site,
        LoopbackProxy() as proxy,
        fetcher_behind(proxy, tls=trusting_context(str(authority.pem))) as fetcher,
    ):
        port = site.host.rpartition(":")[2]
        for _ in range(2):
            answer = ask(fetcher, f"https://good.test:{port}/a", allow_private_networks=False)
            assert answer.body == b"here", answer
        assert answer.request_head.startswith(f"GET /a HTTP/1.1\r\nHost: good.test:{port}\r\n".encode())
        there = f"good.test:{port}"
        assert proxy.heads == [f"CONNECT {there} HTTP/1.1\r\nHost: {there}\r\n{LOGIN}\r\n\r\n"]
        assert [seen.header("Proxy-Authorization") for seen in site.requests] == [None, None]
        answer = ask(fetcher, f"https://other.test:{port}/a")
        assert "Hostname mismatch" in answer.failure_detail


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("host", "reason"),
    [("127.0.0.1", "loopback"), ("[::1]", "loopback"), ("0x7f.1", "loopback"), ("inside.test", "private")],
)
def test_a_host_that_must_not_be_asked_is_refused_before_the_proxy_hears_of_it(
    scheme: str, host: str, reason: str
) -> None:
    KNOWN["0x7f.1"] = ["127.0.0.1"]  # as the system's resolver reads it
    with LoopbackProxy() as proxy, fetcher_behind(proxy) as fetcher:
        answer = ask(fetcher, f"{scheme}://{host}/", allow_private_networks=False)
        assert (answer.failure, proxy.heads) == (FetchFailure.PRIVATE_ADDRESS, [])
        assert reason in answer.failure_detail


@pytest.mark.parametrize(
    ("url", "instead", "detail"),
    [
        ("http://outside.test/", b"HTTP/1.1 407 Who Are You\r\nContent-Length: 0\r\n\r\n", "407 Who Are You"),
        ("https://outside.test/", b"HTTP/1.1 407 Who Are You\r\n\r\n", "CONNECT outside.test:443: 407 Who Are You"),
        (
            "https://outside.test/",
            b"HTTP/1.1 502 Bad Gateway\r\n\r\nsorry",
            "outside.test:443: 502 Bad Gateway",
        ),
        ("https://outside.test/", b"SSH-2.0\r\n\r\n", "not an HTTP/1.x answer: 'SSH-2.0'"),
        ("https://outside.test/", b"HTTP/1.1 200 Fine\r\n\r\nand more", "more than an answer"),
        ("https://outside.test/", b"HTTP/1.1 200 Fine\r\nA: " + b"x" * 100_000, "headers longer than 65536 bytes"),
        ("https://outside.test/", b"", "closed without response"),
    ],
    ids=["407", "tunnel 407", "502", "not http", "surplus", "flood", "closed"],
)
def test_a_proxy_that_fails_is_named_without_its_password(url: str, instead: bytes, detail: str) -> None:
    with LoopbackProxy(instead=instead) as proxy, fetcher_behind(proxy) as fetcher:
        answer = ask(fetcher, url, allow_private_networks=False)
    assert answer.failure is FetchFailure.NETWORK_ERROR
    assert answer.failure_detail.startswith(f"proxy http://proxy.test:{proxy.port}: ")
    assert answer.failure_detail.endswith(detail)


@pytest.mark.parametrize(("host", "detail"), [("proxy.test", "refused"), ("gone.test", "cannot look up gone.test")])
def test_a_proxy_that_cannot_be_reached_is_a_network_error(host: str, detail: str) -> None:
    with LoopbackProxy() as gone:
        pass
    with make_fetcher(resolve=resolve, proxy=Proxy.of(f"http://ann:secret@{host}:{gone.port}")) as fetcher:
        answer = ask(fetcher, "http://outside.test/", allow_private_networks=False)
    assert answer.failure is FetchFailure.NETWORK_ERROR
    assert detail in answer.failure_detail
    assert "secret" not in answer.failure_detail


@pytest.mark.parametrize(
    "url", ["proxy.test:3128", "socks5://proxy.test", "https://proxy.test", "http://", "http://h:x", "http://h/path"]
)
def test_what_is_no_address_of_a_proxy_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ValueError, match=r"^(?!.*proxy\.test).*(http://\[user|[Pp]ort)"):
        Proxy.of(url)


def test_a_proxy_shows_no_password() -> None:
    proxy = Proxy.of("http://ann:secret@[::1]")
    assert (repr(proxy), str(proxy)) == ("Proxy(host='::1', port=80)", "proxy http://[::1]:80")


def test_a_deployment_takes_proxy_and_authorities_from_its_variables(tmp_path: Path) -> None:
    settings = settings_from({"ISOBATH_PROXY": "http://ann:secret@proxy.test:8080", "https_proxy": "http://other.test"})
    assert settings.proxy == Proxy.of("http://ann:secret@proxy.test:8080")
    assert "secret" not in repr(settings)
    assert settings_from({"http_proxy": "http://other.test"}).proxy is None
    with pytest.raises(BadSettings, match=r"^ISOBATH_PROXY(?!.*secret)"):
        settings_from({"ISOBATH_PROXY": "socks5://ann:secret@proxy.test"})
    nowhere = str(tmp_path / "missing.pem")
    with pytest.raises(BadSettings, match=r"^SSL_CERT_FILE=.*missing\.pem"):
        deploy(settings_from({"ISOBATH_STORE": str(tmp_path), "SSL_CERT_FILE": nowhere}))

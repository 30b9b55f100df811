"""The address guard in all spellings, connections that go only where it lets them, and whom TLS trusts."""

import ipaddress
import socket
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from resources.clock import SystemClock
from resources.guarded_http import Connector, NotConnected, forbidden_address, system_addresses
from resources.http_fetcher import HttpFetcher
from resources.ports import FetchFailure, FetchRequest
from tests.support.loopback import LoopbackSite


@pytest.mark.parametrize(
    ("ip", "reason"),
    [
        ("0.0.0.0", "this network"),
        ("0.1.2.3", "this network"),
        ("10.255.255.255", "private"),
        ("100.64.0.1", "shared by a carrier"),
        ("100.127.255.255", "shared by a carrier"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("169.254.169.254", "link-local"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.0.0.8", "protocol assignments"),
        ("192.0.2.1", "documentation"),
        ("192.168.1.1", "private"),
        ("198.18.0.1", "benchmarks"),
        ("224.0.0.251", "multicast"),
        ("239.255.255.250", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("0:0:0:0:0:0:0:1", "loopback"),
        ("::127.0.0.1", "reserved"),
        ("::8.8.8.8", "reserved"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:7f00:1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:169.254.169.254", "link-local"),
        ("64:ff9b::10.0.0.1", "private"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b:1::8.8.8.8", "reserved"),
        ("2002:7f00:1::", "loopback"),
        ("2002:c0a8:101::1", "private"),
        ("2002:a9fe:a9fe::1", "link-local"),
        ("2001::1", "protocol assignments"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("fc00::1", "unique local"),
        ("fd00:ec2::254", "unique local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("100::1", "reserved"),
        ("4000::1", "reserved"),
        ("localhost", "not an IP address"),
        ("0x7f.1", "not an IP address"),
        ("2130706433", "not an IP address"),
        ("", "not an IP address"),
    ],
)
def test_an_address_that_is_not_global_unicast_is_forbidden(ip: str, reason: str) -> None:
    assert forbidden_address(ip) == reason


@pytest.mark.parametrize(
    "ip",
    [
        "8.8.8.8",
        "9.255.255.255",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450:4001::200e",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
    ],
)
def test_a_global_unicast_address_may_be_asked(ip: str) -> None:
    assert forbidden_address(ip) == ""


def test_what_the_standard_library_calls_private_is_never_allowed() -> None:
    for high in range(256):
        for low in (0, 1, 16, 64, 100, 127, 168, 254, 255):
            ip = f"{high}.{low}.2.1"
            assert not (ipaddress.ip_address(ip).is_private and forbidden_address(ip) == ""), ip


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0"])
def test_every_spelling_of_this_machine_is_refused(host: str) -> None:
    with pytest.raises(NotConnected) as caught:
        Connector(system_addresses, allow_private_networks=False).connect(host, 80, 1.0)
    assert caught.value.failure is FetchFailure.PRIVATE_ADDRESS
    assert host in caught.value.detail


def test_a_name_is_looked_up_once_and_the_judged_address_is_the_one_connected_to() -> None:
    looked_up: list[str] = []

    def rebinding(host: str) -> Sequence[str]:
        looked_up.append(host)
        return ["127.0.0.1"] if len(looked_up) == 1 else ["127.0.0.2"]

    with LoopbackSite() as site:
        port = int(site.host.rpartition(":")[2])
        sock, address = Connector(rebinding, allow_private_networks=True).connect("changes.test", port, 1.0)
        with sock:
            assert (sock.getpeername(), address) == (("127.0.0.1", port), "127.0.0.1")
    assert looked_up == ["changes.test"]


def test_the_next_address_is_tried_when_one_refuses() -> None:
    with LoopbackSite() as site:
        port = int(site.host.rpartition(":")[2])
        connector = Connector(lambda host: ["127.9.9.9", "127.0.0.1"], allow_private_networks=True)
        sock, address = connector.connect("two.test", port, 1.0)
        sock.close()
    assert address == "127.0.0.1"


def test_a_refusal_names_every_address_and_why() -> None:
    connector = Connector(lambda host: ["10.0.0.1", "192.0.2.1"], allow_private_networks=False)
    with pytest.raises(NotConnected, match=r"10\.0\.0\.1 \(private\), 192\.0\.2\.1 \(documentation\)"):
        connector.connect("inside.test", 80, 1.0)


@pytest.mark.parametrize(
    ("number", "failure"),
    [
        (socket.EAI_NONAME, FetchFailure.DNS_NOT_FOUND),
        (socket.EAI_NODATA, FetchFailure.DNS_NOT_FOUND),
        (socket.EAI_AGAIN, FetchFailure.DNS_TRANSIENT),
        (socket.EAI_FAIL, FetchFailure.DNS_TRANSIENT),
    ],
)
def test_a_lookup_that_fails_says_whether_the_name_exists(number: int, failure: FetchFailure) -> None:
    def failing(host: str) -> Sequence[str]:
        raise socket.gaierror(number, "as the resolver says")

    with pytest.raises(NotConnected) as caught:
        Connector(failing, allow_private_networks=False).connect("gone.test", 80, 1.0)
    assert caught.value.failure is failure


def test_a_label_too_long_for_the_name_system_is_a_name_that_does_not_exist() -> None:
    with pytest.raises(NotConnected) as caught:
        Connector(system_addresses, allow_private_networks=False).connect("a" * 64 + ".test", 80, 1.0)
    assert caught.value.failure in (FetchFailure.DNS_NOT_FOUND, FetchFailure.DNS_TRANSIENT)


def test_no_address_at_all_is_a_name_that_does_not_exist() -> None:
    with pytest.raises(NotConnected) as caught:
        Connector(lambda host: [], allow_private_networks=False).connect("empty.test", 80, 1.0)
    assert caught.value.failure is FetchFailure.DNS_NOT_FOUND


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server context with a certificate for good.test, and a client context that trusts its signer."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "good.test")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2100, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("good.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path_factory.mktemp("tls") / "good.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pem)
    client = ssl.create_default_context(cafile=str(pem))
    return server, client


@pytest.mark.parametrize(
    ("host", "trusted", "problem"),
    [
        ("good.test", True, ""),
        ("good.test.", True, ""),
        ("other.test", True, "Hostname mismatch"),
        ("127.0.0.1", True, "IP address mismatch"),
        ("good.test", False, "self-signed certificate"),
    ],
)
def test_certificates_are_checked_against_the_name_that_was_asked(
    authority: tuple[ssl.SSLContext, ssl.SSLContext], host: str, trusted: bool, problem: str
) -> None:
    server, client = authority
    fetcher = HttpFetcher(
        SystemClock(), user_agent="", resolve=lambda name: ["127.0.0.1"], tls=client if trusted else None
    )
    with LoopbackSite({"/": "secret"}, tls=server) as site:
        for path in ("/", "/_/chunked", "/_/drop-before", "/"):
            url = site.url(path).replace("127.0.0.1", host)
            answer = fetcher.fetch(FetchRequest(url, (), 1000, allow_private_networks=True))
            if problem:
                assert answer.failure is FetchFailure.NETWORK_ERROR
                assert problem in answer.failure_detail
            elif path == "/_/drop-before":
                assert answer.failure is FetchFailure.NETWORK_ERROR
            else:
                assert (answer.status, answer.peer_ip, answer.truncated) == (200, "127.0.0.1", None)
        fetcher.close()
        assert site.paths_seen() == ([] if problem else ["/", "/_/chunked", "/_/drop-before", "/_/drop-before", "/"])

"""The address guard: which addresses may be asked, and connections that go to no other.

A host name is looked up once for each new connection (``dns_cache`` may know the answer); the addresses are judged, and
the socket goes to one that was judged. There is no second lookup, so a name that changes its mind (DNS rebinding) gains
nothing. TLS still checks the certificate against the host name. What is said over a connection belongs to
``http_fetcher``.
"""

import ipaddress
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from resources.ports.fetching import FetchFailure

Resolve = Callable[[str], Sequence[str]]  # host name -> addresses, best first; raises socket.gaierror

MAX_ADDRESSES = 4  # tried for one connection
CONNECTIONS_PER_HOST = 16  # kept open; more are made when asked, and closed after use

_NOT_GLOBAL_V4 = tuple(
    (ipaddress.IPv4Network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relays"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_NOT_GLOBAL_V6 = tuple(
    (ipaddress.IPv6Network(network), reason)
    for network, reason in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("fc00::/7", "unique local"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
    )
)
# (network, bits to the right of the embedded IPv4 address)
_EMBEDDING_V6 = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4
)
_GLOBAL_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")


def forbidden_address(ip: str) -> str:
    """Say why an address must not be asked; empty when it is global unicast.

    An own table, because ``ipaddress.is_global`` gives other answers in other patch releases of Python.

    Source: IANA IPv4 and IPv6 Special-Purpose Address Registries.

    >>> forbidden_address("169.254.169.254")
    'link-local'
    >>> forbidden_address("::ffff:10.0.0.1")
    'private'
    >>> forbidden_address("93.184.215.14")
    ''
    """
    try:
        address = ipaddress.ip_address(ip.partition("%")[0])
    except ValueError:
        return "not an IP address"
    if isinstance(address, ipaddress.IPv4Address):
        return _forbidden_v4(address)
    for network, shift in _EMBEDDING_V6:
        if address in network:
            return _forbidden_v4(ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF))
    for network, reason in _NOT_GLOBAL_V6:
        if address in network:
            return reason
    return "" if address in _GLOBAL_UNICAST_V6 else "reserved"


def _forbidden_v4(address: ipaddress.IPv4Address) -> str:
    return next((reason for network, reason in _NOT_GLOBAL_V4 if address in network), "")


def system_addresses(host: str) -> Sequence[str]:
    """Look a host name up with the system's resolver.

    Raises:
        socket.gaierror: the name has no address, or the resolver did not answer.
    """
    # Bytes, because a str goes through Python's IDNA codec, which raises UnicodeError on a label over 63 characters.
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_unknown_name(error: socket.gaierror) -> bool:
    """Tell a name that has no address from a resolver that did not answer."""
    return error.errno in (socket.EAI_NONAME, socket.EAI_NODATA)


class NotConnected(Exception):
    """There is no connection. Not an OSError: urllib3 and requests let it pass through as it is."""

    def __init__(self, failure: FetchFailure, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Connector:
    """Makes sockets to addresses that were looked up once and judged."""

    resolve: Resolve
    allow_private_networks: bool

    def connect(self, host: str, port: int, timeout_s: float) -> tuple[socket.socket, str]:
        """Connect to the first address that may be asked and answers; give the socket and the address.

        The timeout is shared among the addresses; the socket keeps all of it.

        Raises:
            NotConnected: with the failure to report.
        """
        addresses = self._allowed(host)[:MAX_ADDRESSES]
        problems: list[str] = []
        failure = FetchFailure.NETWORK_ERROR
        for address in addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            try:
                return _connected(family, (address, port), timeout_s, share_s=timeout_s / len(addresses)), address
            except TimeoutError:
                failure = FetchFailure.TIMEOUT
                problems.append(f"{address} port {port}: no connection in time")
            except OSError as error:
                problems.append(f"{address} port {port}: {error.strerror or error}")
        raise NotConnected(failure, f"cannot connect to {host}: {'; '.join(problems)}")

    def _allowed(self, host: str) -> Sequence[str]:
        try:
            addresses = self.resolve(host)
        except socket.gaierror as error:
            failure = FetchFailure.DNS_NOT_FOUND if is_unknown_name(error) else FetchFailure.DNS_TRANSIENT
            raise NotConnected(failure, f"cannot look up {host}: {error.strerror}") from error
        if not addresses:
            raise NotConnected(FetchFailure.DNS_NOT_FOUND, f"cannot look up {host}: no address")
        if self.allow_private_networks:
            return addresses
        reasons = {address: forbidden_address(address) for address in addresses}
        allowed = [address for address in addresses if not reasons[address]]
        if not allowed:
            refused = ", ".join(f"{address} ({reason})" for address, reason in reasons.items())
            raise NotConnected(FetchFailure.PRIVATE_ADDRESS, f"{host} must not be asked: {refused}")
        return allowed


def _connected(
    family: socket.AddressFamily, address: tuple[str, int], timeout_s: float, *, share_s: float
) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(share_s)
        sock.connect(address)
        sock.settimeout(timeout_s)
    except BaseException:
        sock.close()
        raise
    return sock


class GuardedConnection(HTTPConnection):
    """An HTTP connection whose socket comes from a ``Connector``."""

    peer_ip: str | None = None

    def __init__(self, *args: Any, connector: Connector, **options: Any) -> None:
        super().__init__(*args, **options)
        self._connector = connector

    def _new_conn(self) -> socket.socket:
        timeout_s = self.timeout
        assert timeout_s is not None, "every request has a connect timeout"
        # _dns_host, unlike host, keeps a trailing dot, which keeps the system's search domains out.
        sock, self.peer_ip = self._connector.connect(self._dns_host, self.port, timeout_s)
        return sock


class GuardedTlsConnection(GuardedConnection, HTTPSConnection):
    """The same under TLS; names and certificates are checked as always."""


class GuardedPool(HTTPConnectionPool):
    """Idle connections to one host."""

    ConnectionCls = GuardedConnection


class GuardedTlsPool(HTTPSConnectionPool):
    """Idle TLS connections to one host."""

    ConnectionCls = GuardedTlsConnection


def trusting_context() -> ssl.SSLContext:
    """Make a TLS context that verifies certificates and host names against the authorities that requests ships.

    Reading them takes some 25 ms, so one context serves many connections.
    """
    context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
    context.load_verify_locations(DEFAULT_CA_BUNDLE_PATH)
    return context


class GuardedAdapter(HTTPAdapter):
    """A requests adapter with pools of its own, all of whose connections come from one connector."""

    def __init__(
        self,
        connector: Connector,
        *,
        pool_connections: int,
        tls: ssl.SSLContext | None = None,
        http_pool: type[HTTPConnectionPool] = GuardedPool,
        https_pool: type[HTTPConnectionPool] = GuardedTlsPool,
    ) -> None:
        self._pools: Mapping[str, Callable[..., HTTPConnectionPool]] = {
            "http": partial(http_pool, connector=connector),
            "https": partial(https_pool, connector=connector),
        }
        self._tls = tls or trusting_context()
        super().__init__(pool_connections=pool_connections, pool_maxsize=CONNECTIONS_PER_HOST)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        """Make the pools; requests calls this."""
        self.poolmanager = PoolManager(
            num_pools=connections, maxsize=maxsize, block=block, ssl_context=self._tls, **options
        )
        # Through the pools' own keyword arguments, because a pool key of urllib3 has no room for a connector.
        self.poolmanager.pool_classes_by_scheme = dict(self._pools)

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Leave certificates to the shared context: requests would read all authorities again for each connection."""

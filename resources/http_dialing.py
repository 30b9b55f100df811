"""New connections: the name looked up once, its addresses judged, one of them connected to, TLS agreed on.

Through a proxy the same judgement is made before the proxy is asked; but which address it then connects to is the
proxy's choice, and a name that does not resolve here is left to it.
"""

import asyncio
import errno
import ipaddress
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import certifi

from resources.address_guard import allowed_addresses, refuse_forbidden
from resources.dns_cache import CachedResolver, is_unknown_name
from resources.http_connection import HttpConnection
from resources.http_failure import NoAnswer, reason_of
from resources.http_proxy import Proxy, open_tunnel
from resources.http_request import Origin
from resources.ports.fetching import FetchFailure

MAX_ADDRESSES: Final = 4  # tried for one connection

_OUR_OWN: Final = frozenset({errno.EMFILE, errno.ENFILE})


def trusting_context(authorities: str = "") -> ssl.SSLContext:
    """Make a TLS context that verifies certificates and host names. Takes some 25 ms.

    Args:
        authorities: a file of certificates in PEM; empty means Mozilla's, which come with certifi.

    Raises:
        OSError: the file is not there, or holds no certificate.
    """
    context = ssl.create_default_context(cafile=authorities or certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(frozen=True, slots=True)
class Dialer:
    """Makes connections. Each of its steps is held to the connect timeout; the sum of them is the caller's to limit."""

    resolver: CachedResolver
    tls: ssl.SSLContext
    proxy: Proxy | None

    async def dial(
        self,
        origin: Origin,
        timeout_s: float,
        *,
        allow_private_networks: bool,
        on_lost: Callable[[HttpConnection], None],
    ) -> HttpConnection:
        """Connect to a host.

        Raises:
            NoAnswer: with the failure to report.
        """
        if self.proxy is not None:
            if not allow_private_networks:
                await self._judge_behind_proxy(origin.host)
            sock = await self._through_proxy(self.proxy, origin, timeout_s)
            return await self._over(sock, None, origin, timeout_s, on_lost)
        addresses = await self._addresses(origin.host)
        if not allow_private_networks:
            addresses = allowed_addresses(origin.host, addresses)
        sock, address = await connect_to_any(origin.host, addresses, origin.port, timeout_s)
        return await self._over(sock, address, origin, timeout_s, on_lost)

    async def _addresses(self, host: str) -> Sequence[str]:
        if is_address(host):
            return [host]
        try:
            addresses = await self.resolver.addresses(host)
        except socket.gaierror as error:
            failure = FetchFailure.DNS_NOT_FOUND if is_unknown_name(error) else FetchFailure.DNS_TRANSIENT
            raise NoAnswer(failure, f"cannot look up {host}: {error.strerror}") from error
        if not addresses:
            raise NoAnswer(FetchFailure.DNS_NOT_FOUND, f"cannot look up {host}: no address")
        return addresses

    async def _judge_behind_proxy(self, host: str) -> None:
        try:
            addresses = await self._addresses(host)
        except NoAnswer:
            return
        refuse_forbidden(host, addresses)

    async def _through_proxy(self, proxy: Proxy, origin: Origin, timeout_s: float) -> socket.socket:
        try:
            addresses = await self._addresses(proxy.host)
            sock, _ = await connect_to_any(proxy.host, addresses, proxy.port, timeout_s)
        except NoAnswer as error:
            raise proxy.failed(error.detail, is_timeout=error.failure is FetchFailure.TIMEOUT) from error
        if not origin.is_tls:
            return sock
        try:
            async with asyncio.timeout(timeout_s):
                await open_tunnel(sock, proxy, origin.host, origin.port)
        except BaseException as error:
            sock.close()
            if isinstance(error, TimeoutError):
                raise proxy.failed("CONNECT was not answered in time", is_timeout=True) from error
            raise
        return sock

    async def _over(
        self,
        sock: socket.socket,
        peer_ip: str | None,
        origin: Origin,
        timeout_s: float,
        on_lost: Callable[[HttpConnection], None],
    ) -> HttpConnection:
        """Make the connection over a connected socket, which is closed if none comes of it."""
        loop = asyncio.get_running_loop()
        connection = HttpConnection(sock, peer_ip, on_lost)
        try:
            async with asyncio.timeout(timeout_s):
                if origin.is_tls:
                    name = origin.tls_name
                    await loop.create_connection(lambda: connection, sock=sock, ssl=self.tls, server_hostname=name)
                else:
                    await loop.create_connection(lambda: connection, sock=sock)
        except BaseException as error:
            connection.abort()
            if isinstance(error, TimeoutError):
                raise NoAnswer(FetchFailure.TIMEOUT, f"no SSL handshake with {origin.host} in time") from error
            if isinstance(error, OSError | ValueError):  # the latter for a name that no certificate can have
                detail = f"SSL handshake with {origin.host} failed: {reason_of(error)}"
                raise NoAnswer(FetchFailure.NETWORK_ERROR, detail) from error
            raise
        return connection


def is_address(host: str) -> bool:
    """Tell an IP address in its usual spelling from a name; other spellings are for the resolver to read.

    >>> is_address("127.0.0.1"), is_address("::1"), is_address("0x7f.1")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def connect_to_any(host: str, addresses: Sequence[str], port: int, timeout_s: float) -> tuple[socket.socket, str]:
    """Connect to the first address that answers; the addresses share the timeout.

    Raises:
        NoAnswer: none did.
        OSError: this process has too many files open, which says nothing about the host.
    """
    addresses = addresses[:MAX_ADDRESSES]
    problems: list[str] = []
    failure = FetchFailure.NETWORK_ERROR
    for address in addresses:
        try:
            return await _connected(address, port, timeout_s / len(addresses)), address
        except TimeoutError:
            failure = FetchFailure.TIMEOUT
            problems.append(f"{address} port {port}: no connection in time")
        except OSError as error:
            if error.errno in _OUR_OWN:
                raise
            # Not what the error says: asyncio puts the address there.
            problems.append(f"{address} port {port}: {os.strerror(error.errno) if error.errno else reason_of(error)}")
    raise NoAnswer(failure, f"cannot connect to {host}: {'; '.join(problems)}")


async def _connected(address: str, port: int, timeout_s: float) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with asyncio.timeout(timeout_s):
            await asyncio.get_running_loop().sock_connect(sock, (address, port))
    except BaseException:
        sock.close()
        raise
    return sock

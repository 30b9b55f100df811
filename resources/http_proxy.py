"""HTTP proxies: how one is named, and the tunnel through it.

The operator chose the proxy, so its own address is not judged; those of the hosts behind it are, by ``http_dialing``.
"""

import asyncio
import base64
import socket
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from resources.http_failure import NoAnswer, NotHttp, reason_of
from resources.http_head import HEAD_END, Head, parse_head
from resources.ports.fetching import FetchFailure

MAX_TUNNEL_HEAD_BYTES: Final = 64 * 1024
PROXY_AUTHENTICATION_REQUIRED: Final = 407


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy; its password is in no text made of it."""

    host: str
    port: int
    authorization_line: bytes = field(default=b"", repr=False)  # empty without user and password

    @classmethod
    def of(cls, url: str) -> Self:
        """Read ``http://[user:password@]host[:port]``.

        Raises:
            ValueError: this is no such address; the message does not repeat it, because it may hold a password.

        >>> Proxy.of("http://ann:s%20t@proxy.test:3128")
        Proxy(host='proxy.test', port=3128)
        """
        parts = urlsplit(url)
        is_plain = parts.path in ("", "/") and not parts.query and not parts.fragment
        if parts.scheme != "http" or not parts.hostname or not is_plain or not url.isascii() or not url.isprintable():
            raise ValueError("use http://[user:password@]host[:port]")
        line = b""
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            line = b"Proxy-Authorization: Basic " + base64.b64encode(pair) + b"\r\n"
        return cls(parts.hostname, parts.port or 80, line)

    def __str__(self) -> str:
        return f"proxy http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def failed(self, problem: str, *, is_timeout: bool = False) -> NoAnswer:
        """Make the failure of a request for which the proxy is to blame."""
        return NoAnswer(FetchFailure.TIMEOUT if is_timeout else FetchFailure.NETWORK_ERROR, f"{self}: {problem}")


async def open_tunnel(sock: socket.socket, proxy: Proxy, host: str, port: int) -> None:
    """Have a connected proxy open a way to a host; from then on the socket leads there.

    Raises:
        NoAnswer: the proxy would not or could not.
    """
    loop = asyncio.get_running_loop()
    there = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    ask = f"CONNECT {there} HTTP/1.1\r\nHost: {there}\r\n".encode("ascii") + proxy.authorization_line + b"\r\n"
    try:
        await loop.sock_sendall(sock, ask)
        head = await _tunnel_head(sock)
    except NotHttp as error:
        raise proxy.failed(f"CONNECT {there}: {error.detail}") from error
    except TimeoutError:
        raise
    except OSError as error:
        raise proxy.failed(f"CONNECT {there}: {reason_of(error)}") from error
    if not 200 <= head.status < 300:
        raise proxy.failed(f"CONNECT {there}: {head.status} {head.reason}".rstrip())


async def _tunnel_head(sock: socket.socket) -> Head:
    loop = asyncio.get_running_loop()
    received = bytearray()
    begin = 0
    while True:
        found = HEAD_END.search(received, begin)
        if found:
            head = parse_head(bytes(received[begin : found.start()]))
            begin = found.end()
            if head.is_interim:
                continue
            # The host behind the proxy speaks TLS, and does so only when it is spoken to.
            if 200 <= head.status < 300 and begin < len(received):
                raise NotHttp("more than an answer")
            return head
        if len(received) > MAX_TUNNEL_HEAD_BYTES:
            raise NotHttp(f"headers longer than {MAX_TUNNEL_HEAD_BYTES} bytes")
        data = await loop.sock_recv(sock, 16 * 1024)
        if not data:
            raise NotHttp("closed without response")
        received += data

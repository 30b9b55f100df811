"""The loopback proxy: a real HTTP proxy on 127.0.0.1 for tests. Every name leads to this machine."""

import select
import socket
import socketserver
from contextlib import suppress
from typing import Final

from pipelines.served import Served

PIECE_BYTES: Final = 64 * 1024
IDLE_S: Final = 10.0


class LoopbackProxy(Served):
    """A proxy, alive inside its ``with``.

    Args:
        instead: what it answers every request with, instead of passing it on; empty closes without an answer.
    """

    def __init__(self, *, instead: bytes | None = None) -> None:
        self.instead = instead
        self.heads: list[str] = []  # of all requests, as they came in
        server = _Server(self)
        self.port = int(server.server_address[1])
        super().__init__(server)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, proxy: LoopbackProxy) -> None:
        self.proxy = proxy
        super().__init__(("127.0.0.1", 0), _Conversation)


class _Conversation(socketserver.BaseRequestHandler):
    server: _Server
    request: socket.socket

    def handle(self) -> None:
        self.request.settimeout(IDLE_S)
        with suppress(ConnectionError, TimeoutError):
            self._pass_on()

    def _pass_on(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.request.recv(PIECE_BYTES)
            if not piece:
                return
            head += piece
        self.server.proxy.heads.append(head.decode("iso-8859-1"))
        if self.server.proxy.instead is not None:
            self.request.sendall(self.server.proxy.instead)
            return
        method, target, _ = head.decode("iso-8859-1").split(" ", 2)
        authority, slash, rest = target.removeprefix("http://").partition("/")
        with socket.create_connection(("127.0.0.1", int(authority.rpartition(":")[2])), IDLE_S) as there:
            if method == "CONNECT":
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Proxy-")]
                lines[0] = f"{method} {slash}{rest} HTTP/1.1\r\nConnection: close".encode()
                there.sendall(b"\r\n".join(lines))
            self._splice(there)

    def _splice(self, there: socket.socket) -> None:
        other = {self.request: there, there: self.request}
        while True:
            readable, _, _ = select.select([*other], [], [], IDLE_S)
            for end in readable:
                data = end.recv(PIECE_BYTES)
                if not data:
                    return
                other[end].sendall(data)
            if not readable:
                return

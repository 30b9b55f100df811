"""Receivers of alerts: an HTTP server and a mail server on loopback, which keep what they get and refuse on demand."""

import base64
import json
import socketserver
import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pipelines.served import Served

MAX_LINES = 10_000
IDLE_S = 10.0


class HookReceiver(Served):
    """Takes POSTs of JSON. ``status`` is what it answers; only what it answers 200 counts as taken."""

    def __init__(self) -> None:
        self.status = 200
        self.taken: list[dict[str, Any]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            timeout = IDLE_S

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if receiver.status == 200 and self.headers["Content-Type"] == "application/json":
                    receiver.taken.append(body)
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                self.wfile.write(b"words of the server")

            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Stay silent."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        super().__init__(server)
        self.url = f"http://127.0.0.1:{server.server_address[1]}/secret-path"


class _Conversation(socketserver.StreamRequestHandler):
    timeout = IDLE_S
    server: "_MailServer"

    def handle(self) -> None:
        receiver, to, encrypted = self.server.receiver, list[str](), False
        self._say("220 loopback")
        for _ in range(MAX_LINES):
            line = self.rfile.readline().decode().strip()
            verb = line[:4].upper()
            if verb == "EHLO":
                offers = ["STARTTLS"] if receiver.tls and not encrypted else []
                self._say(*(f"250-{offer}" for offer in ["loopback", *offers]), "250 AUTH PLAIN")
            elif verb == "STAR" and receiver.tls:
                self._say("220 go on")
                try:
                    self.connection = receiver.tls.wrap_socket(self.connection, server_side=True)
                except ssl.SSLError:  # the client does not trust it
                    return
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
                encrypted = True
            elif verb == "AUTH":
                receiver.logins.append((encrypted, base64.b64decode(line.split()[2]).decode().split("\0")[1:]))
                self._say("235 welcome")
            elif verb == "RCPT" and any(refused in line for refused in receiver.refused):
                self._say("550 no such reader")
            elif verb == "RCPT":
                to.append(line.partition("<")[2].rstrip(">"))
                self._say("250 ok")
            elif verb == "DATA":
                self._say("354 go on")
                text = iter(lambda: self.rfile.readline().decode(), ".\r\n")
                receiver.taken.append((to, "".join(text).replace("\r\n", "\n")))
                self._say("250 taken")
            elif verb == "QUIT" or not line:
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def finish(self) -> None:
        super().finish()
        self.connection.close()  # of TLS, its socket is another than the request's

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


class _MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    receiver: "MailReceiver"


class MailReceiver(Served):
    """Takes mail by SMTP, with STARTTLS where ``tls`` is given; refuses readers whose address holds a ``refused``."""

    def __init__(self, *, address: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self.refused: set[str] = set()
        self.tls = tls
        self.taken: list[tuple[list[str], str]] = []  # readers, message
        self.logins: list[tuple[bool, list[str]]] = []  # under TLS or not, user and password
        server = _MailServer((address, 0), _Conversation)
        server.receiver = self
        super().__init__(server)
        self.host, self.port = address, int(server.server_address[1])

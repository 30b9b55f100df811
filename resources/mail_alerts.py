"""The alert sink that sends mail, and the name of the server that takes it."""

import logging
import re
import smtplib
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from resources.alert_text import subject_of, text_of
from resources.errors import TransientError
from resources.ports.alerts import Alert

LOGGER: Final = logging.getLogger(__name__)
TIMEOUT_S: Final = 10.0
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in."""

    host: str
    port: int
    over_tls: bool = False  # from the first byte; otherwise by STARTTLS where the server offers it
    user: str = ""
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, url: str) -> Self:
        """Read ``smtp[s]://[user:password@]host[:port]``.

        >>> MailServer.of("smtps://bot:s%40cret@mail.example.org")
        MailServer(host='mail.example.org', port=465, over_tls=True, user='bot')

        Raises:
            ValueError: it is none.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.path not in ("", "/"):
            raise ValueError("not smtp[s]://[user:password@]host[:port]")
        over_tls = parts.scheme == "smtps"
        port = parts.port or (465 if over_tls else 587 if parts.username else 25)
        return cls(parts.hostname, port, over_tls, unquote(parts.username or ""), unquote(parts.password or ""))


class MailAlerts:
    """Sends an alert as a plain mail; a password goes out under TLS only, or to this machine."""

    name = "email"

    def __init__(self, server: MailServer, *, to: Sequence[str], sender: str, tls: ssl.SSLContext) -> None:
        self._server = server
        self._to = list(to)
        self._sender = sender
        self._tls = tls

    def send(self, alert: Alert) -> None:
        """Send an alert.

        Raises:
            TransientError: the server refused it or all of its readers, or nobody answered.
        """
        try:
            with self._connected() as server:
                refused = server.send_message(self.message(alert))
        except (smtplib.SMTPException, OSError, ValueError) as error:
            raise TransientError(f"email: {self._server.host}:{self._server.port}: {_said(error)}") from error
        if refused:
            # The others have their mail: another try would send it to them twice.
            LOGGER.warning("mail was sent, but not to %s: the server refused them", ", ".join(sorted(refused)))

    def message(self, alert: Alert) -> EmailMessage:
        """Give the mail."""
        mail = EmailMessage()
        mail["Subject"] = subject_of(alert)
        mail["From"] = self._sender
        mail["To"] = ", ".join(self._to)
        mail["Date"] = formatdate(alert.last_at.timestamp())
        mail["Message-ID"] = make_msgid(domain=self._sender.rpartition("@")[2].strip("> ") or "isobath")
        mail["Auto-Submitted"] = "auto-generated"
        # Not every server takes 8 bits, or lines of any length.
        mail.set_content(text_of(alert) + "\n", cte="quoted-printable")
        return mail

    def _connected(self) -> smtplib.SMTP:
        at = self._server
        if at.over_tls:
            server: smtplib.SMTP = smtplib.SMTP_SSL(at.host, at.port, timeout=TIMEOUT_S, context=self._tls)
        else:
            server = smtplib.SMTP(at.host, at.port, timeout=TIMEOUT_S)
        try:
            # What listens on this machine has at most a certificate that nobody signed, and needs none.
            safe = at.over_tls or at.host in _LOOPBACK
            server.ehlo_or_helo_if_needed()
            if not safe and server.has_extn("starttls"):
                server.starttls(context=self._tls)
                server.ehlo()
                safe = True
            if at.user:
                if not safe:
                    raise smtplib.SMTPNotSupportedError("offers no TLS, and the password is not sent without")
                server.login(at.user, at.password)
        except BaseException:
            server.close()
            raise
        return server


def _said(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        text = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
        return f"answered {error.smtp_code} {' '.join(text.split())}"
    if isinstance(error, socket.gaierror):
        return "its host name does not resolve"
    return re.sub(r"\s+", " ", f"{type(error).__name__} {error}")

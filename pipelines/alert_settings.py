"""Settings of alerts: what the environment says of who is told, when, and of what."""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time, timedelta
from typing import Final
from urllib.parse import urlsplit

import certifi

from pipelines.alerts import AlertRules, SilenceWindow
from resources.alerts import SlackAlerts, WebhookAlerts
from resources.errors import BadSettings
from resources.mail_alerts import MailAlerts, MailServer
from resources.ports import AlertSink

ALERT_VARIABLES: Final[Mapping[str, str]] = {
    "ISOBATH_ALERT_WEBHOOK": "URL to which alerts of failed runs and checks are posted as JSON (default: none)",
    "ISOBATH_ALERT_SLACK": "incoming webhook of Slack, or of what understands the same, for alerts (default: none)",
    "ISOBATH_ALERT_EMAIL": "who gets alerts by mail: addresses, with commas between them (default: nobody)",
    "ISOBATH_ALERT_FROM": "sender of that mail (default: the first of those addresses)",
    "ISOBATH_SMTP": "smtp[s]://[user:password@]host[:port] that takes that mail (default: smtp://localhost)",
    "ISOBATH_ALERT_SILENCE": "times of the day, in UTC, at which alerts wait, such as 22:00-07:00,12:00-13:00",
    "ISOBATH_ALERT_AGAIN_HOURS": "hours after which a cause that goes on is told again (default: 24)",
    "ISOBATH_ALERT_WARNINGS": "1 tells of checks that failed with severity WARN too (default: 0)",
    "ISOBATH_UI": "address of the Dagster UI, for the links in alerts (default: http://127.0.0.1:3000)",
}

_WINDOW: Final = re.compile(r"\s*(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)\s*")
_ADDRESS: Final = re.compile(r"[^@\s,<>]+@[^@\s,<>]+")


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """Who is told, when, and of what."""

    # Who knows the address of a webhook may write there.
    webhook: str = field(default="", repr=False)
    slack: str = field(default="", repr=False)
    email: tuple[str, ...] = ()
    sender: str = ""
    mail_server: MailServer = field(default_factory=lambda: MailServer("localhost", 25))
    rules: AlertRules = field(default_factory=AlertRules)


def alert_settings_from(environment: Mapping[str, str]) -> AlertSettings:
    """Read the settings.

    Raises:
        BadSettings: names the variable and what it may be.
    """
    email = _addresses(environment.get("ISOBATH_ALERT_EMAIL", ""))
    return AlertSettings(
        webhook=_web_address(environment, "ISOBATH_ALERT_WEBHOOK"),
        slack=_web_address(environment, "ISOBATH_ALERT_SLACK"),
        email=email,
        sender=environment.get("ISOBATH_ALERT_FROM") or (email[0] if email else ""),
        mail_server=_mail_server(environment.get("ISOBATH_SMTP") or "smtp://localhost"),
        rules=AlertRules(
            ui=(_web_address(environment, "ISOBATH_UI") or AlertRules().ui).rstrip("/"),
            warnings=_is_on(environment.get("ISOBATH_ALERT_WARNINGS") or "0"),
            again_after=_hours(environment.get("ISOBATH_ALERT_AGAIN_HOURS")),
            silence=_windows(environment.get("ISOBATH_ALERT_SILENCE", "")),
        ),
    )


def alert_sinks(settings: AlertSettings, *, authorities: str) -> tuple[AlertSink, ...]:
    """Make the sinks that are set.

    Args:
        settings: of alerts.
        authorities: a file of the certificates that TLS trusts; empty means those of certifi.

    Raises:
        BadSettings: the certificates cannot be read.
    """
    if not (settings.webhook or settings.slack or settings.email):
        return ()
    try:
        tls = ssl.create_default_context(cafile=authorities or certifi.where())
    except OSError as error:
        raise BadSettings(f"SSL_CERT_FILE={authorities}: no certificates can be read there: {error}") from error
    sinks: list[AlertSink] = []
    if settings.webhook:
        sinks.append(WebhookAlerts(settings.webhook, tls=tls))
    if settings.slack:
        sinks.append(SlackAlerts(settings.slack, tls=tls))
    if settings.email:
        sinks.append(MailAlerts(settings.mail_server, to=settings.email, sender=settings.sender, tls=tls))
    return tuple(sinks)


def _web_address(environment: Mapping[str, str], name: str) -> str:
    text = environment.get(name, "").strip()
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        good = good and text.isascii() and not re.search(r"\s", text)
    except ValueError:
        good = False
    if text and not good:
        # Its value is not shown: it may be a secret.
        raise BadSettings(f"{name} is no absolute http or https URL")
    return text


def _addresses(text: str) -> tuple[str, ...]:
    addresses = tuple(part.strip() for part in text.split(",") if part.strip())
    for address in addresses:
        if not _ADDRESS.fullmatch(address):
            raise BadSettings(f"ISOBATH_ALERT_EMAIL: {address!r} is no mail address such as ops@example.org")
    return addresses


def _mail_server(url: str) -> MailServer:
    try:
        return MailServer.of(url)
    except ValueError:
        # Neither the value nor the cause is shown: there may be a password in it.
        raise BadSettings("ISOBATH_SMTP names no mail server: use smtp[s]://[user:password@]host[:port]") from None


def _is_on(text: str) -> bool:
    if text.strip().lower() not in ("0", "1", "on", "off", "true", "false", "yes", "no"):
        raise BadSettings(f"ISOBATH_ALERT_WARNINGS={text}: use 0 or 1")
    return text.strip().lower() in ("1", "on", "true", "yes")


def _hours(text: str | None) -> timedelta:
    if not text:
        return AlertRules().again_after
    if not text.strip().isdecimal() or not 1 <= int(text) <= 8760:
        raise BadSettings(f"ISOBATH_ALERT_AGAIN_HOURS={text}: use a whole number from 1 to 8760")
    return timedelta(hours=int(text))


def _windows(text: str) -> tuple[SilenceWindow, ...]:
    windows = []
    for part in text.split(",") if text.strip() else ():
        found = _WINDOW.fullmatch(part)
        numbers = [int(number) for number in found.groups()] if found else []
        if not numbers or max(numbers[0], numbers[2]) > 23 or max(numbers[1], numbers[3]) > 59:
            raise BadSettings(f"ISOBATH_ALERT_SILENCE={text}: use times of the day in UTC such as 22:00-07:00")
        begins, ends = time(numbers[0], numbers[1]), time(numbers[2], numbers[3])
        if begins == ends:
            raise BadSettings(f"ISOBATH_ALERT_SILENCE={text}: {part.strip()} would silence alerts for ever")
        windows.append(SilenceWindow(begins, ends))
    return tuple(windows)

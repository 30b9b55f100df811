"""Alert sinks by HTTP: a webhook that takes JSON, and one of Slack.

What is an alert, and when it is sent, does not belong here. No error shows an address: who knows it may write there.
"""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict
from http.client import HTTPException
from typing import Any, Final

from resources.alert_text import subject_of, text_of
from resources.errors import TransientError
from resources.ports.alerts import Alert, FailedPlace

TIMEOUT_S: Final = 10.0
SLACK_MOST_CHARACTERS: Final = 39_000  # Slack cuts at 40,000


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Following a redirect would send a GET without the message, and call it sent."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class WebhookAlerts:
    """Posts an alert as JSON; any answer of the 200s means that it was taken."""

    name = "webhook"

    def __init__(self, url: str, *, tls: ssl.SSLContext) -> None:
        self._url = url
        self._opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=tls), _NoRedirects)

    def send(self, alert: Alert) -> None:
        """Send an alert.

        Raises:
            TransientError: it was refused, or nobody answered.
        """
        self._post(self.body(alert))

    def body(self, alert: Alert) -> Mapping[str, Any]:
        """Give what is posted."""
        return {
            "title": alert.title,
            "text": f"{subject_of(alert)}\n{text_of(alert)}",
            "repeated": alert.repeated,
            "first_at": alert.first_at.isoformat(),
            "last_at": alert.last_at.isoformat(),
            "places": [asdict(place) for place in alert.places],
            "more": alert.more,
        }

    def _post(self, body: Mapping[str, Any]) -> None:
        request = urllib.request.Request(
            self._url, json.dumps(body).encode(), {"Content-Type": "application/json", "User-Agent": "Isobath"}
        )
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                answer.read(1024)
        except urllib.error.HTTPError as error:
            with error:
                said = " ".join(error.read(200).decode("utf-8", "replace").split())
            raise TransientError(f"{self.name}: answered {error.code} {said}".rstrip()) from error
        except urllib.error.URLError as error:
            raise TransientError(f"{self.name}: cannot be reached: {error.reason}") from error
        except (OSError, HTTPException) as error:
            raise TransientError(f"{self.name}: no answer: {type(error).__name__} {error}") from error


class SlackAlerts(WebhookAlerts):
    """Posts an alert as the text of an incoming webhook of Slack."""

    name = "slack"

    def body(self, alert: Alert) -> Mapping[str, Any]:
        """Give what is posted."""
        text = f"*{_escaped(subject_of(alert))}*\n{text_of(alert, linked=_slack_linked)}"
        return {"text": text if len(text) <= SLACK_MOST_CHARACTERS else text[:SLACK_MOST_CHARACTERS] + " ..."}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _slack_linked(place: FailedPlace, line: str) -> str:
    return f"• {_escaped(line)} <{place.link}|open>"

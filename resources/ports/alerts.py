"""Alerts: words to people about what failed, sent by a sink such as a webhook or mail."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class FailedPlace:
    """Where a cause of failures showed."""

    site: str  # empty: not at one site
    where: str  # such as "content/pages" or "job maintenance"
    reason: str
    link: str  # to the run or the check in the Dagster UI
    succeeded_since: bool = False


@dataclass(frozen=True, slots=True)
class Alert:
    """What is said of one cause."""

    title: str
    first_at: datetime
    last_at: datetime
    places: Sequence[FailedPlace]  # those that are named
    more: int = 0  # places that are not named
    at_least: bool = False  # even more than ``more``
    repeated: bool = False  # it was told before, and goes on


@runtime_checkable
class AlertSink(Protocol):
    """Takes alerts to where people look."""

    name: str  # stable: remembers what was sent through it

    def send(self, alert: Alert) -> None:
        """Send an alert; return when the other side has taken it.

        Raises:
            TransientError: with one sentence that says what came back; another try may help.
        """
        ...

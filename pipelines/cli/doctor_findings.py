"""Findings of the doctor: what was looked at, how it is, and what to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from resources.errors import IsobathError


class State(StrEnum):
    """How something is."""

    OK = "ok"
    WARNING = "warning"  # works, but not as well as it should, or not for long
    PROBLEM = "problem"  # a crawl will fail


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor."""

    subject: str
    state: State
    said: str
    advice: str = ""  # what to do; empty when all is well

    def __post_init__(self) -> None:
        if self.state is not State.OK and not self.advice:
            raise ValueError(f"{self.subject}: a {self.state} needs advice")


def ok(subject: str, said: str) -> Finding:
    """Say that all is well."""
    return Finding(subject, State.OK, said)


def warning(subject: str, said: str, advice: str) -> Finding:
    """Say that something should be better."""
    return Finding(subject, State.WARNING, said, advice)


def problem(subject: str, said: str, advice: str) -> Finding:
    """Say that something is broken."""
    return Finding(subject, State.PROBLEM, said, advice)


def looked(subject: str, look: Callable[[], Iterator[Finding]], advice: str) -> Iterator[Finding]:
    """Give the findings of a look; an error that ends it is one of them, and never the end of the doctor.

    Args:
        subject: what is looked at.
        look: makes findings.
        advice: what to do when it raises.
    """
    try:
        yield from look()
    except IsobathError as error:
        yield problem(subject, str(error), advice)
    except Exception as error:  # noqa: BLE001 - a doctor who faints helps nobody
        yield problem(subject, f"{type(error).__name__}: {' '.join(str(error).split())}", advice)

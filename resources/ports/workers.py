"""Document workers: functions of one document, run in processes with limits."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar, runtime_checkable

Document = TypeVar("Document")
Result = TypeVar("Result")


class WorkFailureReason(StrEnum):
    """What ended a document's work."""

    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"  # the process died


@dataclass(frozen=True, slots=True)
class WorkFailure:
    """A document that cost more than it may, or killed its worker. Expected badness: a row."""

    reason: WorkFailureReason
    detail: str


@runtime_checkable
class DocumentWorkers(Protocol):
    """Worker processes, each document under a time and a memory limit."""

    def map(
        self, function: Callable[[Document], Result], documents: Iterable[Document]
    ) -> Iterator[Result | WorkFailure]:
        """Run a function over documents on all cores; give the results in the documents' order.

        ``function`` must be importable (top level of a module). Only a bounded number of documents is in flight.
        An exception raised by ``function`` is a bug and is raised here; a limit or a dead process is a ``WorkFailure``.
        """
        ...

    def close(self) -> None:
        """Stop the processes; a later ``map`` starts new ones."""
        ...

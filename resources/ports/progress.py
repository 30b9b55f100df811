"""Progress: how far a crawl has come, for whoever is watching."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class ProgressNote:
    """The state of one site's crawl."""

    site: str
    stage: str  # such as depth_1/raw_batches
    done: int
    left: int
    errors: int
    body_bytes: int


@runtime_checkable
class Progress(Protocol):
    """Takes notes; must return at once and never fail."""

    def note(self, note: ProgressNote) -> None:
        """Take a note."""
        ...

"""The clock: the only way to learn what time it is."""

from datetime import datetime
from typing import Protocol, runtime_checkable


@runtime_checkable
class Clock(Protocol):
    """Wall time for facts, monotonic time for intervals."""

    def now(self) -> datetime:
        """Give the time as an aware UTC datetime."""
        ...

    def monotonic_s(self) -> float:
        """Give seconds that never run backwards; only differences mean something."""
        ...

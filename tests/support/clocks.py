"""Clocks that a test turns by hand."""

import time
from datetime import UTC, datetime, timedelta


class TurnableClock:
    """A clock that stands still until it is advanced."""

    def __init__(self, start: datetime = datetime(2030, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic_s = 0.0

    def now(self) -> datetime:
        """Give the time that was set."""
        return self._now

    def monotonic_s(self) -> float:
        """Give the seconds advanced so far."""
        return self._monotonic_s

    def advance(self, seconds: float) -> None:
        """Turn the clock forward."""
        self._now += timedelta(seconds=seconds)
        self._monotonic_s += seconds


class ShiftedClock:
    """The real clock, moved forward by whole days or hours at will. Durations stay real."""

    def __init__(self) -> None:
        self._ahead = timedelta(0)

    def now(self) -> datetime:
        """Give the time, and what it was moved by."""
        return datetime.now(UTC) + self._ahead

    def monotonic_s(self) -> float:
        """Give real seconds."""
        return time.monotonic()

    def advance(self, **by: float) -> None:
        """Move it on; arguments as those of ``timedelta``."""
        self._ahead += timedelta(**by)

"""The system clock: the only place that may look at a watch."""

import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's own clocks, as the ``Clock`` port."""

    def now(self) -> datetime:
        """Give the time as an aware UTC datetime."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Give seconds that never run backwards; only differences mean something."""
        return time.monotonic()

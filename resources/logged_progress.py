"""Logged progress: how a run stands, in one log message a half minute and one at its end."""

import logging
import threading
from typing import Final

from resources.ports import Clock, RunNote

LOGGER: Final = logging.getLogger("isobath.progress")  # dagster.yaml shows it among the run's events
SHOWN_SITES: Final = 10


class LoggedProgress:
    """Implements ``ports.Progress`` for runs that nobody watches on a terminal."""

    def __init__(self, clock: Clock, *, every_s: float = 25.0) -> None:
        """Log at intervals.

        Args:
            clock: what time it is.
            every_s: between two messages of a run; half a minute is promised, and a note may come late.
        """
        self._clock = clock
        self._every_s = every_s
        self._due_s: dict[str, float] = {}  # by run
        self._lock = threading.Lock()

    def note(self, note: RunNote) -> None:
        """Log a note if it is time, with the sites that end last."""
        now_s = self._clock.monotonic_s()
        with self._lock:
            due_s = self._due_s.setdefault(note.run_id, now_s + self._every_s)
            if note.is_last:
                del self._due_s[note.run_id]
            elif now_s < due_s:
                return
            else:
                self._due_s[note.run_id] = now_s + self._every_s
        lines = [note.say(), *(site.say(note.at) for site in note.sites[:SHOWN_SITES])]
        # One message and not one a line: each is an event in the run's log.
        LOGGER.info("%s", "\n".join(lines))

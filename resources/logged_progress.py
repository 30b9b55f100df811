"""Logged progress: one log line a site and half minute, and one when a stage has nothing left."""

import logging
import threading
from typing import Final

from resources.ports import Clock, ProgressNote

LOGGER: Final = logging.getLogger("isobath.progress")  # dagster.yaml shows it among the run's events


class LoggedProgress:
    """Implements ``ports.Progress`` for runs that nobody watches on a terminal."""

    def __init__(self, clock: Clock, *, every_s: float = 30.0) -> None:
        self._clock = clock
        self._every_s = every_s
        self._next_s: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, note: ProgressNote) -> None:
        """Log a note if the last one of this site is old enough."""
        now_s = self._clock.monotonic_s()
        with self._lock:
            if note.left and now_s < self._next_s.get(note.site, now_s):
                return
            self._next_s[note.site] = now_s + self._every_s
        LOGGER.info(
            "%s %s: %s done, %s left, %s errors, %s bytes",
            note.site,
            note.stage,
            note.done,
            note.left,
            note.errors,
            note.body_bytes,
        )

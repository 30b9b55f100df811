"""Catching up: brings index sinks to the end of a site's log, side by side, each within a time limit."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from assets.feed.log import BatchLog
from resources.ports import IndexSink


@dataclass(slots=True)
class _Follower:
    """One sink on its way to the end of the log."""

    log: BatchLog
    sink: IndexSink
    last: int
    at: int = 0
    is_late: bool = False
    done: Future[str] = field(default_factory=Future)  # the error; empty when all went well

    def run(self) -> None:
        """Apply what the sink has not seen, until it is late."""
        try:
            self.done.set_result(self._followed())
        except Exception as error:  # noqa: BLE001  # a sink may raise anything, and must not hold back the others
            self.done.set_result(f"{type(error).__name__}: {error}")

    def _followed(self) -> str:
        self.at = self.sink.cursor(self.log.site)
        if self.at > self.last:
            return f"is at batch {self.at} of {self.log.site}, but the log ends at {self.last}: empty the sink"
        # One batch at a time: a sink that was down for long does not need all of them in memory.
        for batch in self.log.since(self.at):
            if self.is_late:
                break
            self.sink.apply([batch])
            self.at = batch.sequence
        return ""


def catch_up(log: BatchLog, sinks: Sequence[IndexSink], *, limit_s: float) -> dict[str, str]:
    """Apply to each sink the batches it has not seen; give the errors of those that failed or are late, by name.

    A late sink stops after the batch it is at, and goes on from there the next time.
    """
    last = log.last()
    followers = [_Follower(log, sink, last) for sink in sinks]
    for one in followers:
        # A daemon: what hangs in a socket must not keep the process.
        threading.Thread(target=one.run, name=f"sink {one.sink.name}", daemon=True).start()
    wait([one.done for one in followers], timeout=limit_s)
    errors: dict[str, str] = {}
    for one in followers:
        if not one.done.done():
            one.is_late = True
            errors[one.sink.name] = f"took more than {limit_s:g} s and is at batch {one.at} of {last}; it goes on later"
        elif error := one.done.result():
            errors[one.sink.name] = error
    return errors

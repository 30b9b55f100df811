"""Tallies: what one site did in one stage, how fast, and when the rest may be done. Counters and forecasts only."""

from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from assets.fetch.outcome import ERRORS
from resources.ports import Ending, HostWait, SiteNote, WaitReason

RATE_WINDOW_S: Final = 30.0
LONGEST_S: Final = 10 * 365 * 86_400.0  # of a forecast: a Crawl-delay may be any number


class Rate:
    """How fast a count grows, over the last half minute."""

    def __init__(self, now_s: float) -> None:
        self._marks: deque[tuple[float, int]] = deque([(now_s, 0)])

    def per_s(self, now_s: float, count: int) -> float:
        """Note a count; give its growth per second."""
        self._marks.append((now_s, count))
        while self._marks[1][0] <= now_s - RATE_WINDOW_S:
            self._marks.popleft()
        began_s, before = self._marks[0]
        return (count - before) / (now_s - began_s) if now_s > began_s else 0.0


@dataclass(frozen=True, slots=True)
class Bound:
    """How long politeness alone makes a site take, and the host that does."""

    seconds: float
    host: HostWait


@dataclass(slots=True)
class Tally:
    """Counters of one site in one stage."""

    stage: str
    began_s: float
    rate: Rate
    looked_s: float  # when its note was made last
    working_s: float = 0.0  # since it began, less the time in which it could only wait for a host that said no
    done: int = 0
    left: int = 0
    body_bytes: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def expect(self, items: int) -> None:
        """Count what is to be fetched."""
        self.left += items

    def receive(self, body_bytes: int) -> None:
        """Count what an answer brought."""
        self.body_bytes += body_bytes

    def end(self, outcome: str) -> None:
        """Count the final outcome of one that was expected."""
        self.done += 1
        self.left -= 1
        if outcome in ERRORS:
            self.errors[outcome] += 1

    def note(
        self, site: str, now: datetime, now_s: float, bound: Bound | None = None, *, is_over: bool = False
    ) -> SiteNote:
        """Say how the site stands in this stage.

        Args:
            site: whose tally this is.
            now: the moment, for people.
            now_s: the same moment, monotonic.
            bound: what politeness makes it take.
            is_over: whether to give the rate of the whole stage, not of the last half minute.
        """
        if bound is None or bound.host.reason is not WaitReason.BACKING_OFF:
            self.working_s += now_s - self.looked_s
        self.looked_s = now_s
        overall_per_s = self.done / (now_s - self.began_s) if now_s > self.began_s else 0.0
        per_s = overall_per_s if is_over else self.rate.per_s(now_s, self.done)
        # The pace of the last half minute would foretell for ever a pause that is soon over.
        working_per_s = self.done / self.working_s if self.working_s > 0 else 0.0
        return SiteNote(
            site=site,
            stage=self.stage,
            done=self.done,
            left=self.left,
            pages_per_s=per_s,
            errors=dict(self.errors),
            body_bytes=self.body_bytes,
            end=ending(self.left, working_per_s, bound.seconds if bound else 0.0, now),
            slowest=bound.host if bound else None,
        )


def ending(left: int, pages_per_s: float, bound_s: float, now: datetime) -> Ending | None:
    """Estimate when what is left is done: at the rate of now, but not before politeness allows it.

    Args:
        left: pages without an outcome.
        pages_per_s: how fast they get one; 0 when nothing is known.
        bound_s: how long politeness makes the slowest host take at least.
        now: the moment of the estimate.
    """
    by_rate_s = left / pages_per_s if pages_per_s > 0 else 0.0
    seconds = max(by_rate_s, bound_s)
    if not left or seconds <= 0:
        return None
    return Ending(now + timedelta(seconds=min(seconds, LONGEST_S)), is_bound=bound_s >= by_rate_s)

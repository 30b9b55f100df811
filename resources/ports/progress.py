"""Progress: how far a run has come and what it waits for, for whoever is watching. Values that can say themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

MEBIBYTE: Final = 2**20


class WaitReason(StrEnum):
    """Why a host that has something queued is not being asked."""

    DELAY = "politeness delay"
    CRAWL_DELAY = "Crawl-delay"
    BACKING_OFF = "backing off"
    RETRY = "pause before a retry"
    ROBOTS = "robots.txt asked first"
    DUE = "due, no request free"


@dataclass(frozen=True, slots=True)
class HostWait:
    """A host that has something queued, and why it waits."""

    host_key: str
    queued: int
    reason: WaitReason | None  # None: its request is open
    until: datetime | None = None  # None: nobody knows
    refusals: int = 0  # answers 429 or 503 in a row

    def why(self, now: datetime) -> str:
        """Say why it is not being asked, and until when."""
        if self.reason is None:
            return "being asked"
        after = f" after {_counted(self.refusals, 'refusal')} (429, 503)" if self.refusals else ""
        until = f" until {_moment(self.until, now)}" if self.until is not None and self.until > now else ""
        return f"{self.reason}{after}{until}"


@dataclass(frozen=True, slots=True)
class Ending:
    """When what is known so far will be done."""

    at: datetime
    is_bound: bool  # politeness alone forbids an earlier moment

    def say(self, now: datetime) -> str:
        """Say it as an estimate or as a bound."""
        return f"{'not before' if self.is_bound else 'about'} {_moment(self.at, now)}"


@dataclass(frozen=True, slots=True)
class SiteNote:
    """One site in the stage that it is in."""

    site: str
    stage: str  # the asset, such as depth_1/raw_batches
    done: int
    left: int
    pages_per_s: float  # over the last half minute
    errors: Mapping[str, int]  # by outcome
    body_bytes: int
    end: Ending | None  # None: nothing to fetch, or nothing came yet
    slowest: HostWait | None  # the host that holds it up

    def say(self, now: datetime) -> str:
        """Say it in one line."""
        parts = [f"{self.done:,} done, {self.left:,} left", f"{self.pages_per_s:.1f}/s", *_said_errors(self.errors)]
        if self.slowest is not None:
            parts.append(f"{self.slowest.host_key}: {self.slowest.queued:,} queued, {self.slowest.why(now)}")
        if self.end is not None:
            parts.append(f"ends {self.end.say(now)}")
        return f"{self.site} {self.stage}: {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class RunNote:
    """The state of a run: of all its sites together, and of each that is at work, the one that ends last first."""

    run_id: str
    at: datetime
    sites_total: int
    sites_done: int
    done: int
    left: int  # known so far; deeper layers add to it
    queued: int  # left, less what is open; and what else must be asked, such as robots.txt
    open_requests: int
    pages_per_s: float  # over the last half minute
    overall_pages_per_s: float
    errors: Mapping[str, int]  # by outcome
    body_bytes: int
    waiting: Mapping[WaitReason, int]  # hosts
    hosts: tuple[HostWait, ...]  # the few that take longest
    sites: tuple[SiteNote, ...]
    ended: tuple[SiteNote, ...]  # stages that were over since the note before; their rate is that of the whole stage
    end: Ending | None
    is_last: bool = False

    def say(self) -> str:
        """Say it in one line."""
        parts = [
            f"{self.sites_done:,} of {_counted(self.sites_total, 'site')} done",
            f"{_counted(self.done, 'page')} done, {self.left:,} left",
            f"{self.pages_per_s:.1f}/s now, {self.overall_pages_per_s:.1f}/s overall",
            f"{self.queued:,} queued, {_counted(self.open_requests, 'request')} open",
            self.say_waiting(),
            *_said_errors(self.errors),
            f"{self.body_bytes / MEBIBYTE:.1f} MiB",
        ]
        if self.end is not None:
            parts.append(f"what is known ends {self.end.say(self.at)}")
        return "; ".join(parts)

    def say_waiting(self) -> str:
        """Say how many hosts wait, and for what."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.waiting.items())
        return f"{_counted(sum(self.waiting.values()), 'host')} waiting" + (f" ({reasons})" if reasons else "")


@runtime_checkable
class Progress(Protocol):
    """Takes notes, about one a second; must return at once and never fail."""

    def note(self, note: RunNote) -> None:
        """Take a note."""
        ...


def _counted(count: int, noun: str) -> str:
    """Give a number with its noun.

    >>> _counted(1, "host"), _counted(1200, "host")
    ('1 host', '1,200 hosts')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _moment(at: datetime, now: datetime) -> str:
    """Say a UTC time to the second; its date too when it is most of a day away.

    >>> from datetime import UTC
    >>> _moment(datetime(2024, 5, 1, 9, 8, 7, tzinfo=UTC), datetime(2024, 5, 1, 9, tzinfo=UTC))
    '09:08:07Z'
    """
    return f"{at:%H:%M:%SZ}" if at - now < timedelta(hours=20) else f"{at:%Y-%m-%d %H:%M:%SZ}"


def _said_errors(errors: Mapping[str, int]) -> list[str]:
    """Say errors by kind, most frequent first; nothing when there are none."""
    if not errors:
        return []
    kinds = sorted(errors.items(), key=lambda pair: (-pair[1], pair[0]))
    return ["errors: " + ", ".join(f"{count:,} {kind}" for kind, count in kinds)]

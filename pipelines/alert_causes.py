"""Causes of failures: what failed where, gathered to one cause each, and which causes are to be told now.

A cause is told to each sink by itself: one that does not answer is owed what the others have. A cause that was told is
told again only when it goes on for longer than people asked for, or went away and came back. It is away when each place
where it showed has succeeded since. What is kept is bounded, whatever fails. Pure code.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from resources.ports import Alert, FailedPlace

MAX_NAMED: Final = 20  # places that a message names
MAX_PLACES: Final = 2000  # of a cause that are remembered
MAX_CAUSES: Final = 50
MAX_REASON_CHARACTERS: Final = 300
MAX_TITLE_CHARACTERS: Final = 160
KEPT: Final = timedelta(days=30)  # after its last failure, when nobody runs the place again
OTHERS: Final = "many other causes"

_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,9}://\S+")
_HEX: Final = re.compile(r"\b(?=[0-9a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Failed:
    """One place where something failed."""

    what: str  # failed there, such as "content/pages failed"
    where: str
    site: str  # empty: not at one site
    reason: str
    link: str
    # Where reasons tell causes apart; a check says by its name what is wrong, and by its reason how much.
    by_reason: bool = True


@dataclass(frozen=True, slots=True)
class Succeeded:
    """One place where all is well."""

    where: str
    site: str


@dataclass(frozen=True, slots=True)
class Cause:
    """What is remembered of a cause."""

    title: str
    first_at: datetime
    last_at: datetime
    failing: frozenset[str] = frozenset()  # digests of the places that have not succeeded since
    named: tuple[FailedPlace, ...] = ()
    told: Mapping[str, datetime] = field(default_factory=dict)  # sink -> when
    all_told: bool = False

    def is_due(self, sink: str, now: datetime, again_after: timedelta) -> bool:
        """Tell whether a sink is to be told of it."""
        told = self.told.get(sink)
        return told is None or (self.last_at > told and now - told >= again_after)

    def alert(self, sink: str) -> Alert:
        """Say what a sink is told."""
        closed = sum(place.succeeded_since for place in self.named)
        return Alert(
            title=self.title,
            first_at=self.first_at,
            last_at=self.last_at,
            places=self.named,
            more=max(0, len(self.failing) + closed - len(self.named)),
            at_least=len(self.failing) >= MAX_PLACES,
            repeated=sink in self.told,
        )

    def told_to(self, sink: str, now: datetime) -> "Cause":
        """Note that a sink was told."""
        return replace(self, told={**self.told, sink: now})


Causes = Mapping[str, Cause]


def after(causes: Causes, events: Sequence[Failed | Succeeded], now: datetime) -> dict[str, Cause]:
    """Fold what happened, in its order, into the causes."""
    known = dict(causes)
    for event in events:
        if isinstance(event, Failed):
            _add(known, event, now)
        else:
            _close(known, event)
    return known


def told(causes: Causes, sinks: AbstractSet[str], now: datetime) -> dict[str, Cause]:
    """Forget what need not be told any more: causes that are away, places that succeeded, what nobody runs again."""
    kept = {}
    for key, cause in causes.items():
        if sinks <= cause.told.keys():
            if not cause.failing or now - cause.last_at > KEPT:
                continue
            still = tuple(place for place in cause.named if not place.succeeded_since)
            cause = replace(cause, named=still, all_told=True)
        kept[key] = replace(cause, told={name: at for name, at in cause.told.items() if name in sinks})
    return kept


def title_of(failed: Failed) -> str:
    """Say what failed and why, in words that are the same for all places with this cause.

    >>> title_of(Failed("links failed", "links", "a.test:80", "DamagedArchive: 3f2a9b00.warc.gz of a.test at 512", ""))
    'links failed: DamagedArchive: #.warc.gz of SITE at #'
    """
    if not failed.by_reason:
        return failed.what
    reason = " ".join(failed.reason.split())
    for name in (failed.site, failed.site.rpartition(":")[0]):
        if len(name) > 1:
            reason = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", "SITE", reason)
    reason = _NUMBER.sub("#", _HEX.sub("#", _URL.sub("URL", reason)))
    return _cut(f"{failed.what}: {reason}", MAX_TITLE_CHARACTERS)


def _add(known: dict[str, Cause], failed: Failed, now: datetime) -> None:
    title = title_of(failed)
    if title not in known and len(known) >= MAX_CAUSES:
        # Those that somebody was told of are best forgotten; what nobody knows yet never is.
        oldest = min(
            (key for key, cause in known.items() if cause.told), key=lambda key: known[key].last_at, default=""
        )
        if oldest:
            del known[oldest]
        else:
            title = OTHERS
    cause = known.get(title) or Cause(title, now, now)
    if not cause.failing and cause.told:
        # It went away and is back: whoever heard of the first time hears of this one too.
        cause = replace(cause, told={}, all_told=False, first_at=now)
    place, named = _digest(failed.where, failed.site), cause.named
    if place not in cause.failing and len(cause.failing) < MAX_PLACES:
        # A place that failed again after a success stands there once.
        named = tuple(one for one in named if (one.where, one.site) != (failed.where, failed.site))
        if len(named) < MAX_NAMED:
            reason = _cut(failed.reason, MAX_REASON_CHARACTERS)
            named = (*named, FailedPlace(failed.site, failed.where, reason, failed.link))
        cause = replace(cause, failing=cause.failing | {place}, named=named)
    known[title] = replace(cause, last_at=now)


def _close(known: dict[str, Cause], succeeded: Succeeded) -> None:
    place = _digest(succeeded.where, succeeded.site)
    for key, cause in known.items():
        if place in cause.failing:
            named = [_closed(one, succeeded) for one in cause.named]
            # Who is yet to be told is told of what is over too.
            kept = tuple(one for one in named if not (cause.all_told and one.succeeded_since))
            known[key] = replace(cause, failing=cause.failing - {place}, named=kept)


def _closed(place: FailedPlace, succeeded: Succeeded) -> FailedPlace:
    at_it = (place.where, place.site) == (succeeded.where, succeeded.site)
    return replace(place, succeeded_since=True) if at_it else place


def _digest(where: str, site: str) -> str:
    return hashlib.sha256(f"{where}\n{site}".encode()).hexdigest()[:12]


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 3] + "..."

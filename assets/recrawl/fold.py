"""The fold: state of pages and sites after events. It knows no plan, no budget and no present.

Folding event after event, crawl after crawl, or a whole history at once gives the same state to the last bit: a page's
evidence depends on its own visits and on one number of its site, the reference rate, which is frozen when a UTC day
begins and sums up only what was seen before that day.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from assets.recrawl.columns import Answer, EventColumns, Flags, Floats, PageColumns, PageStatus, Rows, SiteColumns
from assets.recrawl.estimate import USUAL_RATE, visited
from assets.recrawl.findings import Finding, Findings, find
from assets.recrawl.pace import slowed

USUAL_PAGES: Final = 5.0  # pages that this is worth
MOST_SIGNALS: Final = 65_535  # that are counted of a page; so many are no news any more
GONE_AFTER_DAYS: Final = 1.0  # of 404; a 410 is gone at once


@dataclass(frozen=True, slots=True)
class Folded:
    """State after events, and what was counted on the way."""

    pages: PageColumns
    sites: SiteColumns
    counts: Mapping[str, int]


def fold(pages: PageColumns, sites: SiteColumns, events: EventColumns) -> Folded:
    """Give the state after events.

    Args:
        pages: state of at least the pages in the events; untouched rows come back as they are.
        sites: state of their sites.
        events: in time order for each site, none older than what was folded before, every crawl whole.

    Raises:
        ValueError: the events are not in time order.
    """
    pages, sites = pages.copy(), sites.copy()
    _require_order(pages, events)
    found = find(pages, events)
    added_changes, added_days = np.zeros(len(events)), np.zeros(len(events))
    for day, day_events in _days(events):
        _freeze_reference(sites, np.unique(pages.site[events.page[day_events]]), day)
        for turn in _turns(events, day_events):
            added_changes[turn], added_days[turn] = _step(pages, sites, events, found, turn)
        # One after the other and in time order: sums of floats depend on the order.
        np.add.at(sites.evidence_changes, pages.site[events.page[day_events]], added_changes[day_events])
        np.add.at(sites.evidence_days, pages.site[events.page[day_events]], added_days[day_events])
    slowed(sites, pages.site[events.page], events)
    counts = {finding.name.lower(): int((found.finding == finding).sum()) for finding in Finding if finding}
    asked = events.answer[~found.read]
    counts |= {answer.name.lower(): int((asked == answer).sum()) for answer in Answer if answer > Answer.REDIRECT}
    return Folded(pages, sites, counts | {"held": int(found.held.sum()), "lies": int(found.lie.sum())})


def _require_order(pages: PageColumns, events: EventColumns) -> None:
    site = pages.site[events.page]
    order = np.argsort(site, kind="stable")
    days, same_site = events.day[order], site[order][1:] == site[order][:-1]
    if bool((same_site & (days[1:] < days[:-1])).any()):
        raise ValueError("events of a site must be in time order")


def _days(events: EventColumns) -> Iterator[tuple[float, Rows]]:
    """Give the UTC days and the events of each, in the order in which they came."""
    day = np.floor(events.day)
    order = np.argsort(day, kind="stable")
    days, starts = np.unique(day[order], return_index=True)
    for number, start, end in zip(days.tolist(), starts, [*starts[1:], len(order)], strict=False):
        yield number, order[start:end]


def _turns(events: EventColumns, some: Rows) -> Iterator[Rows]:
    """Give the first events of all pages, then their second ones, and so on: no page twice in a turn."""
    order = np.argsort(events.page[some], kind="stable")
    page = events.page[some][order]
    starts = np.flatnonzero(np.concatenate([[True], page[1:] != page[:-1]]))
    turn = np.arange(len(page)) - np.repeat(starts, np.diff(np.append(starts, len(page))))
    for number in range(int(turn.max()) + 1):
        yield some[order[turn == number]]


def _freeze_reference(sites: SiteColumns, some: Rows, day: float) -> None:
    """Set the reference rate of sites for a day that begins for them."""
    begins = some[sites.reference_day[some] != day]
    changes = USUAL_PAGES + np.maximum(sites.evidence_changes[begins], 0)
    days = USUAL_PAGES / USUAL_RATE + np.maximum(sites.evidence_days[begins], 0)
    sites.reference_rate[begins] = changes / days
    sites.reference_day[begins] = day


def _step(
    pages: PageColumns, sites: SiteColumns, events: EventColumns, found: Findings, turn: Rows
) -> tuple[Floats, Floats]:
    """Write one event of each of some pages into the state; give what their evidence grew by."""
    page, at, answer = events.page[turn], events.day[turn], events.answer[turn]
    added_changes, added_days = np.zeros(len(turn)), np.zeros(len(turn))
    finding = found.finding[turn]
    # What a page that came back holds says nothing of how often it changes: it was not there.
    evident = (finding >= Finding.UNCHANGED) & ~found.held[turn] & (pages.status[page] == PageStatus.LIVE)
    evident &= at > pages.read_day[page]
    if evident.any():
        rows, changed = page[evident], finding[evident] == Finding.CHANGED
        grown = _evidence(pages, sites, rows, at[evident], changed, events.changed_days_ago[turn[evident]])
        added_changes[evident], added_days[evident] = grown
    np.add.at(sites.lies, pages.site[page[found.lie[turn]]], 1)
    _read(pages, events, turn[found.read[turn]])
    absent = (answer == Answer.NOT_FOUND) | (answer == Answer.GONE)
    if absent.any():
        _absent(pages, page[absent], at[absent], answer[absent] == Answer.GONE)
    failed = page[(answer == Answer.FAILED) | (answer == Answer.THROTTLED)]
    pages.fails[failed] = np.minimum(pages.fails[failed], 254) + 1
    signalled = page[answer == Answer.SIGNAL]
    pages.signals[signalled] = np.minimum(pages.signals[signalled], MOST_SIGNALS - 1) + 1
    np.add.at(sites.signals, pages.site[signalled], 1)
    pages.status[page[answer == Answer.BARRED]] = PageStatus.BARRED
    pages.status[page[answer == Answer.RETIRED]] = PageStatus.RETIRED
    asked = answer < Answer.SIGNAL
    pages.asked_day[page[asked]] = at[asked]
    return added_changes, added_days


def _evidence(
    pages: PageColumns, sites: SiteColumns, rows: Rows, at: Floats, changed: Flags, changed_days_ago: Floats
) -> tuple[Floats, Floats]:
    site = pages.site[rows]
    old_changes, old_days = pages.evidence_changes[rows].astype(float), pages.evidence_days[rows].astype(float)
    changes, days = visited(
        old_changes,
        old_days,
        prior_rate=sites.reference_rate[site],
        gap_days=at - pages.read_day[rows],
        changed=changed,
        changed_days_ago=changed_days_ago,
    )
    pages.evidence_changes[rows], pages.evidence_days[rows] = changes, days
    pages.visits[rows] += 1
    pages.changes[rows] += changed
    signalled = pages.signals[rows] > 0
    np.add.at(sites.hits, site[signalled & changed], 1)
    np.add.at(sites.misses, site[signalled & ~changed], 1)
    np.add.at(sites.recalled, site[changed & signalled], 1)
    np.add.at(sites.unrecalled, site[changed & ~signalled], 1)
    # As stored, so that the sums are those of the columns.
    return pages.evidence_changes[rows] - old_changes, pages.evidence_days[rows] - old_days


def _read(pages: PageColumns, events: EventColumns, turn: Rows) -> None:
    page, at = events.page[turn], events.day[turn]
    pages.status[page] = PageStatus.LIVE
    pages.read_day[page] = at
    pages.signals[page] = 0
    pages.fails[page] = 0
    pages.gone_visits[page] = 0
    pages.gone_since_day[page] = np.nan
    whole = turn[events.answer[turn] != Answer.NOT_MODIFIED]
    page = events.page[whole]
    pages.whole_day[page] = events.day[whole]
    pages.text_hash[page] = events.text_hash[whole]
    pages.payload_hash[page] = events.payload_hash[whole]
    pages.validator_hash[page] = events.validator_hash[whole]


def _absent(pages: PageColumns, page: Rows, at: Floats, for_good: Flags) -> None:
    since = np.where(np.isnan(pages.gone_since_day[page]), at, pages.gone_since_day[page])
    pages.gone_since_day[page] = since
    pages.gone_visits[page] = np.minimum(pages.gone_visits[page], 254) + 1
    pages.status[page] = np.where(for_good | (at - since >= GONE_AFTER_DAYS), PageStatus.GONE, pages.status[page])
    pages.fails[page] = 0
    pages.signals[page] = 0

"""The fold: what each outcome does to a page, and that a history folds to the same state in whatever pieces."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assets.recrawl.columns import Answer, EventColumns, PageColumns, PageStatus, SiteColumns
from assets.recrawl.due import due_days
from assets.recrawl.fold import fold
from tests.assets.recrawl.making import START, Event, events_of, live_pages, prices, same, unread_pages

READ = Event(1.0, text=1)


def page_after(*events: Event, pages: PageColumns | None = None) -> dict[str, Any]:
    """Fold events of one page; give its row, days counted from ``START``."""
    folded = fold(unread_pages() if pages is None else pages, SiteColumns.unseen(1), events_of(events)).pages
    row = {name: getattr(folded, name)[0].item() for name in folded.dtypes()}
    return {name: value - START if name.endswith("_day") else value for name, value in row.items()}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([READ], {"status": PageStatus.LIVE, "visits": 0, "read_day": 1.0}, id="first"),
        pytest.param([READ, Event(4.0)], {"visits": 1, "changes": 0, "evidence_days": 3.0}, id="same"),
        pytest.param([READ, Event(4.0, text=2)], {"visits": 1, "changes": 1}, id="changed"),
        pytest.param([READ, Event(4.0, payload=9)], {"visits": 1, "changes": 0, "payload_hash": 9}, id="cosmetic"),
        pytest.param([READ, Event(4.0, text=5, payload=1)], {"visits": 1, "changes": 0}, id="new extractor"),
        pytest.param(
            [READ, Event(4.0, Answer.NOT_MODIFIED, text=0)],
            {"visits": 1, "changes": 0, "read_day": 4.0, "whole_day": 1.0, "text_hash": 1},
            id="304",
        ),
        pytest.param([Event(1.0, Answer.NOT_MODIFIED)], {"status": PageStatus.NEW, "visits": 0}, id="304 of nothing"),
        pytest.param(
            [READ, Event(2.0, Answer.FAILED), Event(3.0, Answer.THROTTLED)],
            {"visits": 0, "fails": 2, "read_day": 1.0, "asked_day": 3.0, "status": PageStatus.LIVE},
            id="failures are no evidence",
        ),
        pytest.param(
            [READ, Event(2.0, Answer.FAILED), Event(5.0)],
            {"visits": 1, "fails": 0, "evidence_days": 4.0},
            id="failed once",
        ),
        pytest.param(
            [READ, Event(2.0, Answer.NOT_FOUND), Event(2.5, Answer.NOT_FOUND)],
            {"status": PageStatus.LIVE, "gone_visits": 2, "visits": 0},
            id="404 for half a day",
        ),
        pytest.param(
            [READ, Event(2.0, Answer.NOT_FOUND), Event(3.0, Answer.NOT_FOUND)],
            {"status": PageStatus.GONE, "gone_since_day": 2.0, "visits": 0},
            id="404 for a day",
        ),
        pytest.param([READ, Event(2.0, Answer.GONE)], {"status": PageStatus.GONE, "gone_visits": 1}, id="410"),
        pytest.param(
            [READ, Event(2.0, Answer.GONE), Event(9.0, text=2)],
            {"status": PageStatus.LIVE, "gone_visits": 0, "visits": 0, "text_hash": 2},
            id="back again, no evidence",
        ),
        pytest.param(
            [READ, Event(2.0, Answer.NOT_FOUND), Event(3.0)], {"visits": 1, "changes": 0, "gone_visits": 0}, id="a blip"
        ),
        pytest.param(
            [Event(1.0, Answer.REDIRECT, text=0, payload=7), Event(4.0, Answer.REDIRECT, text=0, payload=7)],
            {"visits": 1, "changes": 0},
            id="same target",
        ),
        pytest.param(
            [Event(1.0, Answer.REDIRECT, text=0, payload=7), Event(4.0, Answer.REDIRECT, text=0, payload=8)],
            {"visits": 1, "changes": 1},
            id="other target",
        ),
        pytest.param([READ, Event(2.0, Answer.BARRED)], {"status": PageStatus.BARRED, "visits": 0}, id="barred"),
        pytest.param([READ, Event(2.0, Answer.SIGNAL), Event(3.0, Answer.SIGNAL)], {"signals": 2}, id="signals"),
        pytest.param([READ, Event(2.0, Answer.SIGNAL), Event(3.0)], {"signals": 0, "visits": 1}, id="signal followed"),
        pytest.param(
            [READ, Event(11.0, text=2, changed_days_ago=4.0)],
            {"evidence_changes": 1.0, "evidence_days": 4.0},
            id="a trusted date",
        ),
    ],
)
def test_an_outcome_does_to_a_page(events: Sequence[Event], expected: Mapping[str, float]) -> None:
    row = page_after(*events)
    assert {name: row[name] for name in expected} == pytest.approx(dict(expected))


def site_after(*events: Event, pages: PageColumns) -> dict[str, Any]:
    """Fold events of one site; give its row."""
    folded = fold(pages, SiteColumns.unseen(1), events_of(events)).sites
    return {name: getattr(folded, name)[0].item() for name in folded.dtypes()}


def test_signals_are_judged_by_what_the_next_visit_finds() -> None:
    site = site_after(
        Event(1.0, Answer.SIGNAL, page=0),
        Event(1.0, Answer.SIGNAL, page=1),
        Event(2.0, page=0, text=2),
        Event(2.0, page=1),
        Event(2.0, page=2, text=2),
        pages=live_pages(3),
    )
    assert [site[name] for name in ("signals", "hits", "misses", "recalled", "unrecalled")] == [2, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("before", "after", "lies"),
    [
        (Event(1.0, validator=5), Event(2.0, text=2, validator=5), 1),
        (Event(1.0, validator=5), Event(2.0, text=2, validator=6), 0),
        (Event(1.0, validator=5), Event(2.0, payload=9, validator=5), 0),
        (Event(1.0), Event(2.0, text=2), 0),
    ],
    ids=["another text", "another validator", "the same text", "no validator"],
)
def test_a_text_that_changes_under_its_validator_is_a_lie(before: Event, after: Event, lies: int) -> None:
    assert site_after(before, after, pages=unread_pages())["lies"] == lies


@pytest.mark.parametrize(("pages", "changed", "visits"), [(250, 200, 0), (250, 100, 250), (150, 150, 150)])
def test_a_change_of_the_template_is_no_evidence(pages: int, changed: int, visits: int) -> None:
    crawl = [Event(3.0, page=page, text=1 + (page < changed)) for page in range(pages)]
    folded = fold(live_pages(pages), SiteColumns.unseen(1), events_of(crawl))
    assert int(folded.pages.visits.sum()) == visits
    assert folded.counts["changed"] == changed
    assert (folded.pages.read_day == START + 3.0).all()
    assert int((folded.pages.text_hash == 2).sum()) == changed


def test_a_site_is_slowed_once_a_crawl_and_wins_its_pace_back() -> None:
    refused = [Event(1.0 + page / 1_000, Answer.THROTTLED, page=page, crawl=1) for page in range(9)]
    assert site_after(*refused, pages=live_pages(9))["pace"] == 0.5
    again = Event(1.1, Answer.THROTTLED, page=0, crawl=2)
    assert 0.25 < site_after(*refused, again, pages=live_pages(9))["pace"] < 0.35
    late = Event(9.0, Answer.THROTTLED, page=0, crawl=2)
    assert site_after(*refused, late, pages=live_pages(9))["pace"] == 0.5


def test_events_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="time order"):
        fold(live_pages(2), SiteColumns.unseen(1), events_of([Event(2.0, page=0), Event(1.0, page=1)]))


PAGES, SITES = 6, 2
visits = st.builds(
    Event,
    day=st.sampled_from([0.0, 0.25, 0.25, 1.0, 30.0]),  # since the event before
    answer=st.sampled_from([*[Answer.CONTENT] * 4, *Answer]),
    text=st.integers(1, 3),
    payload=st.integers(0, 3),
    validator=st.integers(0, 2),
    page=st.integers(0, PAGES - 1),
    changed_days_ago=st.sampled_from([np.nan, 0.1]),
)
crawls = st.lists(st.lists(visits, min_size=1, max_size=6), min_size=1, max_size=8)


def timed(history: Sequence[Sequence[Event]]) -> list[EventColumns]:
    """Give crawls their numbers, and events their times: one after the other."""
    day, made = 0.0, []
    for number, crawl in enumerate(history):
        columns = events_of(crawl)
        steps = np.cumsum([event.day for event in crawl]) + day
        day = float(steps[-1])
        columns.day[:] = START + steps
        columns.crawl[:] = number
        made.append(columns)
    return made


def joined(parts: Sequence[EventColumns]) -> EventColumns:
    """Give all events in one."""
    return EventColumns(*(np.concatenate([getattr(part, name) for part in parts]) for name in EventColumns.dtypes()))


@settings(max_examples=50, deadline=None)
@given(crawls, st.sets(st.integers(1, 7)))
@example([[Event(1.0, text=text, page=page) for page in range(PAGES)] for text in (1, 2, 2, 3)], {1, 2, 3})
def test_a_history_folds_to_the_same_state_in_any_pieces(history: Sequence[Sequence[Event]], cuts: set[int]) -> None:
    crawl_events = timed(history)
    pages, sites = unread_pages(PAGES, sites=SITES), SiteColumns.unseen(SITES)
    whole = fold(pages, sites, joined(crawl_events))
    edges = [0, *sorted(cut for cut in cuts if cut < len(crawl_events)), len(crawl_events)]
    for start, end in pairwise(edges):
        part = joined(crawl_events[start:end])
        # As the asset does: only the rows that the events touch are read and written.
        rows, part.page[:] = np.unique(part.page, return_inverse=True)
        folded = fold(pages.take(rows), sites, part)
        pages.put(rows, folded.pages)
        sites = folded.sites
    assert same(pages, whole.pages)
    assert same(sites, whole.sites)
    now = prices(sites=SITES)
    assert due_days(pages, sites, now).tobytes() == due_days(whole.pages, whole.sites, now).tobytes()

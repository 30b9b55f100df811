"""Folding crawls into the schedule of a site: which event is about which row. What an event does stands in ``fold``."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan

import numpy as np

from assets.recrawl.columns import Answer, EventColumns
from assets.recrawl.fold import MOST_SIGNALS, fold
from assets.recrawl.history import CrawlHistory, PageId, TextHashes, Told, Visit, hash_of
from assets.recrawl.pings import Ping
from assets.recrawl.rows import Schedule
from assets.recrawl.signals import DatedEntries, hear
from assets.schemas.recrawl import KIND_PAGE, KIND_SITEMAP

_READS = frozenset({Answer.CONTENT, Answer.NOT_MODIFIED, Answer.REDIRECT})


def page_numbers(schedule: Schedule) -> dict[PageId, int]:
    """Give the row of each page."""
    return {page: row for row, page in enumerate(zip(schedule.kinds, schedule.url_keys, strict=True))}


def fold_crawl(
    schedule: Schedule, numbers: dict[PageId, int], crawl: CrawlHistory, texts: TextHashes
) -> tuple[Schedule, Mapping[str, int]]:
    """Give the schedule after one more crawl, and what was counted; new pages are added, to ``numbers`` too.

    Args:
        schedule: after all crawls before.
        numbers: row of each page.
        crawl: the next one.
        texts: of all payloads in it that differ from those in the schedule.
    """
    signalled = _signals(schedule, numbers, crawl.told)
    new = [(_pinged_page(numbers, ping), ping.url, ping.day) for ping in crawl.pings]
    new += [(visit.page, visit.url, visit.day) for visit in crawl.visits]
    new += [(found.page, found.url, found.day) for found in crawl.found]
    schedule = _with_pages(schedule, numbers, new)
    signalled += [(row, ping.day, Answer.SIGNAL, 0, 0, 0) for row, ping in _unanswered(schedule, numbers, crawl.pings)]
    # After the visit of the same moment, for sorting leaves equals as they are.
    retired = [(numbers[page], day, Answer.RETIRED, 0, 0, 0) for page, day in crawl.retired if page in numbers]
    events = sorted(
        [*_visits(schedule, numbers, crawl.visits, texts), *signalled, *retired], key=lambda event: (event[1], event[0])
    )
    counts: Mapping[str, int] = {}
    if events:
        columns = _columns(events)
        # Only the rows that the events touch are copied.
        rows, columns.page[:] = np.unique(columns.page, return_inverse=True)
        folded = fold(schedule.pages.take(rows), schedule.site, columns)
        schedule.pages.put(rows, folded.pages)
        schedule, counts = replace(schedule, site=folded.sites), folded.counts
    for visit in crawl.visits:
        if visit.answer in _READS:
            schedule.urls[numbers[visit.page]] = visit.url
    for told in crawl.told:
        if (row := numbers.get((KIND_PAGE, told.url_key))) is not None:
            schedule.lastmod_day[row] = told.lastmod_day
    pings_folded = schedule.pings_folded + len(crawl.pings)
    return replace(schedule, folded_through=crawl.crawl_id, pings_folded=pings_folded), counts


def hear_pings(schedule: Schedule, pings: Sequence[Ping]) -> Schedule:
    """Give a schedule to plan with: pings that no crawl began after count as signals, and what they name is known.

    The state itself stays as it is: they are folded with the next crawl.
    """
    numbers = page_numbers(schedule)
    folded = len(schedule.urls)
    new = [(_pinged_page(numbers, ping), ping.url, ping.day) for ping in pings]
    schedule = _with_pages(replace(schedule, pages=schedule.pages.copy()), numbers, new)
    counts = np.zeros(len(schedule.urls), np.int64)
    for row, _ in _unanswered(schedule, numbers, pings):
        counts[row] += 1
    signals = np.minimum(schedule.pages.signals + counts, MOST_SIGNALS)
    counts = signals - schedule.pages.signals
    schedule.pages.signals[:] = signals
    return replace(schedule, pings=counts, only_pinged=np.arange(len(counts)) >= folded)


def _pinged_page(numbers: Mapping[PageId, int], ping: Ping) -> PageId:
    """Give the page that a ping is about: a feed or sitemap when that is what is known under its address."""
    page, sitemap = (KIND_PAGE, ping.url_key), (KIND_SITEMAP, ping.url_key)
    return sitemap if sitemap in numbers and page not in numbers else page


def _unanswered(schedule: Schedule, numbers: Mapping[PageId, int], pings: Sequence[Ping]) -> Iterator[tuple[int, Ping]]:
    """Give the pings, with the rows of their pages, that no visit has answered."""
    for ping in pings:
        row = numbers[_pinged_page(numbers, ping)]
        # One that came while a crawl was under way may be older than the visit to its page. NaN: never read.
        if not ping.day <= schedule.pages.read_day[row]:
            yield row, ping


# Row, day, answer, text, payload, validator.
_Event = tuple[int, float, Answer, int, int, int]


def _with_pages(schedule: Schedule, numbers: dict[PageId, int], named: Iterable[tuple[PageId, str, float]]) -> Schedule:
    """Add the pages that are new among those named, with the address and the day of the first naming."""
    new: dict[PageId, tuple[str, float]] = {}
    for page, url, day in named:
        if page not in numbers:
            new.setdefault(page, (url, day))
    numbers |= {page: len(schedule.urls) + offset for offset, page in enumerate(new)}
    return schedule.with_pages(
        [(*page, url) for page, (url, _) in new.items()], np.array([day for _, day in new.values()], float)
    )


def _visits(
    schedule: Schedule, numbers: Mapping[PageId, int], visits: Sequence[Visit], texts: TextHashes
) -> list[_Event]:
    events: list[_Event] = []
    pages = schedule.pages
    seen: dict[PageId, tuple[int, int]] = {}  # payload and text of the last whole visit in this crawl
    for visit in visits:
        if visit.answer is None:
            continue
        row = numbers[visit.page]
        payload = hash_of(visit.payload)
        text = 0
        if visit.answer is Answer.CONTENT:
            before = seen.get(visit.page) or (int(pages.payload_hash[row]), int(pages.text_hash[row]))
            text = before[1] if before[0] == payload else texts.get((visit.page[1], visit.payload), 0)
            text = text if visit.page[0] == KIND_PAGE else 0
        if visit.answer in (Answer.CONTENT, Answer.REDIRECT):
            seen[visit.page] = payload, text
        events.append((row, visit.day, visit.answer, text, payload, hash_of(visit.validator)))
    return events


def _signals(schedule: Schedule, numbers: Mapping[PageId, int], told: Sequence[Told]) -> list[_Event]:
    """Give the signals of what the sitemaps of a crawl told, heard before its visits."""
    files: dict[str, list[tuple[int, Told]]] = defaultdict(list)
    for entry in told:
        if (row := numbers.get((KIND_PAGE, entry.url_key))) is not None:
            files[entry.sitemap_url].append((row, entry))
    events: list[_Event] = []
    for entries in files.values():
        rows = np.array([row for row, _ in entries], np.int64)
        day = entries[0][1].read_day
        heard = hear(
            DatedEntries(
                lastmod_day=np.array([entry.lastmod_day for _, entry in entries]),
                span_days=np.array([float(entry.is_date) for _, entry in entries]),
                lastmod_before_day=schedule.lastmod_day[rows],
                read_day=schedule.pages.read_day[rows],
            ),
            day,
        )
        events += [(row, day, Answer.SIGNAL, 0, 0, 0) for row in rows[heard.signalled].tolist()]
    return events


def _columns(events: Sequence[_Event]) -> EventColumns:
    rows, days, answers, texts, payloads, validators = zip(*events, strict=True)
    return EventColumns(
        page=np.array(rows, np.int64),
        day=np.array(days, float),
        answer=np.array(answers, np.uint8),
        # One crawl at a time; a signal is nobody's visit, nor is a retirement.
        crawl=np.where(np.array(answers) >= Answer.SIGNAL, -1, 0).astype(np.int64),
        text_hash=np.array(texts, np.uint64),
        payload_hash=np.array(payloads, np.uint64),
        validator_hash=np.array(validators, np.uint64),
        # The dates that pages and sitemaps give serve as signals; as evidence they were worth next to nothing.
        changed_days_ago=np.full(len(events), nan),
    )

"""Folding crawls into the schedule of a site: which event is about which row. What an event does stands in ``fold``."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan

import numpy as np

from assets.recrawl.columns import Answer, EventColumns, PageColumns
from assets.recrawl.fold import fold
from assets.recrawl.history import CrawlHistory, PageId, TextHashes, Told, Visit, hash_of
from assets.recrawl.rows import Schedule
from assets.recrawl.signals import DatedEntries, hear
from assets.schemas.recrawl import KIND_PAGE

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
    schedule = _with_pages(schedule, numbers, crawl.visits)
    events = sorted(
        [*_visits(schedule, numbers, crawl.visits, texts), *signalled], key=lambda event: (event[1], event[0])
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
    return replace(schedule, folded_through=crawl.crawl_id), counts


# Row, day, answer, text, payload, validator.
_Event = tuple[int, float, Answer, int, int, int]


def _with_pages(schedule: Schedule, numbers: dict[PageId, int], visits: Sequence[Visit]) -> Schedule:
    new: dict[PageId, Visit] = {}
    for visit in visits:
        if visit.page not in numbers:
            new.setdefault(visit.page, visit)
    if not new:
        return schedule
    numbers |= {page: len(schedule.urls) + offset for offset, page in enumerate(new)}
    nowhere = np.zeros(len(new), np.int32)
    unread = PageColumns.unread(
        site=nowhere, section=nowhere.copy(), known_day=np.array([visit.day for visit in new.values()])
    )
    joined = {
        name: np.concatenate([getattr(schedule.pages, name), getattr(unread, name)]) for name in PageColumns.dtypes()
    }
    return replace(
        schedule,
        kinds=[*schedule.kinds, *(kind for kind, _ in new)],
        url_keys=[*schedule.url_keys, *(url_key for _, url_key in new)],
        urls=[*schedule.urls, *(visit.url for visit in new.values())],
        lastmod_day=np.concatenate([schedule.lastmod_day, np.full(len(new), nan)]),
        pages=PageColumns(*joined.values()),
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
        # One crawl at a time; a signal is nobody's visit.
        crawl=np.where(np.array(answers) == Answer.SIGNAL, -1, 0).astype(np.int64),
        text_hash=np.array(texts, np.uint64),
        payload_hash=np.array(payloads, np.uint64),
        validator_hash=np.array(validators, np.uint64),
        # The dates that pages and sitemaps give serve as signals; as evidence they were worth next to nothing.
        changed_days_ago=np.full(len(events), nan),
    )

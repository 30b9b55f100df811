"""Pages, sites and events in few words, for the tests of the recrawl room."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from assets.recrawl.columns import Answer, EventColumns, PageColumns, PageStatus, SiteColumns
from assets.recrawl.due import Prices

START = 20_000.0  # a UTC midnight


@dataclass(frozen=True, slots=True)
class Event:
    """One event; days since ``START``."""

    day: float
    answer: Answer = Answer.CONTENT
    text: int = 1
    payload: int = 0  # 0: as the text
    validator: int = 0
    page: int = 0
    crawl: int = 0
    changed_days_ago: float = nan


def events_of(events: Sequence[Event]) -> EventColumns:
    """Lay events out in columns."""
    return EventColumns(
        page=np.array([event.page for event in events], np.int64),
        day=np.array([START + event.day for event in events], float),
        answer=np.array([event.answer for event in events], np.uint8),
        crawl=np.array([event.crawl for event in events], np.int64),
        text_hash=np.array([event.text for event in events], np.uint64),
        payload_hash=np.array([event.payload or event.text for event in events], np.uint64),
        validator_hash=np.array([event.validator for event in events], np.uint64),
        changed_days_ago=np.array([event.changed_days_ago for event in events], float),
    )


def unread_pages(rows: int = 1, *, sites: int = 1) -> PageColumns:
    """Make pages that go round the sites, each site one section."""
    site = (np.arange(rows) % sites).astype(np.int32)
    return PageColumns.unread(site=site, section=site.copy(), known_day=np.full(rows, START))


def live_pages(rows: int = 1, *, sites: int = 1, **columns: Any) -> PageColumns:
    """Make pages that were read at ``START``, and set some of their columns."""
    pages = unread_pages(rows, sites=sites)
    pages.status[:] = PageStatus.LIVE
    pages.asked_day[:] = pages.read_day[:] = pages.whole_day[:] = START
    pages.text_hash[:] = pages.payload_hash[:] = 1
    for name, values in columns.items():
        getattr(pages, name)[:] = values
    return pages


def prices(*, sites: int = 1, theta_days: float = 2.0, section_rate: float = 0.1, mean_weight: float = 1.0) -> Prices:
    """Make the prices of sites with one section each."""
    return Prices(
        theta_days=np.full(sites, theta_days),
        min_interval_days=np.full(sites, 1 / 24),
        hub_stretch=np.ones(sites),
        section_rate=np.full(sites, section_rate),
        mean_weight=mean_weight,
    )


def same(left: PageColumns | SiteColumns, right: PageColumns | SiteColumns) -> bool:
    """Say whether all columns are the same to the last bit."""
    return all(getattr(left, name).tobytes() == getattr(right, name).tobytes() for name in left.dtypes())

"""Rows of the schedule tables as columns to compute on, and back. A round trip loses no bit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assets.recrawl.columns import Columns, Flags, Floats, PageColumns, PageStatus, Rows, SiteColumns
from assets.schemas import PAGE_SCHEDULE, UTC_TIME

STATUS_NAMES: Final = [status.name.lower() for status in PageStatus]
DAY_US: Final = 86_400_000_000
# Column of the table -> of PageColumns; the others have the same name.
_PAGE_TIMES: Final = {
    "known_at": "known_day",
    "asked_at": "asked_day",
    "read_at": "read_day",
    "whole_at": "whole_day",
    "gone_since": "gone_since_day",
}
_HASHES: Final = ("text_hash", "payload_hash", "validator_hash")
_PAGE_NUMBERS: Final = (
    *("weight", "fixed_interval_days", "max_interval_days", "evidence_changes", "evidence_days", "signals", "fails"),
    *("gone_visits", "visits", "changes"),
)
_SITE_TIMES: Final = {"reference_at": "reference_day", "paced_at": "pace_day"}


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is known of a site's pages, and which page is in which row."""

    kinds: list[str]
    urls: list[str]
    url_keys: list[str]
    lastmod_day: Floats
    pages: PageColumns
    site: SiteColumns  # one row
    folded_through: str = ""  # crawl id
    pings_folded: int = 0
    # Set by a plan alone, and taken out of what is stored as state.
    pings: Rows | None = None  # how many of each page's signals are pings that are not folded
    only_pinged: Flags | None = None  # pages that nothing but those pings names

    @classmethod
    def empty(cls) -> Self:
        """Make the schedule of a site of which nothing is known."""
        none = np.zeros(0, np.int32)
        pages = PageColumns.unread(site=none, section=none, known_day=np.zeros(0))
        return cls([], [], [], np.zeros(0), pages, SiteColumns.unseen(1))

    @classmethod
    def of(cls, page_rows: pa.Table, site_rows: pa.Table) -> Self:
        """Read it from rows of ``page_schedule`` and from the one row of ``site_schedule``.

        Rows that were not written together, for a run died between the two, are no schedule: it is empty then.
        """
        if site_rows["folded_through"].to_pylist() != (page_rows["folded_through"].unique().to_pylist() or [""]):
            return cls.empty()
        page_rows = page_rows.filter(pc.invert(page_rows["only_pinged"]))
        return cls(
            kinds=page_rows["kind"].to_pylist(),
            urls=page_rows["url"].to_pylist(),
            url_keys=page_rows["url_key"].to_pylist(),
            lastmod_day=days_of(page_rows["lastmod"]),
            pages=page_columns(page_rows, with_pings=False),
            site=site_columns(site_rows),
            folded_through=site_rows["folded_through"][0].as_py(),
            pings_folded=site_rows["pings_folded"][0].as_py(),
        )

    def with_pages(self, pages: Sequence[tuple[str, str, str]], known_day: Floats) -> Self:
        """Give the schedule with pages that nobody has asked for yet behind the others.

        Args:
            pages: kind, url_key and URL of each.
            known_day: when each was named first.
        """
        if not pages:
            return self
        nowhere = np.zeros(len(pages), np.int32)
        unread = PageColumns.unread(site=nowhere, section=nowhere.copy(), known_day=known_day)
        joined = {
            name: np.concatenate([getattr(self.pages, name), getattr(unread, name)]) for name in PageColumns.dtypes()
        }
        kinds, url_keys, urls = zip(*pages, strict=True)
        return replace(
            self,
            kinds=[*self.kinds, *kinds],
            url_keys=[*self.url_keys, *url_keys],
            urls=[*self.urls, *urls],
            lastmod_day=np.concatenate([self.lastmod_day, np.full(len(pages), np.nan)]),
            pages=PageColumns(*joined.values()),
        )

    def in_order(self) -> Self:
        """Give the pages in the order of their keys, so that sums over them do not depend on which was found first."""
        order = sorted(range(len(self.urls)), key=lambda row: (self.kinds[row], self.url_keys[row]))
        rows = np.array(order, np.int64)
        return replace(
            self,
            kinds=[self.kinds[row] for row in order],
            urls=[self.urls[row] for row in order],
            url_keys=[self.url_keys[row] for row in order],
            lastmod_day=self.lastmod_day[rows],
            pages=self.pages.take(rows),
            pings=None if self.pings is None else self.pings[rows],
            only_pinged=None if self.only_pinged is None else self.only_pinged[rows],
        )


def days_of(times: pa.ChunkedArray) -> Floats:
    """Give times as days since 1970; NaN for null."""
    return np.asarray(times.cast(pa.int64()).to_numpy(), float) / DAY_US


def times_of(days: Floats) -> pa.Array:
    """Give days since 1970 as times, to the microsecond; null for what is not finite."""
    known = np.isfinite(days)
    return pa.array(np.rint(np.where(known, days, 0.0) * DAY_US).astype(np.int64), mask=~known).cast(UTC_TIME)


def page_columns(rows: pa.Table, *, with_pings: bool = True) -> PageColumns:
    """Give the state of pages from their rows: of one site, each row a section of its own.

    Args:
        rows: of ``page_schedule``.
        with_pings: whether pings that are not folded count as signals, as they did in the plan.
    """
    given: dict[str, NDArray[Any]] = {
        "section": np.arange(rows.num_rows, dtype=np.int32),
        "status": pc.index_in(rows["status"], pa.array(STATUS_NAMES)).to_numpy(),
    }
    given |= {name: rows[name].to_numpy() for name in _PAGE_NUMBERS}
    if with_pings:
        given["signals"] = given["signals"] + rows["pings"].to_numpy()
    given |= {name: days_of(rows[column]) for column, name in _PAGE_TIMES.items()}
    given |= {name: rows[name].to_numpy().view(np.uint64) for name in _HASHES}
    return PageColumns.filled(rows.num_rows, _typed(PageColumns, given), {})


def site_columns(rows: pa.Table) -> SiteColumns:
    """Give the folded state of sites from rows of ``site_schedule``."""
    given = {column: rows[column].to_numpy() for column in SiteColumns.dtypes() if column in rows.column_names}
    given |= {name: days_of(rows[column]) for column, name in _SITE_TIMES.items()}
    return SiteColumns.filled(rows.num_rows, _typed(SiteColumns, given), {})


def page_rows(site: str, schedule: Schedule, sections: Sequence[str], **planned: Any) -> pa.Table:
    """Give the rows of ``page_schedule``.

    Args:
        site: their site.
        schedule: of the site.
        sections: section of each page.
        planned: the columns that a plan makes: ``in_links``, ``due_at``, ``rate_per_day``, ``section_rate_per_day``.
    """
    pages = schedule.pages
    fixed = pages.fixed_interval_days
    pings = np.zeros(len(pages), np.int64) if schedule.pings is None else schedule.pings
    columns: dict[str, Any] = {
        "site": [site] * len(pages),
        "url": schedule.urls,
        "url_key": schedule.url_keys,
        "kind": schedule.kinds,
        "section": list(sections),
        "status": np.array(STATUS_NAMES, object)[pages.status],
        "lastmod": times_of(schedule.lastmod_day),
        "folded_through": [schedule.folded_through] * len(pages),
        **{name: getattr(pages, name) for name in _PAGE_NUMBERS},
        "signals": pages.signals - pings,
        "pings": pings,
        "only_pinged": np.zeros(len(pages), bool) if schedule.only_pinged is None else schedule.only_pinged,
        **{column: times_of(getattr(pages, name)) for column, name in _PAGE_TIMES.items()},
        **{name: getattr(pages, name).view(np.int64) for name in _HASHES},
        "fixed_interval_days": pa.array(fixed, mask=np.isnan(fixed)),
        **planned,
    }
    return pa.table([pa.array(columns[field.name], field.type) for field in PAGE_SCHEDULE], schema=PAGE_SCHEDULE)


def site_state(sites: SiteColumns) -> dict[str, Any]:
    """Give the folded state of one site as columns of its row in ``site_schedule``."""
    times = {column: times_of(getattr(sites, name))[0].as_py() for column, name in _SITE_TIMES.items()}
    numbers = {name: getattr(sites, name)[0].item() for name in sites.dtypes() if name not in _SITE_TIMES.values()}
    return numbers | times


def _typed(kind: type[Columns], given: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: values.astype(kind.dtypes()[name]) for name, values in given.items()}

"""The crawl log: which crawl a site is in, and which of its stages are done. Table ``crawls``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.schemas import CRAWLS
from resources.ports import TableStore


class CrawlKind(StrEnum):
    """What a crawl is for; its first row in the log says it."""

    CRAWL = "started"  # the site from its seeds on
    REFRESH = "refresh_started"  # pages that are due, and what they newly link


FINISHED: Final = {
    CrawlKind.CRAWL: names.CRAWL_REPORT.to_user_string(),
    CrawlKind.REFRESH: names.REFRESH_REPORT.to_user_string(),
}
SEED_CHECK: Final = names.SEED_CHECK.to_user_string()
# A seed check this young need not be repeated when its crawl was interrupted before the first frontier.
SEED_CHECK_KEEPS: Final = timedelta(hours=1)
REFRESH_KEEPS: Final = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class CrawlState:
    """One crawl of one site, as far as it has come."""

    kind: CrawlKind
    crawl_id: str
    started_at: datetime
    stages: Mapping[str, Mapping[str, Any]]  # stage -> its newest row

    @property
    def is_finished(self) -> bool:
        """Whether the crawl report was made."""
        return FINISHED[self.kind] in self.stages

    @property
    def finished(self) -> Mapping[str, Any] | None:
        """The row of the crawl report, once there is one."""
        return self.stages.get(FINISHED[self.kind])


def new_crawl_id(now: datetime) -> str:
    """Name a crawl by its UTC start, to the millisecond.

    >>> new_crawl_id(datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC))
    '20260102T030405678Z'
    """
    return now.astimezone(UTC).strftime("%Y%m%dT%H%M%S%f")[:-3] + "Z"


def latest_crawl(tables: TableStore, site: str, kind: CrawlKind = CrawlKind.CRAWL) -> CrawlState | None:
    """Give the newest crawl of a kind of a site, finished or not."""
    return _newest(tables.read(names.T_CRAWLS, sites=[site]), kind).get(site)


def latest_crawls(tables: TableStore) -> dict[str, CrawlState]:
    """Give the newest crawl of every site; refreshes are none."""
    return _newest(tables.read(names.T_CRAWLS), CrawlKind.CRAWL)


def report_before(tables: TableStore, site: str, crawl_id: str) -> Mapping[str, Any] | None:
    """Give the row of the newest crawl report of earlier crawls that went well; None when there is none."""
    where = (pc.field("stage") == FINISHED[CrawlKind.CRAWL]) & (pc.field("outcome") == "ok")
    where &= pc.field("crawl_id") < crawl_id
    rows: list[dict[str, Any]] = tables.read(names.T_CRAWLS, sites=[site], where=where).to_pylist()
    return max(rows, key=lambda row: (row["crawl_id"], row["at"]), default=None)


def refresh_to_carry_on(latest: CrawlState | None, *, now: datetime) -> CrawlState | None:
    """Decide whether a refresh carries on the one it finds; an old one is left, since other pages are due by now."""
    if latest is None or latest.is_finished or now - latest.started_at >= REFRESH_KEEPS:
        return None
    return latest


def crawl_to_carry_on(latest: CrawlState | None, *, now: datetime, new_crawl: bool) -> CrawlState | None:
    """Decide whether a run that begins at the seeds carries on the crawl it finds; None begins a new one.

    An interrupted crawl is carried on, so that nothing stored is fetched twice. One that ended before its first
    frontier holds no more than a seed check, which is repeated unless it is young.
    """
    if latest is None or new_crawl or latest.is_finished:
        return None
    if names.depth(0).frontier.to_user_string() in latest.stages or now - latest.started_at < SEED_CHECK_KEEPS:
        return latest
    return None


def mark(
    tables: TableStore,
    *,
    site: str,
    crawl_id: str,
    stages: Sequence[str],
    at: datetime,
    run_id: str,
    max_depth: int,
    outcome: str = "ok",
    reason: str = "",
    rows_in: int = 0,
    rows_out: int = 0,
) -> None:
    """Write down that stages are done, in one commit."""
    rows = [
        {
            "site": site,
            "crawl_id": crawl_id,
            "stage": stage,
            "at": at,
            "run_id": run_id,
            "outcome": outcome,
            "reason": reason,
            "rows_in": rows_in,
            "rows_out": rows_out,
            "max_depth": max_depth,
        }
        for stage in stages
    ]
    tables.append(names.T_CRAWLS, pa.Table.from_pylist(rows, schema=CRAWLS))


def _newest(crawls: pa.Table, kind: CrawlKind) -> dict[str, CrawlState]:
    by_crawl: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in crawls.sort_by("at").to_pylist():
        by_crawl.setdefault((row["site"], row["crawl_id"]), []).append(row)
    # Sorted by site and crawl_id, the newest crawl of a site comes last and stays.
    return {
        site: CrawlState(kind, crawl_id, rows[0]["at"], {row["stage"]: row for row in rows})
        for (site, crawl_id), rows in sorted(by_crawl.items(), key=lambda entry: entry[0])
        if any(row["stage"] == CrawlKind.REFRESH for row in rows) == (kind is CrawlKind.REFRESH)
    }

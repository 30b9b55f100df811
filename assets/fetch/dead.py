"""Pages that fail crawl after crawl are asked rarely; those that a crawl had to leave come first in the next one. Pure.

Retries within one crawl belong to ``judge``. What deletes a page that is gone is no matter of this module.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.fetch.outcome import FetchOutcome

FAILURES_UNTIL_DEAD: Final = 3  # crawls in a row
RESTS: Final = (timedelta(days=7), timedelta(days=30), timedelta(days=90))  # after the third, fourth, later failure
FIRST_IN_LINE: Final = 1000.0  # more priority than a frontier gives

END_COLUMNS: Final = ("crawl_id", "origin_key", "outcome", "reason", "requested_at")
_PUT_OFF: Final = "failed in"  # how the reason of a dead page begins

FAILURES: Final = frozenset(
    {
        FetchOutcome.CLIENT_ERROR,
        FetchOutcome.SERVER_ERROR,
        FetchOutcome.TIMEOUT,
        FetchOutcome.NETWORK_ERROR,
        FetchOutcome.DNS_ERROR,
    }
)
# The page itself was not asked: neither a failure of it nor a sign of life.
_NOT_ASKED: Final = frozenset({FetchOutcome.DEFERRED, FetchOutcome.ROBOTS_UNREACHABLE})

_DEFERRED: Final = frozenset({FetchOutcome.DEFERRED})


@dataclass(frozen=True, slots=True)
class DeadPage:
    """A page that failed in several crawls running, and may not be asked before ``retry_at``."""

    failed_crawls: int
    retry_at: datetime

    @property
    def reason(self) -> str:
        """Say it to people."""
        return f"{_PUT_OFF} {self.failed_crawls} crawls running; asked again after {self.retry_at:%Y-%m-%d}"


def dead_pages(ends: pa.Table, *, now: datetime) -> dict[str, DeadPage]:
    """Give the pages to leave out of this crawl, by url_key of their frontier row.

    Args:
        ends: final rows of a site's pages in its earlier crawls, with ``END_COLUMNS``, in any order.
        now: pages whose rest is over by then are not given.
    """
    # Nearly all pages leave here: what follows goes through rows one by one.
    failed = ends.filter(_is_one_of(ends, FAILURES)).group_by("origin_key").aggregate([([], "count_all")])
    suspects = failed.filter(pc.field("count_all") >= FAILURES_UNTIL_DEAD)["origin_key"]
    asked = ends.filter(pc.and_not(pc.is_in(ends["origin_key"], suspects), _is_one_of(ends, _NOT_ASKED)))
    # By crawl, because two rows of one crawl are one failure.
    last_of_crawl: dict[tuple[str, str], tuple[str, datetime]] = {}
    for row in asked.select(END_COLUMNS).sort_by("requested_at").to_pylist():
        last_of_crawl[row["origin_key"], row["crawl_id"]] = row["outcome"], row["requested_at"]
    in_a_row: dict[str, tuple[int, datetime]] = {}
    for (key, _), (outcome, at) in sorted(last_of_crawl.items()):
        before = in_a_row.get(key, (0, at))[0]
        in_a_row[key] = (before + 1 if outcome in FAILURES else 0), at
    dead = {
        key: DeadPage(failures, tried_at + rest_after(failures))
        for key, (failures, tried_at) in in_a_row.items()
        if failures >= FAILURES_UNTIL_DEAD
    }
    return {key: page for key, page in dead.items() if now < page.retry_at}


def rest_after(failed_crawls: int) -> timedelta:
    """Say how long a page is left alone after so many failing crawls in a row.

    >>> [rest_after(failures).days for failures in (2, 3, 4, 5, 9)]
    [0, 7, 30, 90, 90]
    """
    if failed_crawls < FAILURES_UNTIL_DEAD:
        return timedelta(0)
    return RESTS[min(failed_crawls - FAILURES_UNTIL_DEAD, len(RESTS) - 1)]


def left_by_last_crawl(ends: pa.Table) -> set[str]:
    """Give the pages that the newest of these crawls deferred, by url_key of their frontier row.

    Not those that it put off because they are dead: they have no turn to make up for.

    Args:
        ends: as for ``dead_pages``.
    """
    last = ends.filter(pc.equal(ends["crawl_id"], pc.max(ends["crawl_id"])))
    put_off = pc.starts_with(last["reason"], _PUT_OFF)
    return set(last.filter(pc.and_not(_is_one_of(last, _DEFERRED), put_off))["origin_key"].to_pylist())


def _is_one_of(ends: pa.Table, outcomes: frozenset[FetchOutcome]) -> pa.ChunkedArray:
    return pc.is_in(ends["outcome"], pa.array(sorted(outcome.value for outcome in outcomes)))

"""Pings: what somebody told of pages outright, read back from the table. How they come into it: ``ping_intake``.

A ping belongs to the first crawl that began after it, and is folded with that. Until then it moves due times only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from assets import names
from assets.recrawl.columns import day_of
from resources.ports import TableStore


@dataclass(frozen=True, slots=True)
class Ping:
    """One page of one site that changed, or is new, as somebody said."""

    url_key: str
    url: str
    pinged_at: datetime
    source: str

    @property
    def day(self) -> float:
        """When, in days since 1970."""
        return day_of(self.pinged_at)

    def is_before(self, crawl_id: str) -> bool:
        """Say whether a crawl began after it; a crawl is called by its start."""
        return f"{self.pinged_at.astimezone(UTC):%Y%m%dT%H%M%S%f}" < crawl_id


def read_pings(tables: TableStore, site: str) -> list[Ping]:
    """Read the pings of a site in time order; each page once a source, for two runs may have read one file at once."""
    columns = ["url_key", "url", "pinged_at", "source"]
    rows = tables.read(names.T_PINGS, sites=[site], columns=columns).to_pylist()
    rows.sort(key=lambda row: (row["pinged_at"], row["url_key"], row["source"], row["url"]))
    first = {(row["source"], row["url_key"]): row for row in reversed(rows)}
    return sorted((Ping(**row) for row in first.values()), key=lambda ping: (ping.pinged_at, ping.url_key, ping.source))


def pings_until(pings: Sequence[Ping], crawl_id: str) -> int:
    """Count the pings, in time order, that came before a crawl; none before no crawl."""
    return sum(ping.is_before(crawl_id) for ping in pings)


def sites_to_plan(tables: TableStore, site_rows: pa.Table) -> Mapping[str, int]:
    """Give the sites with pings that their plan does not know of, and how many pings each has in all.

    Counted, not compared by time: a ping may be stored after a plan that was made later.

    Args:
        tables: the store.
        site_rows: ``site`` and ``pings_heard`` of ``site_schedule``.
    """
    rows = tables.read(names.T_PINGS, columns=["site", "url_key", "source"])
    distinct = set(zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True))
    counts = Counter(site for site, _, _ in distinct)
    heard = dict(zip(site_rows["site"].to_pylist(), site_rows["pings_heard"].to_pylist(), strict=True))
    return {site: counts[site] for site in sorted(heard) if counts[site] > heard[site]}

"""What a plan needs to know of a site besides its visits: links, the delay it asks for, requests sent lately."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.recrawl.columns import Rows
from resources.ports import TableStore

# Decided without asking anybody.
_NOT_SENT: Final = ["robots_denied", "out_of_scope", "private_address", "deferred", "robots_unreachable"]


def count_in_links(tables: TableStore, site: str, url_keys: Sequence[str]) -> Rows:
    """Give how many pages link each page, as the site map counted them."""
    rows = tables.read(names.T_SITE_MAP, sites=[site], columns=["url_key", "in_links"])
    counted = dict(zip(rows["url_key"].to_pylist(), rows["in_links"].to_pylist(), strict=True))
    return np.array([counted.get(key, 0) for key in url_keys], np.int64)


def crawl_delay_s(tables: TableStore, site: str) -> float:
    """Give the longest delay that the newest robots.txt of any of the site's hosts asks for; 0: none does."""
    rows = tables.read(names.T_ROBOTS, sites=[site], columns=["host_key", "fetched_at", "crawl_delay_s"]).to_pylist()
    newest = {row["host_key"]: row["crawl_delay_s"] for row in sorted(rows, key=lambda row: row["fetched_at"])}
    return max((delay for delay in newest.values() if delay), default=0.0)


def requests_sent(tables: TableStore, site: str, now: datetime) -> dict[str, int]:
    """Count the requests sent lately, of pages, robots.txt and sitemaps."""
    week = pc.field("requested_at") > pa.scalar(now - timedelta(days=7))
    rows = tables.read(
        names.T_FETCHES, sites=[site], columns=["requested_at"], where=week & ~pc.field("outcome").isin(_NOT_SENT)
    )
    in_a_day = pc.sum(pc.greater(rows["requested_at"], pa.scalar(now - timedelta(days=1)))).as_py() or 0
    return {"requests_24h": in_a_day, "requests_7d": rows.num_rows}

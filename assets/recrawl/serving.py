"""What others ask of a schedule: which pages to ask now, how many are due where, why a page is due when it is.

From rows of ``page_schedule`` and ``site_schedule`` alone, in the plan that was made with them.
"""

from dataclasses import dataclass
from datetime import datetime
from math import inf

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.recrawl.claim import claim
from assets.recrawl.columns import Floats, PageColumns, SiteColumns, day_of
from assets.recrawl.demand import Demand, demand_of
from assets.recrawl.due import Prices, worth_of
from assets.recrawl.explain import Explanation, explain
from assets.recrawl.outlook import DueOutlook
from assets.recrawl.pace import pace_at
from assets.recrawl.rows import days_of, page_columns, site_columns
from assets.schemas.columns import URL, URL_KEY, column
from resources.ports import TableStore

DUE_PAGES = pa.schema(
    [
        URL,
        URL_KEY,
        column("kind", pa.string(), "page or sitemap"),
        column("priority", pa.float64(), "higher is asked first"),
    ]
)


@dataclass(frozen=True, slots=True)
class SiteDue:
    """What a site has to do now, as far as its row tells."""

    site: str
    due: int  # pages
    waits_since: datetime | None  # when the first of them was due; None: nothing is
    theta_days: float  # what a due page is worth, at least
    requests_per_day: float  # its budget
    cap_per_day: float  # what its delay and its pace allow now
    planned_at: datetime


@dataclass(frozen=True, slots=True)
class PlannedPages:
    """Pages of one site in the plan that holds."""

    pages: PageColumns
    site: SiteColumns
    prices: Prices
    due_day: Floats  # infinite: never

    @classmethod
    def of(cls, page_rows: pa.Table, site_rows: pa.Table) -> "PlannedPages":
        """Read pages of a site, all or some, and its one row."""
        return cls(
            page_columns(page_rows),
            site_columns(site_rows),
            Prices(
                theta_days=_floats(site_rows, "theta_days"),
                min_interval_days=_floats(site_rows, "min_interval_days"),
                hub_stretch=_floats(site_rows, "hub_stretch"),
                section_rate=_floats(page_rows, "section_rate_per_day"),
                mean_weight=site_rows["mean_weight"][0].as_py(),
            ),
            np.nan_to_num(days_of(page_rows["due_at"]), nan=inf),
        )

    @property
    def demand(self) -> Demand:
        """What the pages want that are due by their worth."""
        return demand_of(self.pages, self.site, self.prices)


def due_pages(page_rows: pa.Table, site_rows: pa.Table, now: datetime, at_most: int, *, fill: bool = False) -> pa.Table:
    """Give the pages of a site to ask now, as ``claim`` chooses them, the most valuable first: ``DUE_PAGES``.

    Hubs and sitemaps are among them, and pages never read, whose value is 0.

    Args:
        page_rows: of the site in ``page_schedule``, all or those that are due.
        site_rows: its row in ``site_schedule``.
        now: the present.
        at_most: pages.
        fill: whether pages that are not due yet fill the rest.
    """
    if not site_rows.num_rows or not page_rows.num_rows:
        return DUE_PAGES.empty_table()
    planned = PlannedPages.of(page_rows, site_rows)
    value = worth_of(planned.pages, planned.site, planned.prices).value_days(planned.pages, day_of(now))
    rows = claim(planned.pages, planned.due_day, value, day=day_of(now), at_most=at_most, fill=fill)
    chosen = page_rows.take(rows)
    found = pa.table(
        [chosen["url"], chosen["url_key"], chosen["kind"], pa.array(value[rows], pa.float64())], schema=DUE_PAGES
    )
    return found.sort_by([("priority", "descending"), ("url_key", "ascending")])


def due_counts(site_rows: pa.Table, now: datetime) -> list[SiteDue]:
    """Say for each site how many pages are due, the sites with the most at stake first; sites without any are left out.

    Args:
        site_rows: of ``site_schedule``, all sites that are asked about; the pages are not looked at.
        now: the present.
    """
    day = day_of(now)
    columns = ["site", "planned_at", "first_due_at", "due_when_planned", "due_by_hour", "theta_days"]
    columns += ["requests_per_day", "cap_per_day"]
    pace = pace_at(_floats(site_rows, "pace"), days_of(site_rows["paced_at"]), day)
    found = []
    for row, share in zip(site_rows.select(columns).to_pylist(), pace.tolist(), strict=True):
        first = row["first_due_at"]
        outlook = DueOutlook(day_of(row["planned_at"]), day_of(first) if first else inf, tuple(row["due_by_hour"]))
        # By the hour alone, those that were overdue would come in over an hour.
        if due := max(outlook.due_at(day), row["due_when_planned"]):
            found.append(
                SiteDue(
                    site=row["site"],
                    due=due,
                    waits_since=first if first and first <= now else None,
                    theta_days=row["theta_days"],
                    requests_per_day=row["requests_per_day"],
                    cap_per_day=row["cap_per_day"] * share,
                    planned_at=row["planned_at"],
                )
            )
    return sorted(found, key=lambda site: (-site.due * min(site.theta_days, 1e6), site.site))


def explanation_of(tables: TableStore, site: str, url_key: str, now: datetime) -> Explanation | None:
    """Explain the schedule of a page; None when it has none."""
    page_rows = tables.read(names.T_PAGE_SCHEDULE, sites=[site], where=pc.field("url_key") == url_key).slice(0, 1)
    site_rows = tables.read(names.T_SITE_SCHEDULE, sites=[site])
    if not page_rows.num_rows or not site_rows.num_rows:
        return None
    planned = PlannedPages.of(page_rows, site_rows)
    return explain(planned.pages, planned.site, planned.prices, now)


def _floats(rows: pa.Table, name: str) -> Floats:
    return np.asarray(rows[name].to_numpy(), float)

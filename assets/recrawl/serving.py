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
    left: int  # requests of the day's budget that should be left by now
    spare: int  # of those: what came in since the plan, and may go to pages that are not due yet
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


def due_pages(page_rows: pa.Table, site_rows: pa.Table, now: datetime, at_most: int, *, fill_to: int = 0) -> pa.Table:
    """Give the pages of a site to ask now, as ``claim`` chooses them, the most valuable first: ``DUE_PAGES``.

    Hubs and sitemaps are among them, and pages never read, whose value is 0.

    Args:
        page_rows: of the site in ``page_schedule``: those that are due, and those that may fill.
        site_rows: its row in ``site_schedule``.
        now: the present.
        at_most: pages.
        fill_to: pages; while fewer are due, the most valuable of the others come early.
    """
    if not site_rows.num_rows or not page_rows.num_rows:
        return DUE_PAGES.empty_table()
    planned = PlannedPages.of(page_rows, site_rows)
    day = day_of(now)
    value = worth_of(planned.pages, planned.site, planned.prices).value_days(planned.pages, day)
    fill = int((planned.due_day <= day).sum()) < fill_to
    rows = claim(
        planned.pages,
        planned.due_day,
        value,
        day=day,
        at_most=min(at_most, fill_to) if fill else at_most,
        fill=fill,
        least_days=float(planned.prices.min_interval_days[0]),
    )
    chosen = page_rows.take(rows)
    found = pa.table(
        [chosen["url"], chosen["url_key"], chosen["kind"], pa.array(value[rows], pa.float64())], schema=DUE_PAGES
    )
    return found.sort_by([("priority", "descending"), ("url_key", "ascending")])


def due_counts(site_rows: pa.Table, now: datetime) -> list[SiteDue]:
    """Say for each site how many pages are due, the sites with the most at stake first.

    Sites that have nothing due and no budget to spare are left out.

    Args:
        site_rows: of ``site_schedule``, all sites that are asked about; the pages are not looked at.
        now: the present.
    """
    day = day_of(now)
    columns = ["site", "planned_at", "first_due_at", "due_when_planned", "due_by_hour", "theta_days"]
    columns += ["requests_per_day", "cap_per_day", "requests_24h"]
    pace = pace_at(_floats(site_rows, "pace"), days_of(site_rows["paced_at"]), day)
    found = []
    rows = zip(site_rows.select(columns).to_pylist(), pace.tolist(), spare_per_day(site_rows).tolist(), strict=True)
    for row, share, spare_a_day in rows:
        first = row["first_due_at"]
        outlook = DueOutlook(day_of(row["planned_at"]), day_of(first) if first else inf, tuple(row["due_by_hour"]))
        # By the hour alone, those that were overdue would come in over an hour.
        due = max(outlook.due_at(day), row["due_when_planned"])
        days = min(max(day - day_of(row["planned_at"]), 0.0), 1.0)
        budget = min(row["requests_per_day"], 1e9)
        # What was sent in the day before the plan falls out of the last 24 hours little by little. A crawl may send
        # more than the budget, and is none of its matter.
        left = int(budget - min(row["requests_24h"], budget) * (1 - days))
        spare = min(int(spare_a_day * days), left)
        if due or spare:
            found.append(
                SiteDue(
                    site=row["site"],
                    due=due,
                    left=left,
                    spare=spare,
                    waits_since=first if first and first <= now else None,
                    theta_days=row["theta_days"],
                    requests_per_day=row["requests_per_day"],
                    cap_per_day=row["cap_per_day"] * share,
                    planned_at=row["planned_at"],
                )
            )
    return sorted(found, key=lambda site: (-site.due * min(site.theta_days, 1e6), site.site))


def spare_per_day(site_rows: pa.Table) -> Floats:
    """Give the requests a day that each site may spend on pages before they are due: its budget, where it has one.

    A freshness target says when a visit is early enough: nothing is to spare. Nor is where recrawls are stopped.
    """
    budget, theta = _floats(site_rows, "requests_per_day"), _floats(site_rows, "theta_days")
    return np.where(np.isfinite(budget) & np.isfinite(theta) & (_floats(site_rows, "target_days") == 0), budget, 0.0)


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

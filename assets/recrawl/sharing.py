"""Sharing a budget with other sites: what each keeps in its row of ``site_schedule``, and a demand made of those.

A plan of one site looks at its own pages and at one row of each other site, never at their pages.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets.recrawl.budget import LEAST_THETA_DAYS, MOST_THETA_DAYS
from assets.recrawl.columns import Floats
from assets.recrawl.demand import Demand
from assets.recrawl.estimate import USUAL_RATE
from assets.recrawl.plan import Needs
from assets.recrawl.pool import PARENT_PAGES
from assets.recrawl.settings import HOUR_DAYS, BudgetSettings, SiteTerms, TermColumns
from resources.ports import SiteSettings

# Where nobody set a budget or target: a request a page so often, besides hubs and sitemaps.
DEFAULT_INTERVAL_DAYS: Final = 30.0
HUB_SHARE: Final = BudgetSettings(inf).hub_share
SITEMAP_MAX_DAYS: Final = 1.0
SITEMAP_SHARE: Final = 0.2  # most of a budget that goes to sitemaps only to read them daily
LEAST_DELAY_S: Final = 0.1  # of a server that may be asked without delay
_CURVE: Final = np.geomspace(LEAST_THETA_DAYS, MOST_THETA_DAYS, 97)
_LOG_CURVE: Final = np.log(_CURVE)


def cap_of(settings: SiteSettings, crawl_delay_s: float) -> float:
    """Give the requests a day that a site's delay allows, one after the other.

    Args:
        settings: its own.
        crawl_delay_s: the longest that its robots.txt asks for; 0: none.
    """
    return 86_400 / max(settings.min_delay_s, crawl_delay_s, LEAST_DELAY_S)


def sitemap_interval_days(
    settings: SiteSettings, sitemaps: int, pages: int, requests_per_day: float | None, others: pa.Table
) -> float:
    """Give the days after which a sitemap is read again at the latest: one, unless all of them would take too much.

    Args:
        settings: of the site.
        sitemaps: that it has.
        pages: that it has besides.
        requests_per_day: the global budget; None: there is none.
        others: rows of the sites that share it.
    """
    budgets = []
    if settings.requests_per_day is not None:
        budgets.append(settings.requests_per_day)
    elif requests_per_day is not None:
        everywhere = pages + sum(others["pages"].to_pylist())
        budgets.append(requests_per_day * pages / max(everywhere, 1))
    return max([SITEMAP_MAX_DAYS, *(sitemaps / max(SITEMAP_SHARE * budget, 1e-6) for budget in budgets)])


def terms_of(settings: SiteSettings, *, cap_per_day: float, pages: int, sitemaps: int, is_shared: bool) -> SiteTerms:
    """Give the terms of a site.

    Args:
        settings: its own.
        cap_per_day: requests that it takes now.
        pages: that it has, without sitemaps.
        sitemaps: that it has.
        is_shared: whether there is a global budget, of which a site without terms of its own has a share.
    """
    own = settings.requests_per_day
    if own is None and settings.freshness_target_days is None and not is_shared:
        hubs_per_day = len(settings.hubs) * 24 / settings.hub_every_hours
        own = max(pages / DEFAULT_INTERVAL_DAYS, hubs_per_day / HUB_SHARE, 1.0) + sitemaps / SITEMAP_MAX_DAYS
    return SiteTerms(
        cap_per_day=cap_per_day,
        requests_per_day=own,
        freshness_target_days=settings.freshness_target_days,
        min_interval_days=settings.min_recrawl_hours * HOUR_DAYS,
    )


def wanted_columns(terms: TermColumns, needs: Needs) -> dict[str, Any]:
    """Give what one site keeps for the plans of others, as columns of its row."""
    return {
        "wanted_own_budget": bool(terms.has_own[0]),
        "wanted_limit_per_day": float(terms.limit_per_day[0]),
        "wanted_first_per_day": float(needs.first_per_day[0]),
        "wanted_hubs_per_day": float(needs.hubs_per_day[0]),
        "wanted_curve": [float(needs.demand.per_day(np.array([theta]))[0]) for theta in _CURVE],
    }


@dataclass(frozen=True, slots=True)
class SharedDemand:
    """The demand of one site's pages, and of other sites by their curves; the one site comes first."""

    own: Demand
    curves: Floats  # logarithms of requests a day; a row a site, a column a theta

    @property
    def sites(self) -> int:
        """How many sites."""
        return 1 + len(self.curves)

    def per_day(self, theta_days: Floats) -> Floats:
        """Give the requests a day of each site; between the thetas of a curve it is nearly a power of theta."""
        place = np.log(np.clip(theta_days[1:], LEAST_THETA_DAYS, MOST_THETA_DAYS)) - _LOG_CURVE[0]
        place /= _LOG_CURVE[1] - _LOG_CURVE[0]
        left = np.clip(place.astype(np.int64), 0, len(_CURVE) - 2)
        rows, share = np.arange(len(self.curves)), place - left
        low, high = self.curves[rows, left], self.curves[rows, left + 1]
        return np.concatenate([self.own.per_day(theta_days[:1]), np.exp(low + (high - low) * share)])


def shared_demand(own: Demand, others: pa.Table) -> SharedDemand:
    """Put the demand of a site beside those that other sites keep in their rows."""
    curves = pc.list_flatten(others["wanted_curve"]).to_numpy().reshape(others.num_rows, len(_CURVE))
    return SharedDemand(own, np.log(np.maximum(curves, 1e-30)))


def shared_terms(own: TermColumns, needs: Needs, others: pa.Table) -> tuple[TermColumns, Floats]:
    """Give the terms of a site and of the others, and the requests a day that their hubs want."""

    def joined(first: Floats, column: str) -> Floats:
        return np.concatenate([first, others[column].to_numpy().astype(first.dtype)])

    terms = TermColumns(
        limit_per_day=joined(own.limit_per_day, "wanted_limit_per_day"),
        target_days=joined(own.target_days, "target_days"),
        has_own=np.concatenate([own.has_own, np.array(others["wanted_own_budget"].to_pylist(), bool)]),
        min_interval_days=joined(own.min_interval_days, "min_interval_days"),
        first_per_day=joined(needs.first_per_day, "wanted_first_per_day"),
    )
    return terms, joined(needs.hubs_per_day, "wanted_hubs_per_day")


def store_rate_of(others: pa.Table) -> float:
    """Give the mean change rate of a page in the other sites, drawn to the usual one where they are few."""
    pages = others["live_pages"].to_numpy().astype(float)
    rates = others["site_rate_per_day"].to_numpy().astype(float)
    return float((PARENT_PAGES * USUAL_RATE + (pages * rates).sum()) / (PARENT_PAGES + pages.sum()))


def global_budget(requests_per_day: float | None) -> float:
    """Give what there is in all: without a setting, each site has only its own limit."""
    return inf if requests_per_day is None else requests_per_day

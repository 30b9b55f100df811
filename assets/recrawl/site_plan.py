"""The plan of one site: its pages weighed, its share of the budget, when each page is due. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from assets.recrawl.budget import Allotment, allot
from assets.recrawl.columns import Flags, Floats, PageStatus, Rows, day_of
from assets.recrawl.due import Prices, due_days, worth_of
from assets.recrawl.importance import weights_of
from assets.recrawl.offer import offer_of_target
from assets.recrawl.outlook import outlooks
from assets.recrawl.pace import pace_at
from assets.recrawl.plan import Needs, needs_of
from assets.recrawl.rows import Schedule, page_rows, site_state, times_of
from assets.recrawl.sections import sections_of
from assets.recrawl.settings import BudgetSettings, TermColumns
from assets.recrawl.sharing import (
    global_budget,
    shared_demand,
    shared_terms,
    sitemap_interval_days,
    store_rate_of,
    terms_of,
    wanted_columns,
)
from assets.recrawl.trust import SignalTrust
from assets.schemas.recrawl import KIND_SITEMAP
from assets.url.key import KeyRules, url_key
from resources.ports import SiteSettings

SITEMAP_SECTION: Final = "sitemaps"


@dataclass(frozen=True, slots=True)
class SitePlan:
    """What holds for a site until its next plan."""

    schedule: Schedule
    sections: Sequence[str]  # of each page
    in_links: Rows  # of each page
    needs: Needs
    terms: TermColumns
    allotment: Allotment  # of the site, which comes first, and of those that share the budget
    prices: Prices
    due_day: Floats  # of each page

    def page_rows(self, site: str) -> pa.Table:
        """Give the rows of ``page_schedule``."""
        return page_rows(
            site,
            self.schedule,
            self.sections,
            in_links=self.in_links,
            due_at=times_of(self.due_day),
            rate_per_day=worth_of(self.schedule.pages, self.schedule.site, self.prices).rate,
            section_rate_per_day=self.prices.section_rate[self.schedule.pages.section],
        )

    @property
    def over_per_day(self) -> float:
        """Requests a day wanted beyond the budget, its own or the shared one, even at the longest intervals."""
        limit = float(self.terms.limit_per_day[0])
        parts = (self.allotment.per_day, self.allotment.first_per_day, self.allotment.hubs_per_day)
        got = sum(float(part[0]) for part in parts)
        return max(self.allotment.over_per_day, got - limit if got > limit * (1 + 1e-6) else 0.0)


def plan_site(
    schedule: Schedule,
    settings: SiteSettings,
    *,
    in_links: Rows,
    cap_per_day: float,
    now: datetime,
    requests_per_day: float | None,
    neighbours: pa.Table,
) -> SitePlan:
    """Plan a site; weights, intervals and sections are set in its schedule, in place.

    Args:
        schedule: its pages, in the order of their keys.
        settings: its own.
        in_links: of each page.
        cap_per_day: what its delay allows at full pace.
        now: when its pace is looked at.
        requests_per_day: the global budget; None: there is none.
        neighbours: rows of ``site_schedule`` of the other sites.
    """
    sitemap = is_sitemap(schedule)
    asked = sitemap & (schedule.pages.status != PageStatus.RETIRED)
    sitemaps, pages = int(asked.sum()), int((~sitemap).sum())
    others = neighbours.slice(0, 0) if requests_per_day is None else neighbours
    longest_days = sitemap_interval_days(settings, sitemaps, pages, requests_per_day, others)
    sections = _weighed(schedule, settings, in_links, sitemap, longest_days)
    pace = float(pace_at(schedule.site.pace, schedule.site.pace_day, day_of(now))[0])
    own = terms_of(
        settings,
        cap_per_day=cap_per_day * pace,
        pages=pages,
        sitemaps=sitemaps,
        is_shared=requests_per_day is not None,
    )
    terms = TermColumns.of([own])
    number = {name: row for row, name in enumerate(sorted(set(sections)))}
    schedule.pages.section[:] = [number[name] for name in sections]
    section_site = np.zeros(len(number), np.int32)
    rate = store_rate_of(neighbours)
    needs = needs_of(schedule.pages, schedule.site, section_site, terms.min_interval_days, rate)
    shared, hubs_per_day = shared_terms(terms, needs, others)
    budget = BudgetSettings(global_budget(requests_per_day))
    allotment = allot(shared_demand(needs.demand, others), hubs_per_day, shared, budget)
    prices = replace(needs.unpriced, theta_days=allotment.theta_days[:1], hub_stretch=allotment.hub_stretch[:1])
    due_day = due_days(schedule.pages, schedule.site, prices)
    return SitePlan(schedule, sections, in_links, needs, terms, allotment, prices, due_day)


def site_columns_of(plan: SitePlan, now: datetime) -> dict[str, Any]:
    """Give the columns of the site's row that follow from its plan and its state."""
    schedule, needs, allotment = plan.schedule, plan.needs, plan.allotment
    pages, theta = schedule.pages, float(allotment.theta_days[0])
    offer = offer_of_target(needs.demand, theta)
    outlook = outlooks(plan.due_day, pages.site, 1, day_of(now))[0]
    demand, first, hubs = (
        float(values[0]) for values in (allotment.per_day, allotment.first_per_day, allotment.hubs_per_day)
    )
    limit, target = float(plan.terms.limit_per_day[0]), float(plan.terms.target_days[0])
    trust = SignalTrust.of(schedule.site)
    visits = float((pages.weight * pages.visits).sum(dtype=np.float64))
    changes = float((pages.weight * pages.changes).sum(dtype=np.float64))
    return {
        "planned_at": now,
        "due_when_planned": int((plan.due_day <= day_of(now)).sum()),
        "folded_through": schedule.folded_through,
        "pings_folded": schedule.pings_folded,
        "pages": len(pages),
        "live_pages": int(((pages.status == PageStatus.LIVE) & ~is_sitemap(schedule)).sum()),
        "requests_per_day": limit if plan.terms.has_own[0] and not target else demand + first + hubs,
        "theta_days": theta,
        "target_days": target,
        "demand_per_day": demand,
        "first_per_day": first,
        "hubs_per_day": hubs,
        "hub_stretch": float(plan.prices.hub_stretch[0]),
        "min_interval_days": float(plan.prices.min_interval_days[0]),
        "mean_weight": plan.prices.mean_weight,
        "site_rate_per_day": float(needs.rates.site[0]),
        "expected_freshness": offer.freshness,
        "expected_age_days": offer.age_days,
        "fresh_at_visit": 1 - changes / visits if visits else None,
        "first_due_at": times_of(np.array([outlook.first_due_day]))[0].as_py(),
        "due_by_hour": list(outlook.due_by_hour),
        "signal_precision": float(trust.precision[0]),
        "signal_recall": float(trust.recall[0]),
        **wanted_columns(plan.terms, needs),
        **site_state(schedule.site),
    }


def _weighed(
    schedule: Schedule, settings: SiteSettings, in_links: Rows, sitemap: Flags, sitemap_days: float
) -> list[str]:
    """Set in place what the settings say of pages; give the section of each page."""
    rules = KeyRules.of(settings)
    hub_keys = frozenset(url_key(url, rules) for url in settings.hubs)
    pages = schedule.pages
    is_hub = np.array([key in hub_keys for key in schedule.url_keys], bool) & ~sitemap
    pages.weight[:] = weights_of(schedule.urls, schedule.url_keys, in_links, hub_keys, settings)
    pages.fixed_interval_days[:] = np.where(is_hub, settings.hub_every_hours / 24, np.nan)
    most = settings.max_recrawl_days
    pages.max_interval_days[:] = np.where(sitemap, min(sitemap_days, most), most)
    own = np.flatnonzero(~sitemap)
    found, section = sections_of([schedule.urls[row] for row in own])
    sections = [SITEMAP_SECTION] * len(pages)
    for row, number in zip(own.tolist(), section.tolist(), strict=True):
        sections[row] = found[number]
    return sections


def is_sitemap(schedule: Schedule) -> Flags:
    """Say which pages are sitemaps or feeds."""
    return np.array([kind == KIND_SITEMAP for kind in schedule.kinds], bool)

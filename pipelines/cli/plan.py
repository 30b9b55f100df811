"""The plan command: what a recrawl budget buys, and what a freshness target costs."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from assets import names
from assets.bars import bar
from assets.recrawl.explain import days_in_words
from assets.recrawl.offer import Offer, offer_of_budgets, offer_of_target
from assets.recrawl.serving import PlannedPages, due_counts
from pipelines.cli.parts import deployment_for
from pipelines.deployments import Deployment
from resources.errors import BadSettings

FACTORS: Final = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
DEFAULT_INTERVAL_DAYS: Final = 30.0  # of a site that has no requests to start from
_BAR_WIDTH: Final = 20


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A budget and what it buys."""

    what: str  # now, asked, target, or empty; "too little" where it cannot hold the longest intervals
    requests_per_day: float  # hubs among them
    offer: Offer


def print_plan(
    site: str | None,
    *,
    requests_per_day: float | None,
    freshness_target_days: float | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Print what budgets buy at one site, or how all sites stand.

    Raises:
        BadSettings: the site has no schedule, or a budget is asked about without a site.
    """
    deployment = deployment_for(store)
    console = Console(soft_wrap=True)
    if site is None:
        if requests_per_day is not None or freshness_target_days is not None:
            raise BadSettings("a budget or a target is asked of one site: say which with --site")
        _print_sites(deployment, console, as_json=as_json)
        return 0
    standing, rows = plan_of_site(deployment, site, requests_per_day, freshness_target_days)
    if as_json:
        plain = [{"what": row.what, **asdict(row.offer), "requests_per_day": row.requests_per_day} for row in rows]
        console.print_json(json.dumps(_finite({**standing, "budgets": plain})))
        return 0
    console.print(
        f"{site}: {standing['live_pages']} live pages; {standing['hubs_per_day']:.1f} requests a day go to hubs, "
        f"{standing['requests_7d'] / 7:.1f} a day were sent in the last week."
    )
    if not standing["live_pages"]:
        return 0
    console.print(_offers(rows))
    for row in rows:
        if row.what == "target":
            console.print(f"A target of {row.offer.theta_days:g} d costs {row.requests_per_day:.1f} requests a day.")
    return 0


def plan_of_site(
    deployment: Deployment, site: str, requests_per_day: float | None, freshness_target_days: float | None
) -> tuple[dict[str, Any], list[PlanRow]]:
    """Give how a site stands, and budgets with what each buys, the smallest first."""
    tables = deployment.tables
    site_rows = tables.read(names.T_SITE_SCHEDULE, sites=[site])
    if not site_rows.num_rows:
        raise BadSettings(f"{site!r} has no schedule yet: crawl it, or materialize {names.T_PAGE_SCHEDULE} for it")
    row = site_rows.to_pylist()[0]
    demand = PlannedPages.of(tables.read(names.T_PAGE_SCHEDULE, sites=[site]), site_rows).demand
    hubs, now = row["hubs_per_day"], row["demand_per_day"]
    base = now or row["live_pages"] / DEFAULT_INTERVAL_DAYS
    wanted = [("now" if factor == 1 and now else "", base * factor) for factor in FACTORS]
    if requests_per_day is not None:
        wanted.append(("asked", max(requests_per_day - hubs, 0.0)))
    offers = offer_of_budgets(demand, [budget for _, budget in wanted])
    rows = []
    for (what, budget), offer in zip(wanted, offers, strict=True):
        # Pages at their longest interval want more than that.
        is_too_little = offer.requests_per_day > budget * (1 + 1e-3)
        if what or not is_too_little:
            rows.append(PlanRow(what + (", too little" if is_too_little else ""), budget + hubs, offer))
    if freshness_target_days is not None:
        target = offer_of_target(demand, freshness_target_days)
        rows.append(PlanRow("target", target.requests_per_day + hubs, target))
    standing = {name: row[name] for name in ("site", "live_pages", "hubs_per_day", "requests_24h", "requests_7d")}
    return standing, sorted(rows, key=lambda row: row.requests_per_day)


def _offers(rows: list[PlanRow]) -> Table:
    table = Table()
    for heading in ("", "requests a day", "a page every", "fresh copies", "", "mean age", "asked again at age"):
        table.add_column(heading, justify="left" if not heading else "right")
    for row in rows:
        offer = row.offer
        table.add_row(
            row.what,
            f"{row.requests_per_day:,.1f}",
            _words(offer.median_interval_days),
            f"{offer.freshness:.1%}",
            bar(offer.freshness, _BAR_WIDTH),
            _words(offer.age_days),
            _words(offer.theta_days),
            style="bold" if row.what else "",
        )
    return table


def _print_sites(deployment: Deployment, console: Console, *, as_json: bool) -> None:
    site_rows = deployment.tables.read(names.T_SITE_SCHEDULE)
    due = {site.site: site.due for site in due_counts(site_rows, deployment.resources["clock"].now())}
    shown = ("site", "live_pages", "requests_per_day", "requests_7d", "theta_days", "target_days")
    columns = [*shown, "expected_freshness", "expected_age_days", "demand_per_day", "hubs_per_day"]
    rows = [
        {**row, "due_now": due.get(row["site"], 0)} for row in site_rows.select(columns).sort_by("site").to_pylist()
    ]
    if as_json:
        console.print_json(json.dumps(_finite(rows)))
        return
    if not rows:
        console.print("No site has a schedule yet. Begin with: isobath crawl https://docs.example.org/")
        return
    table = Table()
    for heading in (
        "site",
        "live pages",
        "due now",
        "budget a day",
        "sent a day",
        "fresh copies",
        "",
        "mean age",
        "at age",
    ):
        table.add_column(heading, justify="left" if heading in ("site", "") else "right")
    for row in rows:
        target = f" of {row['target_days']:g} d" if row["target_days"] else ""
        table.add_row(
            row["site"],
            f"{row['live_pages']:,}",
            f"{row['due_now']:,}",
            f"{row['requests_per_day']:,.1f}",
            f"{row['requests_7d'] / 7:,.1f}",
            f"{row['expected_freshness']:.1%}",
            bar(row["expected_freshness"], _BAR_WIDTH),
            _words(row["expected_age_days"]),
            _words(row["theta_days"]) + target,
        )
    console.print(table)


def _words(days: float) -> str:
    return days_in_words(days) if isfinite(days) else "never"


def _finite(value: Any) -> Any:
    """Put null where JSON has no number."""
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value

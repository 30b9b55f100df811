"""Checks of the schedule: that the budget holds the freshness that was asked for, and that no page is left alone."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets.derived import CheckResult
from assets.recrawl.columns import day_of
from assets.recrawl.offer import Offer
from assets.recrawl.rows import days_of
from assets.schemas.recrawl import KIND_PAGE

TARGET: Final = "budget_holds_target"
STARVED: Final = "nothing_starves"
DESCRIPTIONS: Final = {
    TARGET: "The budget is enough for the freshness target, and to read every page within its longest interval.",
    STARVED: "Every live page was read within its longest interval.",
}
GRACE_DAYS: Final = 1.0  # a page that is due waits for the next run
_SHOWN: Final = 5


def target_check(site: Mapping[str, Any], target: Offer | None, over_per_day: float) -> CheckResult:
    """Say whether the budget holds the freshness target.

    Args:
        site: row of ``site_schedule``.
        target: what the target costs; None: there is none.
        over_per_day: requests wanted beyond the budget, its own or the shared one, even at the longest intervals.
    """
    metadata: dict[str, Any] = {"requests_per_day": site["requests_per_day"], "expected_age_days": site["theta_days"]}
    if over_per_day:
        metadata["missing_requests_per_day"] = over_per_day
        text = f"Every page within its longest interval takes {over_per_day:.1f} requests a day more than there are"
        return CheckResult(TARGET, False, f"{text}: raise the budget or max_recrawl_days.", metadata)
    if target is None:
        return CheckResult(TARGET, True, "No freshness target is set.", metadata)
    wanted = target.requests_per_day + site["first_per_day"] + site["hubs_per_day"]
    metadata |= {"target_days": site["target_days"], "target_requests_per_day": wanted}
    costs = f"A target of {site['target_days']:g} d takes {wanted:.1f} requests a day"
    if site["theta_days"] <= site["target_days"] * (1 + 1e-9):
        return CheckResult(TARGET, True, f"{costs}, and there are enough.", metadata)
    has = site["demand_per_day"] + site["first_per_day"] + site["hubs_per_day"]
    return CheckResult(
        TARGET, False, f"{costs}; the budget gives {has:.1f}, which holds {site['theta_days']:.2g} d.", metadata
    )


def starved_check(page_rows: pa.Table, hub_stretch: float, now: datetime) -> CheckResult:
    """Say whether a live page was left alone beyond its longest interval, of a hub: beyond its fixed one."""
    live = page_rows.filter((pc.field("status") == "live") & (pc.field("kind") == KIND_PAGE))
    fixed = live["fixed_interval_days"].to_numpy() * hub_stretch
    longest = np.fmin(fixed, live["max_interval_days"].to_numpy())
    late = day_of(now) - days_of(live["read_at"]) - longest - GRACE_DAYS
    # A page that fails or is not found rests by rules of its own.
    resting = (live["fails"].to_numpy() > 0) | (live["gone_visits"].to_numpy() > 0)
    starved = np.flatnonzero((late > 0) & ~resting)
    worst = starved[np.argsort(-late[starved], kind="stable")][:_SHOWN]
    metadata = {
        "live_pages": live.num_rows,
        "starved_pages": len(starved),
        "latest": [f"{live['url'][row]}: {late[row]:.1f} d late" for row in worst.tolist()],
    }
    if not len(starved):
        return CheckResult(STARVED, True, f"All {live.num_rows} live pages were read in time.", metadata)
    return CheckResult(
        STARVED,
        False,
        f"{len(starved)} of {live.num_rows} live pages wait beyond their longest interval: do refresh runs succeed?",
        metadata,
    )

"""The explanation of a schedule to people: why a page is due when it is."""

from dataclasses import dataclass, replace
from datetime import datetime
from math import isinf
from typing import Final

from assets.recrawl.columns import PageColumns, PageStatus, SiteColumns, day_of, time_of
from assets.recrawl.due import Prices, due_days, interval_days, worth_of

_NEAR_DAYS: Final = 6.0  # a weekday is unambiguous so far ahead


@dataclass(frozen=True, slots=True)
class Explanation:
    """One page's schedule in numbers, and in a sentence."""

    status: PageStatus
    visits: int
    changes: int
    rate_per_day: float
    section_rate_per_day: float
    interval_days: float  # without signals
    expected_age_days: float  # of our copy now
    allowed_age_days: float  # at which the page is due; infinite: recrawls are stopped
    signals: int
    due_at: datetime | None  # None: never
    sentence: str


def explain(page: PageColumns, sites: SiteColumns, prices: Prices, now: datetime) -> Explanation:
    """Explain the schedule of one page.

    Args:
        page: one row.
        sites: all rows that its ``site`` may point at.
        prices: of the plan that holds.
        now: the present.
    """
    worth = worth_of(page, sites, prices)
    due = float(due_days(page, sites, prices)[0])
    weight = float(worth.weight[0])
    made = Explanation(
        status=PageStatus(int(page.status[0])),
        visits=int(page.visits[0]),
        changes=int(page.changes[0]),
        rate_per_day=float(worth.rate[0]),
        section_rate_per_day=float(prices.section_rate[page.section[0]]),
        interval_days=float(interval_days(page, worth, prices)[0]),
        expected_age_days=float(worth.value_days(page, day_of(now))[0]) / weight,
        allowed_age_days=float(prices.theta_days[page.site[0]]) / weight,
        signals=int(page.signals[0]),
        due_at=None if isinf(due) else time_of(due),
        sentence="",
    )
    return replace(made, sentence=", ".join([*_reasons(made, page), _when(made.due_at, now)]))


def _reasons(made: Explanation, page: PageColumns) -> list[str]:
    fails, absences = int(page.fails[0]), int(page.gone_visits[0])
    if fails:
        return [f"failed {fails} {'time' if fails == 1 else 'times running'}"]
    if made.status is PageStatus.NEW:
        # No sitemap is heard on a page that was never read.
        pinged = ["pinged"] if made.signals else []
        return [*([f"not found {absences} times"] if absences else []), "never read", *pinged]
    if made.status is PageStatus.GONE:
        named = ["named again since"] if made.signals else []
        return [f"gone since {time_of(float(page.gone_since_day[0])):%Y-%m-%d}", *named]
    if made.status is PageStatus.BARRED:
        return ["may not be asked"]
    if made.status is PageStatus.RETIRED:
        return ["a dated sitemap that stands still"]
    if absences:
        return ["not found once, asked again before it counts as gone"]
    history = f"changed {made.changes} of {made.visits} visits" if made.visits else "not visited again yet"
    section = f"section changes every {days_in_words(1 / made.section_rate_per_day)}"
    signals = [f"{made.signals} change signal{'s' if made.signals > 1 else ''} since"] if made.signals else []
    if page.fixed_interval_days[0] > 0:
        return [history, f"a hub, visited every {days_in_words(made.interval_days)}", *signals]
    if isinf(made.allowed_age_days):
        return [history, section, *signals, "recrawls are stopped"]
    if made.interval_days >= float(page.max_interval_days[0]):
        return [history, section, *signals, f"at the longest interval of {days_in_words(made.interval_days)}"]
    age, allowed = days_in_words(made.expected_age_days), days_in_words(made.allowed_age_days)
    return [history, section, *signals, f"expected age {age} of {allowed} allowed"]


def _when(due_at: datetime | None, now: datetime) -> str:
    if due_at is None:
        return "not due"
    ahead = day_of(due_at) - day_of(now)
    if ahead < -1 / 24:
        return f"due since {days_in_words(-ahead)}"
    if ahead <= 0:
        return "due now"
    if ahead < 1:
        return f"due in {days_in_words(ahead)}"
    return f"due {due_at:%A}" if ahead < _NEAR_DAYS else f"due {due_at:%Y-%m-%d}"


def days_in_words(days: float) -> str:
    """Give a span of days as people say it.

    >>> [days_in_words(days) for days in (0.0004, 0.02, 0.3, 1.73, 41.2, 900.0)]
    ['1 min', '29 min', '7.2 h', '1.7 d', '41 d', '2.5 years']
    """
    if days < 1 / 24:
        return f"{max(round(days * 1440), 1)} min"
    if days < 1:
        return f"{days * 24:.1f} h"
    if days < 730:
        return f"{days:.1f} d" if days < 10 else f"{days:.0f} d"
    return f"{days / 365.25:.1f} years"

"""Settings of the schedule: limits that hold for all sites, and what each site asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Self

import numpy as np

from assets.recrawl.columns import Flags, Floats

HOUR_DAYS: Final = 1 / 24
MINUTE_DAYS: Final = 1 / 1440


@dataclass(frozen=True, slots=True)
class SiteTerms:
    """What one site asks for, and what it allows.

    A site with a budget or a target of its own is served from the global budget before the others.
    """

    cap_per_day: float = 86_400.0  # requests it allows; one a second unless its Crawl-delay is longer
    requests_per_day: float | None = None  # its own budget
    freshness_target_days: float | None = None  # expected age of a page of weight 1
    min_interval_days: float = HOUR_DAYS  # no page is due sooner
    first_per_day: float = 0.0  # requests that go to pages never read, as far as can be foreseen

    def __post_init__(self) -> None:
        if self.cap_per_day <= 0 or self.min_interval_days <= 0 or self.first_per_day < 0:
            raise ValueError(f"cap and interval must be positive: {self}")
        if self.requests_per_day is not None and self.requests_per_day < 0:
            raise ValueError(f"a budget cannot be negative: {self}")
        if self.freshness_target_days is not None and self.freshness_target_days <= 0:
            raise ValueError(f"a freshness target must be positive: {self}")


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The global budget, and the shares of it that are bounded."""

    requests_per_day: float  # over all sites; a hard limit
    first_share: float = 0.3  # most of it that goes to pages never read
    hub_share: float = 0.2  # most of it that goes to hubs; beyond, their intervals grow
    recrawl: bool = True  # False stops recrawls, not first fetches

    def __post_init__(self) -> None:
        if self.requests_per_day < 0:
            raise ValueError(f"a budget cannot be negative: {self}")
        if not (0 <= self.first_share <= 1 and 0 <= self.hub_share <= 1):
            raise ValueError(f"shares are 0..1: {self}")


@dataclass(frozen=True, slots=True)
class TermColumns:
    """The terms of all sites; one entry a site."""

    limit_per_day: Floats  # the smaller of cap and own budget
    target_days: Floats  # 0: none
    has_own: Flags  # a budget or a target of its own
    min_interval_days: Floats
    first_per_day: Floats

    @classmethod
    def of(cls, terms: Sequence[SiteTerms]) -> Self:
        """Lay terms out in columns."""
        own = [inf if term.requests_per_day is None else term.requests_per_day for term in terms]
        caps = [term.cap_per_day for term in terms]
        targets = [term.freshness_target_days or 0.0 for term in terms]
        return cls(
            limit_per_day=np.minimum(np.array(own, float), np.array(caps, float)),
            target_days=np.array(targets, float),
            has_own=(np.array(own, float) < inf) | (np.array(targets, float) > 0),
            min_interval_days=np.array([term.min_interval_days for term in terms], float),
            first_per_day=np.array([term.first_per_day for term in terms], float),
        )

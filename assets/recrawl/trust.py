"""Trust in change signals: how often a site's signals are right, and how many of its changes they tell of."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from assets.recrawl.columns import Floats, SiteColumns

MAX_PRECISION: Final = 0.98
MAX_RECALL: Final = 0.95
MAX_PENDING: Final = 6.0  # minus log of the chance that a page is unchanged: beyond, more signals add nothing


@dataclass(frozen=True, slots=True)
class SignalTrust:
    """What a site's signals are worth; one entry a site."""

    precision: Floats  # chance that a page changed when one signal says so
    recall: Floats  # share of its changes that are signalled; 0 where no signal ever came

    @classmethod
    def of(cls, sites: SiteColumns) -> Self:
        """Learn it from counts: a stranger is believed half of the time, and thought to tell of a quarter.

        >>> trust = SignalTrust.of(SiteColumns.unseen(1))
        >>> trust.precision.tolist(), trust.recall.tolist()
        ([0.5], [0.0])
        """
        hits, misses = sites.hits.astype(float), sites.misses.astype(float)
        recalled, unrecalled = sites.recalled.astype(float), sites.unrecalled.astype(float)
        recall = np.minimum((recalled + 0.5) / (recalled + unrecalled + 2), MAX_RECALL)
        return cls(
            precision=np.minimum((hits + 1) / (hits + misses + 2), MAX_PRECISION),
            recall=np.where(sites.signals > 0, recall, 0.0),
        )

    def pending(self, signals: Floats, site: np.typing.NDArray[np.int32]) -> Floats:
        """Give minus the log of the chance that signals since the last visit were all wrong; 0 without signals."""
        return np.minimum(-np.log1p(-self.precision)[site] * signals, MAX_PENDING)

"""Pace: how much of a site's cap may be used after it asked us to slow down. Halved, then won back by the hour."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assets.recrawl.columns import Answer, EventColumns, Floats, SiteColumns

RECOVERY_AN_HOUR: Final = 1.1
SLOWEST: Final = 1 / 64  # a site that never lets us in is asked now and then all the same


def pace_at(pace: Floats, pace_day: Floats, day: Floats | float) -> Floats:
    """Give the share of its cap that each site may be asked for at a time.

    >>> pace_at(np.array([0.5]), np.array([10.0]), 10.0 + 1 / 24).round(2).tolist()
    [0.55]
    """
    hours: Floats = np.clip(np.where(np.isnan(pace_day), 0, day - pace_day) * 24, 0, 1_000)
    return np.minimum(pace * np.power(RECOVERY_AN_HOUR, hours), 1.0)


def slowed(sites: SiteColumns, event_site: NDArray[np.int32], events: EventColumns) -> None:
    """Halve the pace of sites in place, once for each crawl in which they answered 429 or 503."""
    refused = np.flatnonzero(events.answer == Answer.THROTTLED)
    last_of_crawl: dict[tuple[int, int], float] = {}
    for site, crawl, day in zip(
        event_site[refused].tolist(), events.crawl[refused].tolist(), events.day[refused].tolist(), strict=True
    ):
        last_of_crawl[site, crawl] = day
    for (site, _), day in sorted(last_of_crawl.items(), key=lambda entry: (entry[1], entry[0])):
        now = pace_at(sites.pace[site : site + 1], sites.pace_day[site : site + 1], day)[0]
        sites.pace[site], sites.pace_day[site] = max(now / 2, SLOWEST), day

"""Leases: at most one run works on a site at any time."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a site, and until when unless it is renewed."""

    site: str
    owner: str
    expires_at: datetime


@runtime_checkable
class SiteLeases(Protocol):
    """Exclusive leases per site, kept in the store, so that they hold across machines."""

    def hold(self, site: str, owner: str) -> AbstractContextManager[Lease]:
        """Take the lease, keep it alive by a heartbeat inside the ``with``, and give it back at its end.

        A lease whose time is over is taken over. The same owner may not hold it twice.

        Raises:
            SiteBusy: another owner holds it; the message names the owner and the time left.
        """
        ...

    def holder(self, site: str) -> Lease | None:
        """Give the lease that somebody holds now; None when nobody does, or its time is over."""
        ...

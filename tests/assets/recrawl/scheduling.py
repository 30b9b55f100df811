"""Schedules made of visits that a test makes up, for the tests of the recrawl room."""

from datetime import timedelta
from typing import Any

from assets.recrawl.schedule import SiteSchedule, schedule_of_site
from resources.ports import SiteSettings
from tests.support.hand_made_crawl import HOST, SITE
from tests.support.memory import MemoryTables
from tests.support.visit_history import VisitHistory, Walk

OTHER = "other.example"
SETTINGS = SiteSettings(SITE, hubs=(f"{HOST}/docs/a",), min_delay_s=0)


def planned(tables: MemoryTables, history: VisitHistory, site: SiteSettings = SETTINGS, **how: Any) -> SiteSchedule:
    """Make the schedule, an hour after the last visit."""
    how = {"requests_per_day": None, "sharing": frozenset({SITE, OTHER}), **how}
    return schedule_of_site(site, tables, now=history.now + timedelta(hours=1), **how)


def schedule_after(*walks: Walk, site: SiteSettings = SETTINGS, **how: Any) -> tuple[MemoryTables, SiteSchedule]:
    """Make the schedule after some crawls."""
    tables = MemoryTables()
    history = VisitHistory(tables, SITE)
    for walk in walks:
        history.add(walk)
    return tables, planned(tables, history, site, **how)


def pages_of(result: SiteSchedule) -> dict[str, dict[str, Any]]:
    """Give the rows of the schedule by path."""
    return {row["url_key"].removeprefix(HOST): row for row in result.pages.to_pylist()}

"""The ground of a recrawl: what is asked of it, its clock, and the Isobath that a process builds in its folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import dagster as dg

from bench.recrawl_run.world import WorldSettings
from resources.ports import SiteSettings
from tests.support.clocks import ShiftedClock
from tests.support.rig import DictCatalog, Rig
from tests.support.s3 import make_store

BATCH_BYTES: Final = 512 * 1024 * 1024
QUIET: Final = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_HOME: Final = "home"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What is asked of a recrawl."""

    world: WorldSettings = field(default_factory=WorldSettings)
    requests_per_day: int = 200
    # A little more than a quarter of a day: what was asked four steps ago then is 24 hours ago, and its budget is back.
    step_hours: float = 6.1
    longest_days: float = 30.0  # that no page may be left alone for
    kill: bool = False  # the process of one run, in its middle

    def __post_init__(self) -> None:
        if self.requests_per_day < 1 or not 0 < self.step_hours <= 12 * self.world.days:
            raise ValueError(f"need a budget and several steps: {self}")
        if self.longest_days < self.round_days:
            raise ValueError(f"the budget cannot keep the longest interval: {self}")

    @property
    def round_days(self) -> float:
        """Days in which the budget lasts for each page once."""
        return self.world.pages / self.requests_per_day

    @property
    def longest_wait_days(self) -> float:
        """Days that a page may wait: all were read on the first day, so all may come due on the same one."""
        return self.longest_days + self.round_days


class ReckonedClock(ShiftedClock):
    """A shifted clock that another process can be told of."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead_s = 0.0

    def advance(self, **by: float) -> None:
        """Move it on; arguments as those of ``timedelta``."""
        super().advance(**by)
        self.ahead_s += timedelta(**by).total_seconds()


@contextmanager
def instance_in(folder: Path, *, is_shared: bool) -> Iterator[dg.DagsterInstance]:
    """Give a Dagster instance: one that other processes see too, or one of this process.

    Args:
        folder: where a shared one lies.
        is_shared: whether it is one.
    """
    home = folder / _HOME
    if is_shared:
        home.mkdir(exist_ok=True)
        (home / "dagster.yaml").write_text("telemetry:\n  enabled: false\n", encoding="utf-8")
    with dg.DagsterInstance.from_config(str(home)) if is_shared else dg.DagsterInstance.ephemeral() as instance:
        yield instance


def rig_in(
    folder: Path,
    instance: dg.DagsterInstance,
    clock: ShiftedClock,
    host: str,
    *,
    per_day: int,
    longest_days: float,
    batch_bytes: int = BATCH_BYTES,
) -> Rig:
    """Build an Isobath on the store of a folder, for one loopback site.

    Args:
        folder: where the store lies.
        instance: of Dagster.
        clock: what time it is.
        host: host and port of the site.
        per_day: its budget.
        longest_days: days that no page is left alone for.
        batch_bytes: of what it stores at once.
    """
    objects, tables, store = make_store("folder", folder)
    site = SiteSettings(
        host,
        seeds=(f"http://{host}/",),
        min_delay_s=0,
        allow_private_networks=True,
        requests_per_day=per_day,
        max_recrawl_days=longest_days,
        batch_max_bytes=batch_bytes,
    )
    return Rig(objects, tables, store, instance, catalog=DictCatalog({host: site}), clock=clock, max_depth=2)

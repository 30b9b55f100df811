"""One recrawl over simulated days: crawled by the real job, then refreshed whenever the real sensor asks for it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import dagster as dg

from bench.recrawl_run.ground import QUIET, ReckonedClock, RunSettings, instance_in, rig_in
from bench.recrawl_run.site import ChangingSite
from bench.recrawl_run.world import make_world
from pipelines.project import PROJECT
from resources.site_leases import SiteLeaseStore
from tests.support.rig import Rig, failure_sentence

LIFE_S: Final = 600.0  # of a process that shall be killed; it takes seconds


@dataclass
class Recrawl:
    """A recrawl under way, or at its end."""

    settings: RunSettings
    folder: Path
    rig: Rig
    clock: ReckonedClock
    site: ChangingSite
    runs: int = 0
    ticks: int = 0
    killed_on_day: float | None = None
    crawled: int = 0  # answers before the first day
    _run_keys: set[str] = field(default_factory=set)

    def crawl(self) -> None:
        """Crawl the site once; the days of its world begin at the end.

        Raises:
            RuntimeError: the run failed.
        """
        _must(self.rig.crawl(self.site.host))
        self.crawled = len(self.site.answers)
        self.site.begin()

    def live(self) -> Iterator[float]:
        """Turn the clock step by step until the days are over; give the day after each step.

        Raises:
            RuntimeError: a run failed.
        """
        step_days = self.settings.step_hours / 24
        steps = int(self.settings.world.days / step_days)
        definitions = self.rig.definitions()
        job = definitions.resolve_job_def("refresh_site")
        sensor = definitions.get_repository_def().get_sensor_def("recrawl_due_sites")
        for step in range(1, steps):
            # To the moment of the step: the time that runs take does not add up.
            self.clock.advance(days=step * step_days - self.site.day)
            for request in self._tick(sensor):
                self.runs += 1
                if self.settings.kill and self.killed_on_day is None and step >= steps // 2:
                    self._run_and_kill()
                else:
                    _must(
                        job.execute_in_process(
                            instance=self.rig.instance,
                            partition_key=request.partition_key,
                            tags=dict(request.tags),
                            run_config=QUIET,
                            raise_on_error=False,
                        )
                    )
            yield self.site.day

    def _tick(self, sensor: dg.SensorDefinition) -> list[dg.RunRequest]:
        """Ask the sensor; as the daemon does, pass over a run key that was used."""
        self.ticks += 1
        leases = SiteLeaseStore(self.rig.objects, self.clock)
        resources = {"tables": self.rig.tables, "clock": self.clock, "leases": leases}
        with dg.build_sensor_context(instance=self.rig.instance, resources=resources) as context:
            result = sensor(context)
        asked = list(result.run_requests or []) if isinstance(result, dg.SensorResult) else []
        new = [request for request in asked if request.run_key not in self._run_keys]
        self._run_keys.update(str(request.run_key) for request in new)
        return new

    def _run_and_kill(self) -> None:
        """Run a refresh in a process that is killed when the site has been asked half of what a step has for it."""
        settings = self.settings
        command = [sys.executable, "-m", "bench.recrawl_run.doomed", self.site.host, str(self.folder)]
        command += [str(settings.requests_per_day), str(settings.longest_days), str(self.clock.ahead_s)]
        process = subprocess.Popen(command, cwd=PROJECT)
        self.site.kill_at_request(process.pid, max(1, int(settings.requests_per_day * settings.step_hours / 48)))
        code = process.wait(LIFE_S)
        self.site.spare()
        if code == 0:
            return  # it had less to ask: the next one is killed
        if code != -signal.SIGKILL:
            raise RuntimeError(f"a run that should be killed ended with {code}")
        self.killed_on_day = self.site.day
        # A process that is killed cannot say that its run has failed; whoever watches runs does.
        for run in self.rig.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
            self.rig.instance.report_run_failed(run)


@contextmanager
def recrawl(settings: RunSettings, folder: Path) -> Iterator[Recrawl]:
    """Give a recrawl whose site is alive, before its first crawl.

    Args:
        settings: what is asked of it.
        folder: an empty one, for the store and, when a process shall be killed, for Dagster.
    """
    clock = ReckonedClock()
    site = ChangingSite(make_world(settings.world), clock)
    with site, instance_in(folder, is_shared=settings.kill) as instance:
        rig = rig_in(
            folder,
            instance,
            clock,
            site.host,
            per_day=settings.requests_per_day,
            longest_days=settings.longest_days,
        )
        yield Recrawl(settings, folder, rig, clock, site)


def _must(result: dg.ExecuteInProcessResult) -> None:
    if not result.success:
        raise RuntimeError(f"a run failed: {failure_sentence(result)}")

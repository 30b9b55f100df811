"""Several machines, played by processes: PostgreSQL, Redis, S3, a web server with its daemon, and two workers."""

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.project import PROJECT
from tests.support.loopback import LoopbackSite, Page
from tests.support.s3 import make_store
from tests.support.servers import postgres, redis
from tests.support.ui import DagsterUi

pytestmark = pytest.mark.slow

SITES = 2
PAGES = 6
SLOW_PAGES = 40
END_S = 240.0
LEASE_S = 8
UNPUBLISHED = 6  # pages of a batch of BATCH_BYTES, and of one on its way to the store
BATCH_BYTES = 2_000


def _site(pages: int) -> dict[str, Page | str | bytes]:
    links = "".join(f"<a href='/p{number}'>page {number}</a>" for number in range(pages))
    numbered = {f"/p{number}": f"<title>Page {number}</title><p>Text of page {number}." for number in range(pages)}
    return {"/": f"<title>Home</title>{links}", **numbered}


class Machines:
    """What all parts share, and the parts that were started."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = {**os.environ, **environment, "DAGSTER_HOME": str(folder / "home")}
        instance: dict[str, Any] = yaml.safe_load((PROJECT / "deploy" / "dagster.yaml").read_text())
        instance["run_launcher"]["config"]["lost_after_s"] = LEASE_S + 2.0
        instance["run_monitoring"]["poll_interval_seconds"] = 2
        (folder / "home").mkdir()
        (folder / "home" / "dagster.yaml").write_text(yaml.safe_dump(instance))

    def start(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        """Start a part in a session of its own."""
        program = str(Path(sys.executable).with_name(command[0]))
        with self.log(name).open("ab") as log:
            return subprocess.Popen(
                [program, *command[1:]],
                env=self._environment,
                cwd=PROJECT,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start a Celery worker."""
        command = ["celery", "-A", "pipelines.cluster", "worker", "-c", "1", "-n", f"{name}@%h", "-l", "INFO"]
        return self.start(name, command)

    def log(self, name: str) -> Path:
        """Give the file of what a part says."""
        return self._folder / f"{name}.txt"

    def runs_of(self, worker: str) -> int:
        """Count the runs that a worker was given."""
        return self.log(worker).read_text().count("] received")


@pytest.mark.usefixtures("s3_server")
def test_runs_spread_over_workers_and_a_killed_worker_s_run_is_taken_up(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("machines")
    with ExitStack() as stack:
        database = stack.enter_context(postgres())
        broker = stack.enter_context(redis())
        _, _, store = make_store("s3", folder)
        sites = [stack.enter_context(LoopbackSite(_site(PAGES))) for _ in range(SITES)]
        slow = stack.enter_context(LoopbackSite(_site(SLOW_PAGES)))
        listed = {
            site.host: {
                "min_delay_s": 0.4 if site is slow else 0,
                "allow_private_networks": True,
                "seeds": [site.url("/")],
                "batch_max_bytes": BATCH_BYTES,
            }
            for site in (*sites, slow)
        }
        (folder / "sites.yaml").write_text(yaml.safe_dump({"sites": listed}))
        machines = Machines(
            folder,
            {
                # SQLAlchemy would look for another driver.
                "ISOBATH_DAGSTER_POSTGRES": database.replace("postgresql:", "postgresql+psycopg2:"),
                "ISOBATH_BROKER": broker.replace("unix:", "redis+socket:"),
                "ISOBATH_STORE": store,
                "ISOBATH_SITES": str(folder / "sites.yaml"),
                "ISOBATH_LEASE_S": str(LEASE_S),
                "ISOBATH_WORKERS": "1",
                "ISOBATH_EMBEDDED_INDEX": "off",
                "ISOBATH_MAX_DEPTH": "1",
            },
        )
        workers = {name: machines.start_worker(name) for name in ("one", "two")}
        for process in workers.values():
            stack.callback(_end, process)
        ui = stack.enter_context(DagsterUi(lambda command: machines.start("ui", ["dagster", *command])))
        for site in (slow, *sites):
            ui.add_site(site.host)
        ended = ui.launch("crawl_site", slow.host)
        ui.await_that(lambda: len(slow.requests) > SLOW_PAGES // 4, END_S, "the slow crawl has begun")
        ui.terminate(ended)
        ui.await_that(lambda: ui.status(ended) == "CANCELED", END_S, "the slow crawl is terminated")
        given = {name: machines.runs_of(name) for name in workers}
        lost = ui.launch("crawl_site", slow.host)
        ui.await_that(lambda: len(slow.requests) > SLOW_PAGES // 2, END_S, "the slow crawl is carried on")
        killed = next(name for name in workers if machines.runs_of(name) > given[name])
        runs = [ui.launch("crawl_site", site.host) for site in sites]
        ui.await_that(lambda: all(map(machines.runs_of, workers)), END_S, "both workers have runs")
        _end(workers[killed])
        ui.await_that(lambda: ui.status(lost) == "FAILURE", END_S, "the run of the killed worker is given up")
        ui.await_that(lambda: all(ui.status(run) == "SUCCESS" for run in runs), END_S, "the other runs have ended")
        ui.await_that(lambda: _site(SLOW_PAGES).keys() <= set(slow.paths_seen()), END_S, "the slow crawl is taken up")
        for site in sites:
            assert max(Counter(site.paths_seen()).values()) == 1
            assert _site(PAGES).keys() <= set(site.paths_seen())
        pages = Counter(path for path in slow.paths_seen() if path in _site(SLOW_PAGES))
        # Asked again is only what was not yet published when its worker died.
        assert max(pages.values()) <= 2
        assert pages.total() - len(pages) <= UNPUBLISHED


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a part with all its processes, as when its machine is switched off."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(END_S)

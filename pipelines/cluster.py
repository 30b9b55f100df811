"""Several machines: Celery workers that carry out runs, and the launcher that gives them out and notices lost workers.

Needs the extra ``cluster``. ``deploy/`` shows how the parts are started; nothing else imports this module.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus
from dagster._grpc.types import ExecuteRunArgs, ResumeRunArgs
from dagster._serdes import ConfigurableClassData, unpack_value
from dagster_celery.config import TASK_EXECUTE_JOB_NAME, TASK_RESUME_JOB_NAME
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.make_app import make_app
from dagster_celery.tags import DAGSTER_CELERY_TASK_ID_TAG

QUEUE: Final = "dagster"
_ASK_S: Final = 5.0
_IN_HAND: Final = frozenset({"active", "reserved", "scheduled"})
_CELERY: Final[Mapping[str, Any]] = {
    # A run that is redelivered while it still runs would be marked as failed, and Redis redelivers what is not
    # acknowledged after an hour. So runs are acknowledged when they begin; lost ones are found by the launcher.
    "task_acks_late": False,
    # One worker must not hoard runs that an idle one could begin.
    "worker_disable_prefetch": True,
    "worker_prefetch_multiplier": 1,
    "worker_send_task_events": False,
    "broker_connection_retry_on_startup": True,
}


def celery_settings(broker: str) -> dict[str, Any]:
    """Give the settings of the Celery app, for its workers and for the launcher.

    Args:
        broker: URL of the broker, which keeps the results too, such as ``redis://host:6379/0``.
    """
    return {"broker": broker, "backend": broker, "config_source": dict(_CELERY), "task_default_queue": QUEUE}


class ClusterRunLauncher(CeleryRunLauncher):
    """Celery's run launcher that also notices when the worker of a run is gone.

    Celery remembers a run of a dead worker as started for ever. This launcher asks the workers: a run that none of
    them has had for ``lost_after_s`` is lost, and the monitor of Dagster's daemon ends it, so that it is retried.
    """

    def __init__(self, broker: str, lost_after_s: float, inst_data: ConfigurableClassData | None = None) -> None:
        """Connect to the broker.

        Args:
            broker: as in ``celery_settings``.
            lost_after_s: longer than a lease: the retry finds the sites of the lost run free.
            inst_data: how Dagster rebuilds the launcher.
        """
        settings = celery_settings(broker)
        super().__init__(
            default_queue=QUEUE,
            broker=settings["broker"],
            backend=settings["backend"],
            config_source=settings["config_source"],
            inst_data=inst_data,
        )
        self._lost_after_s = lost_after_s
        self._missing_since: dict[str, float] = {}  # Celery's task id -> when no worker had it first

    def terminate(self, run_id: str) -> bool:
        """Interrupt a run as Ctrl-C does: what it fetched is kept and its sites are freed."""
        run = self._instance.get_run_by_id(run_id)
        task = run.tags.get(DAGSTER_CELERY_TASK_ID_TAG) if run is not None else None
        if run is None or task is None:
            return False
        self._instance.report_run_canceling(run)
        self.celery.control.revoke(task, terminate=True, signal="SIGINT")
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Tell how the worker of a run is."""
        task = run.tags.get(DAGSTER_CELERY_TASK_ID_TAG)
        if task is None:
            return CheckRunHealthResult(WorkerStatus.UNKNOWN, "The run has no task.")
        health = super().check_run_worker_health(run)
        if health.status is not WorkerStatus.RUNNING or self._is_in_hand(task):
            self._missing_since.pop(task, None)
            return health
        missing_s = time.monotonic() - self._missing_since.setdefault(task, time.monotonic())
        if missing_s < self._lost_after_s:
            return health
        return CheckRunHealthResult(WorkerStatus.FAILED, f"No worker has had the run for {missing_s:.0f} s.")

    def _is_in_hand(self, task: str) -> bool:
        """Ask the workers whether one of them has a task."""
        said = self.celery.control.inspect(timeout=_ASK_S).query_task(task) or {}
        return any(tasks[task][0] in _IN_HAND for tasks in said.values() if task in tasks)

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Give the fields that ``dagster.yaml`` may set."""
        return {
            "broker": dg.Field(dg.StringSource, description="URL of the broker, such as redis://host:6379/0."),
            "lost_after_s": dg.Field(
                float, default_value=90.0, description="Seconds without a worker after which a run is lost."
            ),
        }

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        """Build from ``dagster.yaml``."""
        return cls(inst_data=inst_data, **config_value)


app = make_app(celery_settings(os.environ.get("ISOBATH_BROKER", "redis://127.0.0.1:6379/0")))  # type: ignore[no-untyped-call]


@app.task(name=TASK_EXECUTE_JOB_NAME, track_started=True)  # type: ignore[untyped-decorator]
def execute_job(execute_job_args_packed: Mapping[str, Any]) -> int:
    """Carry out a run; give the exit code of its process."""
    return _to_its_end(unpack_value(execute_job_args_packed, as_type=ExecuteRunArgs).get_command_args())


@app.task(name=TASK_RESUME_JOB_NAME, track_started=True)  # type: ignore[untyped-decorator]
def resume_job(execute_job_args_packed: Mapping[str, Any]) -> int:
    """Carry on a run; give the exit code of its process."""
    return _to_its_end(unpack_value(execute_job_args_packed, as_type=ResumeRunArgs).get_command_args())


def _to_its_end(command: Sequence[str]) -> int:
    """Do a run in a process of its own: Celery's may have no children, and this one's memory ends with the run."""
    with subprocess.Popen([sys.executable, "-m", *command]) as process:
        # How the launcher ends a run; Celery's processes ignore it otherwise.
        before = signal.signal(signal.SIGINT, lambda number, _: process.send_signal(number))
        try:
            return process.wait()
        finally:
            signal.signal(signal.SIGINT, before)

"""The Dagster UI of a test: web server and daemon as ``make ui`` starts them, asked through GraphQL."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from bench.kills.lives import command_line, session_members

START_S: Final = 120.0
STEP_S: Final = 0.1
_LOCATION: Final = {"repositoryLocationName": "isobath", "repositoryName": "__repository__"}
_LAUNCH: Final = """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
    ... on RunConfigValidationInvalid { errors { message } }
  }
}"""
_ADD: Final = """
mutation Add($repository: RepositorySelector!, $site: String!) {
  addDynamicPartition(repositorySelector: $repository, partitionsDefName: "sites", partitionKey: $site) {
    __typename
  }
}"""
_TERMINATE: Final = """
mutation Terminate($runId: String!) { terminateRun(runId: $runId) { __typename } }"""
_STATUS: Final = """
query Status($runId: ID!) { runOrError(runId: $runId) { ... on Run { status } } }"""


class DagsterUi:
    """A webserver and its daemon on a free port of this machine."""

    def __init__(self, start: Callable[[list[str]], subprocess.Popen[bytes]]) -> None:
        """Start them.

        Args:
            start: runs a command in a session of its own, with ``DAGSTER_HOME`` and the settings of a store.
        """
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self._port = taken.getsockname()[1]
        self._process = start(["dev", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(self._port)])

    def __enter__(self) -> Self:
        self.await_that(self._answers, START_S, "the UI is up")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        # Its code servers wait for half a minute whether it comes back.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)

    @property
    def address(self) -> str:
        """Give its URL, without a slash at the end."""
        return f"http://127.0.0.1:{self._port}"

    def add_site(self, site: str) -> None:
        """Add a partition, as the button of the UI does."""
        self.ask(_ADD, {"repository": _LOCATION, "site": site})

    def launch(self, job: str, site: str, run_config: Mapping[str, Any] | None = None) -> str:
        """Launch a job for a site; give the run's id."""
        params = {
            "selector": {**_LOCATION, "jobName": job},
            "runConfigData": run_config or {},
            "executionMetadata": {"tags": [{"key": "dagster/partition", "value": site}]},
        }
        answer = self.ask(_LAUNCH, {"params": params})["launchRun"]
        assert answer["__typename"] == "LaunchRunSuccess", answer
        run_id: str = answer["run"]["runId"]
        return run_id

    def terminate(self, run_id: str) -> None:
        """Terminate a run."""
        answer = self.ask(_TERMINATE, {"runId": run_id})["terminateRun"]
        assert answer["__typename"] == "TerminateRunSuccess", answer

    def status(self, run_id: str) -> str:
        """Give the status of a run."""
        status: str = self.ask(_STATUS, {"runId": run_id})["runOrError"]["status"]
        return status

    @property
    def run_processes(self) -> list[str]:
        """Name the processes of runs, which the code server spawns, and of their workers that are alive."""
        members = map(command_line, session_members(self._process.pid))
        return [called for called in members if "spawn_main" in called or "forkserver" in called]

    def await_that(self, holds: Callable[[], bool], within_s: float, what: str) -> None:
        """Wait until something holds.

        Raises:
            AssertionError: it does not within the time, or the process has ended.
        """
        deadline = time.monotonic() + within_s
        while not holds():
            assert self._process.poll() is None, f"the UI ended before {what}"
            assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
            time.sleep(STEP_S)

    def _answers(self) -> bool:
        try:
            return bool(self.ask("{ version }", {})["version"])
        except OSError:
            return False

    def ask(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Ask its GraphQL."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            body = json.dumps({"query": query, "variables": variables})
            connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        assert "errors" not in answer, answer
        data: dict[str, Any] = answer["data"]
        return data

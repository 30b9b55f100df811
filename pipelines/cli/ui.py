"""The ui command: the Dagster UI with its daemon, and the reports that its links lead to."""

import os
import subprocess
import sys
from pathlib import Path

from pipelines.cli.parts import deployment_for
from pipelines.deployments import REPORTS_PORT
from pipelines.project import PROJECT
from pipelines.report_server import ReportServer


def serve_ui(*, port: int, reports_port: int, store: str | None) -> int:
    """Run both until they are interrupted; give the exit code of Dagster.

    Raises:
        BadSettings: a setting is wrong, or the port of the reports is taken.
    """
    deployment = deployment_for(store)
    with ReportServer(deployment.objects, reports_port) as reports:
        environment = {**os.environ, "ISOBATH_STORE": deployment.settings.store}
        if reports_port != REPORTS_PORT:
            environment.setdefault("ISOBATH_REPORTS_URL", reports.url)
        command = [str(Path(sys.executable).with_name("dagster")), "dev", "-w", str(PROJECT / "workspace.yaml")]
        with subprocess.Popen([*command, "-h", "127.0.0.1", "-p", str(port)], env=environment, cwd=PROJECT) as process:
            while True:
                try:
                    return process.wait()
                except KeyboardInterrupt:
                    # The terminal told Dagster too: it ends by itself.
                    continue

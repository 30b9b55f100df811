"""The doctor command: looks at all that a crawl needs, and says what to do about what is not well."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape

from pipelines.cli import deployment_checks as parts
from pipelines.cli import machine_checks as machine
from pipelines.cli.doctor_findings import Finding, State, looked, problem
from pipelines.cli.exit_codes import FAILED
from pipelines.cli.parts import deployment_for
from pipelines.deployments import Deployment
from pipelines.project import PROJECT
from resources.errors import BadSettings

_COLOURS: Final = {State.OK: "green", State.WARNING: "yellow", State.PROBLEM: "red"}
_SERVER: Final = "see that it answers from this machine, and that the credentials of the environment are right"


def examine(*, store: str | None, port: int, as_json: bool) -> int:
    """Look at everything; print a line each, and give the exit code: 1 when there is a problem."""
    console = Console(soft_wrap=True)
    findings = []
    for finding in findings_of(store, port):
        findings.append(finding)
        if not as_json:
            _print(finding, console)
    counts = {state: sum(finding.state is state for finding in findings) for state in State}
    if as_json:
        console.print_json(json.dumps([asdict(finding) for finding in findings]))
    else:
        console.print(f"\n{counts[State.PROBLEM]} problems, {counts[State.WARNING]} warnings.", highlight=False)
    return FAILED if counts[State.PROBLEM] else 0


def findings_of(store: str | None, port: int) -> Iterator[Finding]:
    """Look at everything, the machine first; what takes long comes as it is found."""
    yield from machine.python_findings()
    yield from machine.package_findings(PROJECT / "requirements.lock")
    home = os.environ.get("DAGSTER_HOME", "")
    yield from looked("dagster home", lambda: machine.home_findings(home), "correct its dagster.yaml, or its database")
    yield from machine.port_findings(port)
    try:
        deployment = deployment_for(store)
    except BadSettings as error:
        yield problem("settings", str(error), "correct that variable; the other looks need it")
        return
    yield from _of_deployment(deployment, Path(home) if home else None)


def _of_deployment(deployment: Deployment, home: Path | None) -> Iterator[Finding]:
    settings, clock = deployment.settings, deployment.resources["clock"]
    local = None if settings.store.startswith("s3://") else Path(settings.store)
    folders = [folder for folder in (local, settings.index_folder, home) if folder is not None]
    yield from looked("disk", lambda: machine.disk_findings(folders), "see that these folders can be read")
    yield from machine.open_file_findings(settings.open_requests)
    store = list(looked("store", lambda: parts.store_findings(deployment.objects, clock), _SERVER))
    yield from store
    if all(finding.state is State.OK for finding in store):
        yield from looked("tables", lambda: parts.table_findings(deployment), "restore them, or begin a new store")
        yield from looked("clock", lambda: parts.clock_findings(deployment), _SERVER)
    sites = list(looked("sites", lambda: parts.site_findings(deployment), f"correct {settings.sites_file}"))
    yield from sites
    hosts = parts.hosts_of_sites(deployment) if all(one.state is not State.PROBLEM for one in sites) else []
    yield from machine.dns_findings(hosts, settings.proxy.host if settings.proxy else None)
    workers = deployment.resources["workers"]
    yield from looked("workers", lambda: parts.worker_findings(workers, clock), "lower ISOBATH_WORKERS, or add memory")
    yield from looked("index", lambda: parts.index_findings(deployment), "remove its folder: the feed fills it")
    yield from parts.contact_findings(settings.contact_url)
    yield from parts.alert_findings(deployment)


def _print(finding: Finding, console: Console) -> None:
    colour = _COLOURS[finding.state]
    line = f"[{colour}]{finding.state:7}[/{colour}] [bold]{finding.subject}[/bold]  {escape(finding.said)}"
    console.print(line, highlight=False)
    if finding.advice:
        console.print(f"{'':8}-> {escape(finding.advice)}", highlight=False)

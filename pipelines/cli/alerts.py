"""The alerts command: a test message to each sink that is set."""

import json
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.markup import escape

from pipelines.cli.exit_codes import FAILED
from pipelines.cli.parts import deployment_for
from resources.errors import TransientError
from resources.ports import Alert, AlertSink, Clock, FailedPlace


def print_test(*, as_json: bool) -> int:
    """Send a test message to each sink and say what happened; give the exit code: 1 when one did not take it."""
    deployment = deployment_for(None)
    clock: Clock = deployment.resources["clock"]
    answers = answers_of(deployment.alerts, clock.now(), deployment.settings.alerts.rules.ui)
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps([{"sink": name, "ok": not said, "problem": said} for name, said in answers]))
    elif not answers:
        console.print(
            "Nobody is told: set ISOBATH_ALERT_WEBHOOK, ISOBATH_ALERT_SLACK or ISOBATH_ALERT_EMAIL.", highlight=False
        )
    else:
        for name, said in answers:
            line = f"[red]not sent[/red] {escape(said)}" if said else f"[green]sent[/green] {name}"
            console.print(line, highlight=False)
    return 0 if answers and not any(said for _, said in answers) else FAILED


def answers_of(sinks: Sequence[AlertSink], now: datetime, ui: str) -> list[tuple[str, str]]:
    """Send each sink the test message; give its name and what went wrong, empty when nothing did."""
    place = FailedPlace("example.org", "nothing at all", "somebody asked for a test message", f"{ui}/runs")
    answers = []
    for sink in sinks:
        try:
            sink.send(Alert("a test: alerts arrive", now, now, [place]))
        except TransientError as error:
            answers.append((sink.name, str(error)))
        else:
            answers.append((sink.name, ""))
    return answers

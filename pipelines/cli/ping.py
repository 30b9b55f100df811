"""The ping command: somebody says that pages changed or are new, and the schedules of their sites hear it."""

import json
import sys
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape

from assets import names
from assets.recrawl.ping_intake import PingJudge, addresses_in
from pipelines.cli.exit_codes import FAILED
from pipelines.cli.parts import deployment_for
from resources.errors import BadSettings

STANDARD_INPUT: Final = "-"


def ping(urls: Sequence[str], *, file: Path | None, site: str | None, store: str | None, as_json: bool) -> int:
    """Store pings; give 1 when an address was refused, though the others are stored.

    Raises:
        BadSettings: there is no address.
    """
    addresses = [url for url in urls if url != STANDARD_INPUT]
    if STANDARD_INPUT in urls:
        addresses += addresses_in(sys.stdin.buffer.read().decode("utf-8", "replace"))
    if file is not None:
        addresses += addresses_in(file.read_bytes().decode("utf-8", "replace"))
    if not addresses:
        raise BadSettings("no address to ping: give some, or --file, or - for standard input")
    deployment = deployment_for(store)
    deployment.objects.check()
    judged = PingJudge(deployment.tables, deployment.resources["catalog"]).judge(addresses, site)
    # Two commands are two words, even about the same page.
    rows = judged.rows(deployment.resources["clock"].now(), f"command line {uuid.uuid4()}")
    deployment.tables.append(names.T_PINGS, rows)
    if as_json:
        refused = [asdict(one) for one in judged.refused]
        Console(soft_wrap=True).print_json(json.dumps({"pinged": list(judged.taken), "refused": refused}))
        return FAILED if refused else 0
    console, errors = Console(soft_wrap=True), Console(stderr=True, soft_wrap=True)
    for name, count in sorted(Counter(one["site"] for one in judged.taken).items()):
        console.print(f"{name}: {count} {'page' if count == 1 else 'pages'} pinged", highlight=False, markup=False)
    if judged.taken:
        console.print("Heard within minutes where the sensor hear_pings is on, else when the schedule is made next.")
    for one in judged.refused:
        errors.print(f"[red]isobath:[/red] {escape(one.address)}: {escape(one.reason)}", highlight=False)
    return FAILED if judged.refused else 0

"""The command line: its parts put together, and what becomes of errors."""

import os
import sys
from collections.abc import Sequence

import typer
from rich.console import Console

from pipelines.cli.crawl_commands import commands as crawl_commands
from pipelines.cli.exit_codes import INTERRUPTED, WRONG_SETTING
from pipelines.cli.look_commands import commands as look_commands
from pipelines.cli.map_commands import commands as map_commands
from pipelines.cli.sites_app import sites_app
from pipelines.cli.upkeep_commands import commands as upkeep_commands
from pipelines.project import PROJECT
from resources.errors import IsobathError

# Dagster reads these when it is imported.
os.environ.setdefault("DAGSTER_HOME", str(PROJECT / "dagster_home"))
os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")

app = typer.Typer(
    name="isobath",
    help="A web crawl as a Dagster pipeline: crawl a site, search it, look at it.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


for part in (crawl_commands, look_commands, map_commands, upkeep_commands):
    app.add_typer(part)
app.add_typer(sites_app, name="sites")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, on this process's arguments by default; errors that can be mended are one sentence."""
    try:
        app(args=arguments)
    except IsobathError as error:
        Console(stderr=True, soft_wrap=True).print(f"[red]isobath:[/red] {_plain(error)}", highlight=False)
        sys.exit(WRONG_SETTING)
    except KeyboardInterrupt:
        Console(stderr=True).print("isobath: interrupted")
        sys.exit(INTERRUPTED)


def _plain(error: BaseException) -> str:
    from rich.markup import escape

    return escape(str(error))

"""The page of the commands: each with its arguments and flags, exit codes, shell completion."""

import typer
from typer.cli import get_docs_for_click

from pipelines.cli.app import app
from pipelines.cli.exit_codes import EXIT_CODES
from pipelines.reference.markdown import code, page, table


def commands_page() -> str:
    """Make the page."""
    group = typer.main.get_command(app)
    docs = get_docs_for_click(obj=group, ctx=typer.Context(group, info_name="isobath"), name="isobath")
    return page(
        "Commands",
        "Flags that are the same everywhere: `--store` names another store than `ISOBATH_STORE`, `--json` prints JSON "
        "for programs, `--help` explains.",
        "## Exit codes",
        table(["code", "meaning"], ([code(str(number)), meaning] for number, meaning in EXIT_CODES.items())),
        "## Shell completion",
        "`isobath --install-completion` sets it up for the shell that you use (bash, zsh, fish, PowerShell); open a "
        "new one after it. `isobath --show-completion` prints what it would install.",
        docs.removeprefix("# `isobath`\n"),
    )

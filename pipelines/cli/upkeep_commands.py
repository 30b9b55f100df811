"""Commands that look after a deployment, its store and its index feed: their flags."""

from typing import Annotated

import typer

from pipelines.cli.options import JsonOption, StoreOption

commands = typer.Typer()
alerts = typer.Typer(help="Alerts of failed runs and checks.", no_args_is_help=True)
commands.add_typer(alerts, name="alerts")


@commands.command()
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the Dagster UI.")] = 3000,
    reports_port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the reports that it links.")] = 3001,
    store: StoreOption = None,
) -> None:
    """Open the Dagster UI with its daemon, and the reports that it links, on this machine."""
    from pipelines.cli.ui import serve_ui

    raise typer.Exit(serve_ui(port=port, reports_port=reports_port, store=store))


@commands.command()
def doctor(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The UI's port.")] = 3000,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look at all that a crawl needs (store, clock, DNS, disk, packages, ...), and say what to do about the rest."""
    from pipelines.cli.doctor import examine

    raise typer.Exit(examine(store=store, port=port, as_json=as_json))


@alerts.command("test")
def alerts_test(as_json: JsonOption = False) -> None:
    """Send a test message to each place that is to get alerts, and say what happened."""
    from pipelines.cli.alerts import print_test

    raise typer.Exit(print_test(as_json=as_json))


@commands.command()
def maintain(
    compact: Annotated[bool, typer.Option("--compact", help="Make many small files of tables into few.")] = False,
    vacuum: Annotated[bool, typer.Option("--vacuum", help="Remove old versions of tables.")] = False,
    sweep: Annotated[bool, typer.Option("--sweep", help="Remove what killed runs left and nobody takes up.")] = False,
    check: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Read back N captures and compare their digests.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Delete old ended runs from Dagster's history.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep the store in good order: all that the weekly maintenance does, or the parts that are named."""
    from pipelines.cli.maintain import maintain as maintain_store

    parts = {"compact_tables": compact, "vacuum_tables": vacuum, "sweep_orphans": sweep, "prune_runs": prune}
    wanted = [part for part, is_wanted in parts.items() if is_wanted]
    raise typer.Exit(maintain_store(wanted, captures=check, store=store, as_json=as_json))


@commands.command()
def feed(
    site: Annotated[str, typer.Argument(help="A site that was crawled.")],
    since: Annotated[int | None, typer.Option(min=0, help="Print what came after this batch, as NDJSON.")] = None,
    chunks: Annotated[bool, typer.Option("--chunks", help="With --since: chunks instead of documents.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Feed, and check every batch of the log.")] = False,
    let_vanish: Annotated[
        bool, typer.Option("--let-vanish", help="Feed though more documents vanish than max_vanished_share allows.")
    ] = False,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take all documents of the site out.")] = False,
    compact: Annotated[bool, typer.Option("--compact", help="Put a snapshot in the place of all batches.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how a site's index feed and its sinks stand; read, check, compact or empty it."""
    from pipelines.cli.feed import FeedRequest
    from pipelines.cli.feed import feed as ask_feed

    request = FeedRequest(since, chunks, verify, let_vanish, withdraw, compact)
    raise typer.Exit(ask_feed(site, request, store=store, as_json=as_json))

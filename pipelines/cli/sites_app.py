"""The commands about sites and their flags: ``isobath sites`` and what can follow it."""

from typing import Annotated

import typer

from pipelines.cli.options import JsonOption, SiteArgument, SitesArgument, StoreOption

sites_app = typer.Typer(no_args_is_help=False)


@sites_app.callback(invoke_without_command=True)
def sites(context: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the sites with their last crawl, pages and state; or add, remove, show or forget some."""
    if context.invoked_subcommand is None:
        from pipelines.cli.sites import print_sites

        raise typer.Exit(print_sites(store=store, as_json=as_json))


@sites_app.command()
def add(names: SitesArgument, as_json: JsonOption = False) -> None:
    """Give sites a partition, so that they can be crawled from the Dagster UI; no request goes out."""
    from pipelines.cli.sites import add_sites

    raise typer.Exit(add_sites(names, as_json=as_json))


@sites_app.command()
def remove(names: SitesArgument, as_json: JsonOption = False) -> None:
    """Take the partition of sites away, and so their runs; what is stored of them stays."""
    from pipelines.cli.sites import remove_sites

    raise typer.Exit(remove_sites(names, as_json=as_json))


@sites_app.command()
def show(name: SiteArgument, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show what is known of a site: its crawls, pages, schedule, settings that are not the built-in ones."""
    from pipelines.cli.sites import show_site

    raise typer.Exit(show_site(name, store=store, as_json=as_json))


@sites_app.command()
def forget(
    name: SiteArgument,
    raw: Annotated[bool, typer.Option("--raw", help="Remove what was received, the WARC files, as well.")] = False,
    yes: Annotated[
        str | None, typer.Option("--yes", metavar="SITE", help="The site once more, instead of asking.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a site from the index, the tables, the reports and the partitions; asks twice, cannot be undone."""
    from pipelines.cli.forget import forget as forget_site

    raise typer.Exit(forget_site(name, raw=raw, yes=yes, store=store, as_json=as_json))

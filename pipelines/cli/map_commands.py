"""Commands about the map of a site: their flags."""

from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.options import JsonOption, StoreOption

commands = typer.Typer()


@commands.command()
def findings(
    site: Annotated[str, typer.Argument(help="A site that was crawled, by name or an address of it.")],
    name: Annotated[str | None, typer.Option(help="Show the rows of this finding, such as dead_link.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is wrong or remarkable on a site: dead links, redirect chains, orphans, repeated titles, and more."""
    from pipelines.cli.findings import print_findings

    raise typer.Exit(print_findings(site, name=name, store=store, as_csv=as_csv, as_json=as_json))


@commands.command()
def diff(
    site: Annotated[str, typer.Argument(help="A site that was crawled, by name or an address of it.")],
    other: Annotated[
        str | None, typer.Argument(metavar="[NEW_SITE]", help="The site that it moved to; default: the same site.")
    ] = None,
    before: Annotated[str | None, typer.Option(help="The earlier crawl; default: the one before the last.")] = None,
    after: Annotated[str | None, typer.Option(help="The later crawl; default: the last one.")] = None,
    change: Annotated[str | None, typer.Option(help="Show the rows of this change, such as moved or changed.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Show all crawls in numbers instead.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what changed between two crawls of a site, or from one site to another: added, removed, moved, changed."""
    from pipelines.cli.diff import print_diff, print_history

    if history:
        raise typer.Exit(print_history(site, store=store, as_json=as_json))
    code = print_diff(
        site, other, before=before, after=after, change=change, store=store, as_csv=as_csv, as_json=as_json
    )
    raise typer.Exit(code)


@commands.command("map")
def site_map(
    site: Annotated[str, typer.Argument(help="A site that was crawled, by name or an address of it.")],
    form: Annotated[
        str, typer.Option("--format", help="csv, json, tree, graphml, sqlite, sitemap, or redirects (with --to).")
    ],
    out: Annotated[Path, typer.Option("--out", help="The file to write; for csv and sitemap a folder.")],
    crawl_id: Annotated[str | None, typer.Option("--crawl", help="Which crawl; default: the last.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="For redirects: the site that it moves to.")] = None,
    store: StoreOption = None,
) -> None:
    """Write the map of a site for other programs: spreadsheets, mind maps, graph tools, SQL, search engines."""
    from pipelines.cli.site_map import map_format, write_map

    raise typer.Exit(write_map(site, map_format(form), out, crawl_id=crawl_id, to=to, store=store))


@commands.command()
def report(
    site: Annotated[str, typer.Argument(help="A site that was crawled, by name or an address of it.")],
    out: Annotated[Path | None, typer.Option("--out", help="Also write the page to this file.")] = None,
    is_shown: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    store: StoreOption = None,
) -> None:
    """Write the report of a site's last crawl: one HTML page that needs no network."""
    from pipelines.cli.report import write_report

    raise typer.Exit(write_report(site, out=out, is_shown=is_shown, store=store))


@commands.command()
def metrics(
    sites: Annotated[
        list[str] | None, typer.Argument(metavar="[SITE]...", help="Sites that were crawled; default: all.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write them to this file, for a collector.")] = None,
    store: StoreOption = None,
) -> None:
    """Print the last crawl of each site as Prometheus metrics."""
    from pipelines.cli.metrics import print_metrics

    raise typer.Exit(print_metrics(sites or [], out=out, store=store))

"""The commands and their flags."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

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

StoreOption = Annotated[
    str | None, typer.Option("--store", help="A folder or s3://bucket/prefix; default: ISOBATH_STORE, else ./data.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command()
def crawl(
    url: Annotated[str, typer.Argument(help="Where to start, such as https://docs.example.org/")],
    max_depth: Annotated[
        int | None, typer.Option(min=0, max=10, help="Deepest layer; 0 fetches the seed only.")
    ] = None,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Most pages to fetch.")] = None,
    min_delay: Annotated[
        float | None, typer.Option(min=0, help="Least seconds between two requests to a host; 0 for your own servers.")
    ] = None,
    allow_private_networks: Annotated[
        bool, typer.Option("--allow-private-networks", help="Fetch from private and loopback addresses too.")
    ] = False,
    new_crawl: Annotated[
        bool, typer.Option("--new-crawl", help="Begin anew even if the last crawl was interrupted.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Crawl a site and derive everything from it; an interrupted crawl is carried on."""
    from pipelines.cli.crawl import CrawlRequest, crawl_site

    request = CrawlRequest(
        url=url,
        max_depth=max_depth,
        max_pages=max_pages,
        min_delay_s=min_delay,
        allow_private_networks=allow_private_networks or None,
        new_crawl=new_crawl,
    )
    raise typer.Exit(crawl_site(request, store=store, as_json=as_json))


@app.command()
def refresh(
    sites: Annotated[
        list[str], typer.Argument(metavar="SITE...", help="Sites that were crawled, by name or an address of each.")
    ],
    max_pages: Annotated[int | None, typer.Option(min=1, help="Most pages to ask of each site.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask sites for the pages that are due, within their budgets, and derive what changed; many in one run."""
    from pipelines.cli.refresh import refresh as refresh_sites

    raise typer.Exit(refresh_sites(sites, max_pages=max_pages, store=store, as_json=as_json))


@app.command()
def demo(store: StoreOption = None) -> None:
    """Serve the small site that ships with Isobath on loopback, and crawl it. No internet needed."""
    from pipelines.cli.demo import crawl_demo_site

    raise typer.Exit(crawl_demo_site(store=store))


@app.command()
def search(
    words: Annotated[str, typer.Argument(help="What to look for, in any language.")],
    site: Annotated[str | None, typer.Option(help="Only this site.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most hits.")] = 10,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search the pages that were crawled."""
    from pipelines.cli.search import print_hits

    raise typer.Exit(print_hits(words, site=site, limit=limit, store=store, as_json=as_json))


@app.command()
def sites(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the sites with their last crawl, pages and state."""
    from pipelines.cli.sites import print_sites

    raise typer.Exit(print_sites(store=store, as_json=as_json))


@app.command()
def explain(
    url: Annotated[str, typer.Argument(help="The address in question, in any spelling.")],
    site: Annotated[str | None, typer.Option(help="The site in whose crawl; default: the address's own host.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a crawl would do with an address and why: key, scope, traps, robots, aliases, what is known of it."""
    from pipelines.cli.explain import print_explanation

    raise typer.Exit(print_explanation(url, site=site, store=store, as_json=as_json))


@app.command()
def why(
    url: Annotated[str, typer.Argument(help="The address in question, in any spelling.")],
    site: Annotated[str | None, typer.Option(help="The site in whose crawls; default: the address's own host.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell the history of an address: found where, each attempt and outcome, texts, duplicates, when it is due."""
    from pipelines.cli.why import print_history

    raise typer.Exit(print_history(url, site=site, store=store, as_json=as_json))


@app.command()
def plan(
    site: Annotated[str | None, typer.Option(help="Only this site, in detail; default: all sites, a row each.")] = None,
    requests_per_day: Annotated[
        float | None, typer.Option(min=0, help="What would so many requests a day buy, hubs among them?")
    ] = None,
    freshness_target_days: Annotated[
        float | None, typer.Option(min=0.001, help="What would it cost that no copy is expected to be older?")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a recrawl budget buys and what a freshness target costs; changes nothing."""
    from pipelines.cli.plan import print_plan

    code = print_plan(
        site,
        requests_per_day=requests_per_day,
        freshness_target_days=freshness_target_days,
        store=store,
        as_json=as_json,
    )
    raise typer.Exit(code)


@app.command()
def ping(
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL...", help="Pages that changed or are new; - reads standard input."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", exists=True, dir_okay=False, help="A file with an address a line, or IndexNow's JSON."),
    ] = None,
    site: Annotated[
        str | None, typer.Option(help="The site whose pages they are; default: that of each address's host.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say that pages changed or are new: they are asked sooner, by what such words have been worth at their site."""
    from pipelines.cli.ping import ping as ping_pages

    raise typer.Exit(ping_pages(urls or [], file=file, site=site, store=store, as_json=as_json))


@app.command()
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


@app.command()
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


@app.command("map")
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


@app.command()
def report(
    site: Annotated[str, typer.Argument(help="A site that was crawled, by name or an address of it.")],
    out: Annotated[Path | None, typer.Option("--out", help="Also write the page to this file.")] = None,
    is_shown: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    store: StoreOption = None,
) -> None:
    """Write the report of a site's last crawl: one HTML page that needs no network."""
    from pipelines.cli.report import write_report

    raise typer.Exit(write_report(site, out=out, is_shown=is_shown, store=store))


@app.command()
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, on this process's arguments by default; errors that can be mended are one sentence."""
    try:
        app(args=arguments)
    except IsobathError as error:
        Console(stderr=True, soft_wrap=True).print(f"[red]isobath:[/red] {_plain(error)}", highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        Console(stderr=True).print("isobath: interrupted")
        sys.exit(130)


def _plain(error: BaseException) -> str:
    from rich.markup import escape

    return escape(str(error))

"""The commands and their flags."""

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from pipelines.cli.exit_codes import INTERRUPTED, WRONG_SETTING
from pipelines.cli.options import JsonOption, SitesArgument, StoreOption
from pipelines.cli.sites_app import sites_app
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

alerts = typer.Typer(help="Alerts of failed runs and checks.", no_args_is_help=True)
app.add_typer(alerts, name="alerts")

app.add_typer(sites_app, name="sites")
DATES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]
AfterOption = Annotated[
    datetime | None, typer.Option(formats=DATES[:1], help="Only pages modified, published or else fetched since then.")
]


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
    lang: Annotated[str | None, typer.Option(help="Only this language, such as en or pt-BR.")] = None,
    after: AfterOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most hits a page.")] = 10,
    page: Annotated[int, typer.Option(min=1, max=1000, help="Which page of hits.")] = 1,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search the pages that were crawled."""
    from pipelines.cli.search import print_hits
    from resources.ports import SearchFilter

    only = SearchFilter(site, lang, after.date() if after else None)
    raise typer.Exit(print_hits(words, only=only, limit=limit, page=page, store=store, as_json=as_json))


@app.command()
def show(
    url: Annotated[str, typer.Argument(help="The address of the page, in any spelling.")],
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Its main text as Markdown; this is the default.")
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="What the server sent, decoded.")] = False,
    headers: Annotated[bool, typer.Option("--headers", help="The headers of the answer, as received.")] = False,
    as_of: Annotated[
        datetime | None, typer.Option("--as-of", formats=DATES, help="As it was stored at this time (UTC).")
    ] = None,
    site: Annotated[str | None, typer.Option(help="The site in whose crawls; default: the address's own host.")] = None,
    store: StoreOption = None,
) -> None:
    """Open the stored copy of a page."""
    from pipelines.cli.show import View, show_page

    asked = [view for view, wanted in zip(View, (markdown, html, headers), strict=True) if wanted]
    raise typer.Exit(show_page(url, asked, as_of=as_of, site=site, store=store))


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
def duplicates(
    site: Annotated[str, typer.Argument(help="The site whose pages are looked at.")],
    csv: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write all pairs into this file, to be labelled.")
    ] = None,
    verdicts: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Take in such a file, with same or different in it."),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show pages that are alike, with what differs and why they are kept apart; take in what a person says of them."""
    from pipelines.cli.duplicates import print_duplicates

    raise typer.Exit(print_duplicates(site, csv_file=csv, verdicts=verdicts, store=store, as_json=as_json))


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


@app.command()
def reprocess(
    sites: SitesArgument,
    only_map: Annotated[bool, typer.Option("--only-map", help="Draw the map again, nothing else.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Derive sites again from what is stored: texts, duplicates, feed, map, schedule; no request goes out."""
    from pipelines.cli.reprocess import reprocess_sites

    raise typer.Exit(reprocess_sites(sites, only_map=only_map, store=store, as_json=as_json))


@app.command()
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


@app.command()
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


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where to: a folder that is not there yet.")],
    kind: Annotated[
        Literal["parquet", "jsonl", "markdown"], typer.Option("--format", help="What kind of files.")
    ] = "parquet",
    site: Annotated[list[str] | None, typer.Option(help="Only this site; may be given more than once.")] = None,
    lang: Annotated[str | None, typer.Option(help="Only this language, such as en or pt-BR.")] = None,
    section: Annotated[str | None, typer.Option(help="Only pages under this path, such as /docs/.")] = None,
    after: AfterOption = None,
    min_characters: Annotated[int, typer.Option(min=0, help="Only pages with so much text.")] = 0,
    with_duplicates: Annotated[
        bool, typer.Option("--with-duplicates", help="Also pages that another page stands for.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the live pages to files: Parquet, JSON lines, or a folder of Markdown; with a manifest."""
    from pipelines.cli.export import export as export_files
    from pipelines.export import Choice, Format

    day = after.date() if after else None
    choice = Choice(tuple(site or ()), lang, section, day, min_characters, with_duplicates)
    raise typer.Exit(export_files(folder, Format(kind), choice, store=store, as_json=as_json))


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

"""Commands that crawl, and that say when: their flags."""

from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.options import JsonOption, SitesArgument, StoreOption

commands = typer.Typer()


@commands.command()
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


@commands.command()
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


@commands.command()
def demo(store: StoreOption = None) -> None:
    """Serve the small site that ships with Isobath on loopback, and crawl it. No internet needed."""
    from pipelines.cli.demo import crawl_demo_site

    raise typer.Exit(crawl_demo_site(store=store))


@commands.command()
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


@commands.command()
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


@commands.command()
def reprocess(
    sites: SitesArgument,
    only_map: Annotated[bool, typer.Option("--only-map", help="Draw the map again, nothing else.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Derive sites again from what is stored: texts, duplicates, feed, map, schedule; no request goes out."""
    from pipelines.cli.reprocess import reprocess_sites

    raise typer.Exit(reprocess_sites(sites, only_map=only_map, store=store, as_json=as_json))

"""Commands that look at pages and give them out: their flags."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from pipelines.cli.options import JsonOption, StoreOption

commands = typer.Typer()
DATES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]
AfterOption = Annotated[
    datetime | None, typer.Option(formats=DATES[:1], help="Only pages modified, published or else fetched since then.")
]


@commands.command()
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


@commands.command()
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


@commands.command()
def explain(
    url: Annotated[str, typer.Argument(help="The address in question, in any spelling.")],
    site: Annotated[str | None, typer.Option(help="The site in whose crawl; default: the address's own host.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a crawl would do with an address and why: key, scope, traps, robots, aliases, what is known of it."""
    from pipelines.cli.explain import print_explanation

    raise typer.Exit(print_explanation(url, site=site, store=store, as_json=as_json))


@commands.command()
def why(
    url: Annotated[str, typer.Argument(help="The address in question, in any spelling.")],
    site: Annotated[str | None, typer.Option(help="The site in whose crawls; default: the address's own host.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell the history of an address: found where, each attempt and outcome, texts, duplicates, when it is due."""
    from pipelines.cli.why import print_history

    raise typer.Exit(print_history(url, site=site, store=store, as_json=as_json))


@commands.command()
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


@commands.command()
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

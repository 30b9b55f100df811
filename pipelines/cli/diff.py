"""The diff command: what changed between two crawls of a site, or from one site to another."""

import json
import sys
from typing import Any

import pyarrow.compute as pc
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assets.site_map.changes import Change, counts_by_kind
from assets.site_map.crawl_facts import crawl_ids
from assets.site_map.exports import csv_bytes
from assets.site_map.history import read_history
from assets.site_map.site_changes import compared_crawls
from pipelines.cli.crawl import site_and_seeds
from pipelines.cli.parts import deployment_for
from resources.errors import BadSettings


def print_diff(
    site_or_url: str,
    other: str | None,
    *,
    before: str | None,
    after: str | None,
    change: str | None,
    store: str | None,
    as_csv: bool,
    as_json: bool,
) -> int:
    """Print what changed: counts, or the rows of one kind of change.

    Args:
        other: the site that is compared with, when it is another one.
        before: the earlier crawl; default: the one before the last, of two sites the last one.
        after: the later crawl; default: the last one.

    Raises:
        BadSettings: there is no such kind of change, or nothing to compare with.
        StageMissing: a crawl is not known.
    """
    if change is not None and change not in list(Change):
        raise BadSettings(f"there is no change {change!r}: use one of {', '.join(Change)}")
    deployment = deployment_for(store)
    site, _ = site_and_seeds(site_or_url)
    later_site = site if other is None else site_and_seeds(other)[0]
    if site == later_site and before is None:
        known = crawl_ids(site, deployment.tables)
        if len(known) < 2:
            raise BadSettings(f"{site} has {len(known)} finished crawls, and a comparison takes two: crawl it again")
        before = known[-2]
    rows = compared_crawls(site, before, later_site, after, deployment.tables, deployment.resources["engine"])
    shown = rows if change is None else rows.filter(pc.field("change") == change)
    if as_csv:
        sys.stdout.write(csv_bytes(shown).decode())
        return 0
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps(shown.to_pylist(), ensure_ascii=False))
    elif change is None:
        table = Table("change", "rows")
        for kind, count in counts_by_kind(rows).items():
            table.add_row(kind.replace("_", " "), f"{count:,}")
        console.print(table)
    else:
        _print_rows(shown.to_pylist(), console)
    return 0


def print_history(site_or_url: str, *, store: str | None, as_json: bool) -> int:
    """Print a site's crawls in numbers, oldest first."""
    site, _ = site_and_seeds(site_or_url)
    rows = read_history(site, deployment_for(store).tables)
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps([{**row, "crawled_at": row["crawled_at"].isoformat()} for row in rows]))
        return 0
    names = ("pages", "live_pages", "dead_pages", "links", "dead_links", "orphans", "findings", "median_fetch_ms")
    table = Table("crawl", *(name.replace("_", " ") for name in names))
    for row in rows:
        table.add_row(row["crawl_id"], *(f"{row[name]:,.0f}" for name in names))
    console.print(table)
    return 0


def _print_rows(rows: list[dict[str, Any]], console: Console) -> None:
    for row in rows:
        origin = f" (before: {row['before_url']}, {row['similarity']:.2f} alike)" if row["before_url"] else ""
        holder = f" on {row['on_url']}" if row["on_url"] else ""
        told = f": {row['before'] or '-'} -> {row['after'] or '-'}" if row["before"] or row["after"] else ""
        console.print(Text.assemble((row["url"], "bold"), f"{origin}{holder}{told}"))
        for line in row["text_diff"].splitlines():
            console.print(Text(f"  {line}", style={"+": "green", "-": "red"}.get(line[:1], "dim")))

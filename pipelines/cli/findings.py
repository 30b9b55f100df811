"""The findings command: what is wrong or remarkable on a site."""

import json
import sys
from collections import Counter
from typing import Any, Final

import pyarrow.compute as pc
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assets import names
from assets.site_map.exports import csv_bytes
from assets.site_map.findings import Finding, meaning_of
from pipelines.cli.crawl import site_and_seeds
from pipelines.cli.parts import deployment_for
from resources.errors import BadSettings

_COLUMNS: Final = ("finding", "url", "on_url", "detail")


def print_findings(site_or_url: str, *, name: str | None, store: str | None, as_csv: bool, as_json: bool) -> int:
    """Print the findings of a site's last map: counts by name, or the rows of one; files get all rows.

    Raises:
        BadSettings: there is no such finding, or the site was not mapped.
    """
    if name is not None and name not in list(Finding):
        raise BadSettings(f"there is no finding {name!r}: use one of {', '.join(Finding)}")
    site, _ = site_and_seeds(site_or_url)
    tables = deployment_for(store).tables
    if not tables.read(names.T_MAP_HISTORY, sites=[site], columns=["crawl_id"]).num_rows:
        raise BadSettings(f"{site} was not mapped: crawl it, or materialize {names.SITE_MAP.to_user_string()} for it")
    where = None if name is None else pc.field("finding") == name
    rows = tables.read(names.T_FINDINGS, sites=[site], columns=_COLUMNS, where=where)
    if as_csv:
        sys.stdout.write(csv_bytes(rows).decode())
        return 0
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps(rows.to_pylist(), ensure_ascii=False))
    elif name is None:
        console.print(_counts(Counter(rows["finding"].to_pylist())))
    else:
        console.print(_rows(rows.to_pylist()))
    return 0


def _counts(counted: Counter[str]) -> Table:
    table = Table("finding", "rows", "what they are")
    for kind in Finding:
        if counted[kind]:
            table.add_row(kind.value, f"{counted[kind]:,}", meaning_of(kind))
    return table


def _rows(rows: list[dict[str, Any]]) -> Table:
    table = Table()
    for heading in ("address", "on page", "detail"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        # Texts of strangers: no markup is read in them.
        table.add_row(Text(row["url"]), Text(row["on_url"]), Text(row["detail"]))
    return table

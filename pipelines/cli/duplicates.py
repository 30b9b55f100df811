"""The duplicates command: alike pairs of a site for people to look at, and what they say of them."""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assets import names
from assets.dedup.verdicts import PAIR_COLUMNS, verdict_rows
from pipelines.cli.parts import deployment_for
from resources.ports import TableStore

_COLUMNS: Final = (*PAIR_COLUMNS, "similarity", "distance", "veto", "only_here", "only_there", "verdict")
_SHOWN: Final = 50


def print_duplicates(
    site: str, *, csv_file: Path | None, verdicts: Path | None, store: str | None, as_json: bool
) -> int:
    """Print or export the alike pairs of a site, or take in what a reviewer said of them."""
    tables = deployment_for(store).tables
    console = Console(soft_wrap=True)
    if verdicts is not None:
        with verdicts.open(encoding="utf-8-sig", newline="") as lines:
            rows = verdict_rows(site, lines, str(verdicts))
        tables.replace(names.T_DUPLICATE_VERDICTS, sites=[site], rows=rows)
        console.print(
            f"{rows.num_rows} verdicts on pairs of {site}; they hold from the next content/near_duplicates on."
        )
        return 0
    pairs = alike_pairs(tables, site)
    mirrors, patterns = (
        tables.read(name, sites=[site]).to_pylist() for name in (names.T_MIRRORS, names.T_DUPLICATE_PATTERNS)
    )
    if csv_file is not None:
        with csv_file.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, _COLUMNS)
            writer.writeheader()
            writer.writerows(pairs)
        console.print(f"{len(pairs)} pairs in {csv_file}. Write same or different into the column verdict.")
    elif as_json:
        console.print_json(json.dumps({"site": site, "mirrors": mirrors, "patterns": patterns, "pairs": pairs}))
    else:
        _print_table(console, site, pairs, mirrors, patterns)
    return 0


def alike_pairs(tables: TableStore, site: str) -> list[dict[str, Any]]:
    """Give the alike pairs of a site, each once, those first that a person should look at: the least alike."""
    rows: Iterable[dict[str, Any]] = tables.read(names.T_NEAR_PAIRS, sites=[site], columns=_COLUMNS).to_pylist()
    said = {
        tuple(row[name] for name in PAIR_COLUMNS): row["verdict"]
        for row in tables.read(names.T_DUPLICATE_VERDICTS, sites=[site]).to_pylist()
    }
    pairs = [
        {**row, "verdict": said.get(tuple(row[name] for name in PAIR_COLUMNS), row["verdict"])}
        for row in rows
        if row["other_site"] != site or row["url_key"] < row["other_key"]
    ]
    return sorted(pairs, key=lambda row: (row["similarity"], *(row[name] for name in PAIR_COLUMNS)))


def _print_table(
    console: Console,
    site: str,
    pairs: Sequence[dict[str, Any]],
    mirrors: Sequence[dict[str, Any]],
    patterns: Sequence[dict[str, Any]],
) -> None:
    for mirror in mirrors:
        console.print(
            f"{mirror['host']} has the pages of {mirror['other_host']}: {mirror['shared_pages']} of them, "
            f"{mirror['share']:.0%} of the smaller host. It may be an alias that needs no crawl of its own."
        )
    for pattern in patterns:
        console.print(f"Addresses with {pattern['mark']} always repeat others: {pattern['pages']} pages, such as")
        console.print(f"  {pattern['example']} -> {pattern['repeats']}")
    if not pairs:
        console.print(f"No two pages of {site} are alike, as far as content/near_duplicates has looked.")
        return
    table = Table()
    for heading in ("alike", "page", "other page", "kept apart by", "only here", "only there"):
        table.add_column(heading, overflow="fold")
    for pair in pairs[:_SHOWN]:
        cells = (f"{pair['similarity']:.3f}", pair["url_key"], pair["other_key"], pair["veto"])
        table.add_row(*(Text(cell) for cell in (*cells, pair["only_here"], pair["only_there"])))
    console.print(table)
    if len(pairs) > _SHOWN:
        console.print(f"{len(pairs) - _SHOWN} more; all of them with --csv FILE or --json.")

"""Verdicts: what a person who looked at a pair said of it. They stand above similarity and vetoes."""

import csv
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

import pyarrow as pa

from assets import names
from assets.schemas import DUPLICATE_VERDICTS
from resources.errors import PermanentError
from resources.ports import TableStore

Page = tuple[str, str]  # site and url_key
PAIR_COLUMNS: Final = ("site", "url_key", "other_site", "other_key")


class Verdict(StrEnum):
    """What two pages are to a person."""

    SAME = "same"
    DIFFERENT = "different"


Verdicts = Mapping[frozenset[Page], Verdict]


def read_verdicts(tables: TableStore) -> Verdicts:
    """Read all verdicts of the store. Where two sites hold one on the same pair, they are kept apart rather."""
    found: dict[frozenset[Page], Verdict] = {}
    for row in tables.read(names.T_DUPLICATE_VERDICTS).to_pylist():
        pair = frozenset(((row["site"], row["url_key"]), (row["other_site"], row["other_key"])))
        if found.get(pair) is not Verdict.DIFFERENT:
            found[pair] = Verdict(row["verdict"])
    return found


def verdict_rows(site: str, lines: Iterable[str], source: str) -> pa.Table:
    """Read a reviewed CSV file into the verdicts of a site. Lines without a verdict say nothing.

    Raises:
        PermanentError: names the file, the line, and what is wrong with it.
    """
    reader = csv.DictReader(lines)
    missing = sorted({*PAIR_COLUMNS, "verdict"} - set(reader.fieldnames or ()))
    if missing:
        raise PermanentError(f"{source}: columns missing: {', '.join(missing)}")
    rows: dict[frozenset[Page], dict[str, Any]] = {}
    for row in reader:
        said = (row["verdict"] or "").strip().lower()
        if not said:
            continue
        if said not in set(Verdict):
            raise PermanentError(f"{source}, line {reader.line_num}: verdict {said!r}: use same or different")
        if row["site"] != site:
            raise PermanentError(f"{source}, line {reader.line_num}: site {row['site']!r} is not {site!r}")
        pair = frozenset(((row["site"], row["url_key"]), (row["other_site"], row["other_key"])))
        if pair in rows and rows[pair]["verdict"] != said:
            raise PermanentError(f"{source}, line {reader.line_num}: the same pair has another verdict further up")
        rows[pair] = {**{name: row[name] for name in PAIR_COLUMNS}, "verdict": said}
    return pa.Table.from_pylist(list(rows.values()), schema=DUPLICATE_VERDICTS)

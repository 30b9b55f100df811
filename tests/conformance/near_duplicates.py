"""Conformance of near-duplicates: manuals in many versions, with the exact similarity of all their pairs."""

import csv
import gzip
import json
import lzma
from pathlib import Path
from typing import Final

from assets.dedup.near import near_duplicates_of_sites
from resources.duckdb_engine import DuckDBEngine
from tests.conformance.score import Score
from tests.support.content import StoredPage, store
from tests.support.memory import MemoryTables

ALIKE: Final = 0.8  # share of common runs of five words, of the whole texts
FOUND_FLOOR: Final = 3_385  # of 3,392
RIGHT_FLOOR_SHARE: Final = 0.998
_SITE: Final = "manuals"


def near_duplicate_numbers(data: Path) -> list[Score]:
    """Count the alike pairs that are found, and the found pairs that are alike."""
    with lzma.open(data / "docs.jsonl.xz", "rt") as lines:
        documents = [json.loads(line) for line in lines]
    with gzip.open(data / "pairs.csv.gz", "rt") as file:
        alike = {
            frozenset((_address(row["a"]), _address(row["b"])))
            for row in csv.DictReader(file)
            if float(row["jaccard5"]) >= ALIKE
        }
    tables = MemoryTables()
    store(tables, [StoredPage(_SITE, _address(document["id"]), document["text"]) for document in documents])
    rows = near_duplicates_of_sites(tables, DuckDBEngine(), [_SITE]).pairs.to_pylist()
    found = {frozenset((row["url_key"], row["other_key"])) for row in rows}
    right = len(alike & found)
    return [
        Score("neardup: alike pairs found", right, len(alike), FOUND_FLOOR),
        Score("neardup: found pairs alike", right, len(found), int(len(found) * RIGHT_FLOOR_SHARE)),
    ]


def _address(document: str) -> str:
    """Give an address whose version segment keeps equal texts of two versions apart."""
    return f"https://manuals.test/{document}"

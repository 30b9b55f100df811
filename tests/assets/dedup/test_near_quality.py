"""Precision and recall on a labelled set of manuals, where it lies beside the checkout."""

import csv
import gzip
import json
import lzma
from pathlib import Path

import ibis
import pyarrow as pa
import pytest

from assets.dedup.near import NearSettings
from assets.dedup.pairs import candidate_pairs
from assets.dedup.similarity import jaccard
from assets.markup.fingerprint import shingles, simhash
from resources.duckdb_engine import DuckDBEngine

DATA = Path(__file__).resolve().parents[3] / "../shared/data/neardup"
DOCUMENTS = 1_500  # the first ones: whole manuals, so that versions of a page are together


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the labelled near-duplicates (../shared/data/neardup) are not here")
@pytest.mark.parametrize(("max_distance", "least_precision", "least_recall"), [(3, 0.99, 0.50), (6, 0.95, 0.75)])
def test_verified_pairs_are_right_and_most_are_found(
    max_distance: int, least_precision: float, least_recall: float
) -> None:
    with lzma.open(DATA / "docs.jsonl.xz", "rt") as lines:
        documents = [json.loads(line) for line, _ in zip(lines, range(DOCUMENTS), strict=False)]
    row = {document["id"]: place for place, document in enumerate(documents)}
    with gzip.open(DATA / "pairs.csv.gz", "rt") as file:
        alike = {
            (min(row[pair["a"]], row[pair["b"]]), max(row[pair["a"]], row[pair["b"]]))
            for pair in csv.DictReader(file)
            if float(pair["jaccard5"]) >= 0.8 and pair["a"] in row and pair["b"] in row
        }
    features = [shingles(document["text"]) for document in documents]
    prints = ibis.memtable(pa.table({"page_id": range(len(row)), "simhash": [simhash(found) for found in features]}))

    met = DuckDBEngine().run(candidate_pairs(prints, prints.select("page_id"), max_distance))

    found = {
        (one, other)
        for one, other in zip(met["page_id"].to_pylist(), met["other_id"].to_pylist(), strict=True)
        if one < other and jaccard(features[one], features[other]) >= NearSettings().min_similarity
    }
    assert len(alike) > 200
    assert len(found & alike) / len(found) >= least_precision
    assert len(found & alike) / len(alike) >= least_recall

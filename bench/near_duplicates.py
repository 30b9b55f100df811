"""The scale of candidate pairs: fingerprints of millions of pages on one machine, and a site that is added to them.

Run ``python -m bench.near_duplicates``. It makes up fingerprints, a share of them within 3 bits of another, finds all
pairs within 3 bits in the whole store, and then what a site of 10,000 pages has in common with the store, by simhash
and by bands. With ``--engine spark`` it runs on a Spark of two cores in this
process. It ends with 1 when a planted pair is missed or a limit does not hold.
"""

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from typing import Final

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assets.dedup.near import NearSettings
from assets.dedup.pairs import band_keys, block_keys, block_masks, meeting_pairs, met_keys
from assets.markup.fingerprint import BANDS
from resources.duckdb_engine import DuckDBEngine
from resources.ports import QueryEngine
from resources.spark_engine import SparkEngine

LIMIT_S: Final = 90.0
LIMIT_GIB: Final = 8.0
SITE_LIMIT_S: Final = 30.0
_PLANTED_SHARE: Final = 0.05
_SITE_PAGES: Final = 10_000
_SETTINGS: Final = NearSettings()
_SPARK: Final = {"spark.master": "local[2]", "spark.driver.memory": "4g", "spark.ui.enabled": "false"}


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and say by the exit code whether all limits hold."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.near_duplicates", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    given = parser.parse_args(arguments)
    pages = given.pages
    prints, planted = made_up(pages)
    engine: QueryEngine = SparkEngine(_SPARK) if given.engine == "spark" else DuckDBEngine()
    started, busy_s = time.perf_counter(), time.process_time()
    found = all_pairs(engine, prints)
    took_s, busy_s = time.perf_counter() - started, time.process_time() - busy_s
    missed = len(planted) - len(np.intersect1d(found, planted, assume_unique=True))
    held_gib = peak_gib()
    print(
        f"{pages:,} fingerprints: {len(found):,} pairs in {took_s:.1f} s, {missed} of {len(planted):,} planted missed"
    )
    print(f"processor time: {busy_s:.1f} s, most memory: {held_gib:.1f} GiB")
    started = time.perf_counter()
    met = pairs_of_site(engine, prints, min(_SITE_PAGES, pages))
    site_s = time.perf_counter() - started
    print(f"a site of {_SITE_PAGES:,} pages more: {met:,} candidate pairs in {site_s:.1f} s, {peak_gib():.1f} GiB")
    return int(missed > 0 or took_s > LIMIT_S or held_gib > LIMIT_GIB or site_s > SITE_LIMIT_S)


def made_up(pages: int) -> tuple[pa.Table, NDArray[np.int64]]:
    """Make fingerprints; give them and the planted pairs, each as one number: lower page times pages, plus the other.

    A planted page has up to 3 bits and about half of its bands other than the page that it is a copy of.
    """
    dice = np.random.default_rng(7)
    simhash = dice.integers(-(2**63), 2**63, pages, dtype=np.int64)
    bands = dice.integers(-(2**63), 2**63, (pages, BANDS), dtype=np.int64)
    chosen = dice.permutation(pages)[: int(pages * _PLANTED_SHARE) * 2]
    originals, copies = np.split(chosen, 2)
    flips = np.zeros(len(copies), dtype=np.int64)
    for _ in range(3):
        flips |= np.left_shift(np.int64(1), dice.integers(0, 64, len(copies)))
    simhash[copies] = simhash[originals] ^ flips
    kept = dice.random((len(copies), BANDS)) < 0.5
    bands[copies] = np.where(kept, bands[originals], bands[copies])
    offsets = pa.array(np.arange(0, (pages + 1) * BANDS, BANDS, dtype=np.int32))
    table = pa.table(
        {
            "page_id": np.arange(pages),
            "simhash": simhash,
            "bands": pa.ListArray.from_arrays(offsets, pa.array(bands.reshape(-1))),
        }
    )
    return table, np.sort(np.minimum(originals, copies) * pages + np.maximum(originals, copies))


def all_pairs(engine: QueryEngine, prints: pa.Table) -> NDArray[np.int64]:
    """Find all pairs within the distance, one mask after the other, so that memory holds the keys of one only."""
    table = ibis.memtable(prints.select(["page_id", "simhash"]))
    found = np.empty(0, dtype=np.int64)
    for mask in block_masks(_SETTINGS.max_distance):
        keys = ibis.memtable(engine.run(met_keys(block_keys(table, [mask]), None)))
        pairs = meeting_pairs(keys, None, _SETTINGS.max_distance, _SETTINGS.crowd)
        met = engine.run(pairs.filter(pairs.page_id < pairs.other_id))
        found = np.union1d(found, met["page_id"].to_numpy() * prints.num_rows + met["other_id"].to_numpy())
    return found


def pairs_of_site(engine: QueryEngine, prints: pa.Table, site_pages: int) -> int:
    """Count the candidate pairs of the first pages, by all keys, as the room finds them."""
    table = ibis.memtable(prints)
    asked = ibis.memtable(prints.slice(0, site_pages).select(["page_id"]))
    keys = ibis.union(block_keys(table, block_masks(_SETTINGS.max_distance)), band_keys(table))
    met = ibis.memtable(engine.run(met_keys(keys, asked)))
    pairs = engine.run(meeting_pairs(met, asked, _SETTINGS.max_distance, _SETTINGS.crowd))
    return len(pairs)


def peak_gib() -> float:
    """Give the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

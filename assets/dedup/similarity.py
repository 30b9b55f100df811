"""Similarity of two texts: the verdict on candidate pairs, on the shingles themselves."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray

from assets import names
from assets.markup.fingerprint import shingles
from resources.errors import PermanentError
from resources.ports import TableStore

Shingles = NDArray[np.uint64]

# Both texts of this many pairs are in memory at a time.
_PAIRS_AT_ONCE: Final = 5_000
_STORED_VERSION: Final = ("site", "url_key", "crawl_id", "extractor_version")
_CURRENT_VERSION: Final = ("site", "url_key", "page_crawl_id", "extractor_version")


def jaccard(one: Shingles, other: Shingles) -> float:
    """Give the share of distinct shingles that two texts have in common; 0 when neither has any."""
    common = np.intersect1d(one, other, assume_unique=True).size
    union = one.size + other.size - common
    return common / union if union else 0.0


def similarities(tables: TableStore, pages: pa.Table, pairs: NDArray[np.int64]) -> Iterator[float]:
    """Give the Jaccard similarity of each pair, in order.

    Args:
        pages: the current versions (``site, url_key, page_crawl_id, extractor_version``); a page is named by its row.
        pairs: two columns of rows of ``pages``.
    """
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        chunk = pairs[start : start + _PAIRS_AT_ONCE]
        wanted = np.unique(chunk)
        read = dict(zip(wanted.tolist(), _read_shingles(tables, pages.take(wanted)), strict=True))
        for one, other in chunk.tolist():
            yield jaccard(read[one], read[other])


def _read_shingles(tables: TableStore, pages: pa.Table) -> Sequence[Shingles]:
    """Read the texts of some page versions; give their shingles in the order of ``pages``."""
    rows = tables.read(
        names.T_PAGES,
        sites=pages["site"].unique().to_pylist(),
        columns=[*_STORED_VERSION, "text"],
        where=ds.field("url_key").isin(pages["url_key"].unique())
        & ds.field("crawl_id").isin(pages["page_crawl_id"].unique()),
    )
    place = {version: row for row, version in enumerate(_versions(rows, _STORED_VERSION))}
    texts = rows["text"]
    found: list[Shingles] = []
    for version in _versions(pages, _CURRENT_VERSION):
        if version not in place:
            raise PermanentError(f"page_state names a version of {version[1]} ({version[0]}) that pages does not hold")
        found.append(shingles(texts[place[version]].as_py()))
    return found


def _versions(rows: pa.Table, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(rows[name].to_pylist() for name in columns), strict=True)

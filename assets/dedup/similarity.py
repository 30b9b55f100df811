"""Similarity of two texts: the verdict on candidate pairs, on the shingles themselves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow.dataset as ds
from numpy.typing import NDArray

from assets import names
from assets.markup.fingerprint import shingles
from resources.errors import PermanentError
from resources.ports import TableStore

Shingles = NDArray[np.uint64]
Version = tuple[str, str, str, str]  # site, url_key, crawl_id, extractor_version

# Both texts of this many pairs are in memory at a time.
_PAIRS_AT_ONCE: Final = 5_000
_VERSION: Final = ("site", "url_key", "crawl_id", "extractor_version")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts, and how alike they are."""

    text: str
    other: str
    similarity: float


def jaccard(one: Shingles, other: Shingles) -> float:
    """Give the share of distinct shingles that two texts have in common; 0 when neither has any."""
    common = np.intersect1d(one, other, assume_unique=True).size
    union = one.size + other.size - common
    return common / union if union else 0.0


def comparisons(tables: TableStore, pairs: Sequence[tuple[Version, Version]]) -> Iterator[Comparison]:
    """Compare the texts of pairs of page versions, in order."""
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        chunk = pairs[start : start + _PAIRS_AT_ONCE]
        texts = _read_texts(tables, {version for pair in chunk for version in pair})
        features = {version: shingles(text) for version, text in texts.items()}
        for one, other in chunk:
            yield Comparison(texts[one], texts[other], jaccard(features[one], features[other]))


def _read_texts(tables: TableStore, wanted: Iterable[Version]) -> Mapping[Version, str]:
    """Read the texts of some page versions."""
    wanted = sorted(wanted)
    sites, keys, crawls, _ = (sorted(set(column)) for column in zip(*wanted, strict=True))
    rows = tables.read(
        names.T_PAGES,
        sites=sites,
        columns=[*_VERSION, "text"],
        where=ds.field("url_key").isin(keys) & ds.field("crawl_id").isin(crawls),
    )
    stored = {
        version: row for row, version in enumerate(zip(*(rows[name].to_pylist() for name in _VERSION), strict=True))
    }
    for version in wanted:
        if version not in stored:
            raise PermanentError(f"page_state names a version of {version[1]} ({version[0]}) that pages does not hold")
    texts = rows["text"]
    return {version: texts[stored[version]].as_py() for version in wanted}

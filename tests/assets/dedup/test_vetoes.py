"""Versions in addresses, languages, and the vetoes they give."""

import ibis
import pyarrow as pa
import pytest

from assets.dedup.vetoes import language_column, version_column, version_of, veto
from resources.duckdb_engine import DuckDBEngine

VERSIONS = {
    "https://example.org/v1/guide": "v1",
    "https://example.org/V2/guide": "v2",
    "https://example.org/v2beta1/guide": "v2beta1",
    "https://docs.example.org/3.11/library/os.html": "3.11",
    "https://docs.example.org/docs/15/sql.html": "15",
    "https://docs.example.org/docs/15": "15",
    "https://docs.example.org/latest/a/1.2/b": "latest/1.2",
    "https://docs.example.org/stable/a": "stable",
    "https://docs.example.org/2.x/a": "2.x",
    "https://docs.example.org/v1.2.0-rc1/a": "v1.2.0-rc1",
    "https://docs.example.org/release-1.4/a": "release-1.4",
    "https://example.org/": "",
    "https://example.org/2024/some-post": "",
    "https://example.org/a1.html": "",
    "https://example.org/figure-1.2.png": "",
    "https://example.org/a?v=/3.11/": "",
    "https://1.2.3.4/a": "",
    "not an address": "",
    "": "",
}


@pytest.mark.parametrize(("url_key", "version"), VERSIONS.items())
def test_a_version_is_read_from_the_path(url_key: str, version: str) -> None:
    assert version_of(url_key) == version


def test_the_engine_reads_the_same_versions_and_languages() -> None:
    tags = ["en", "en-GB", "ZH-cn", "", "x"]
    keys = ibis.memtable(pa.table({"url_key": list(VERSIONS)}))
    languages = ibis.memtable(pa.table({"language": tags}))

    found = DuckDBEngine().run(keys.mutate(version=version_column(keys.url_key)))
    spoken = DuckDBEngine().run(languages.mutate(primary=language_column(languages.language)))

    assert dict(zip(*(column.to_pylist() for column in found.columns), strict=True)) == VERSIONS
    pairs = zip(*(column.to_pylist() for column in spoken.columns), strict=True)
    assert dict(pairs) == {tag: tag.lower().split("-")[0] for tag in tags}


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (("", "", "en", "en"), ""),
        (("3.11", "3.11", "en", ""), ""),
        (("3.11", "3.12", "en", "en"), "version"),
        (("3.11", "", "en", "en"), "version"),
        (("", "", "en", "de"), "language"),
    ],
)
def test_versions_and_languages_are_vetoes(facts: tuple[str, str, str, str], reason: str) -> None:
    assert veto(*facts) == reason

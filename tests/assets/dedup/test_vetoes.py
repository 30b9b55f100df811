"""Versions in addresses, languages, and the vetoes they give."""

import ibis
import pyarrow as pa
import pytest

from assets.dedup.vetoes import (
    Identity,
    language_column,
    page_number_column,
    page_number_of,
    version_column,
    version_of,
    veto,
)
from resources.ports import QueryEngine

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


PAGE_NUMBERS = {
    "https://example.org/news?page=2": "2",
    "https://example.org/news?tag=a&start=020&x=1": "20",
    "https://example.org/news/page/3/": "3",
    "https://example.org/news/page-4.html": "4",
    "https://example.org/news?page=1": "",
    "https://example.org/news?offset=0": "",
    "https://example.org/?p=123": "",
    "https://example.org/homepage/2": "",
    "https://example.org/page/about": "",
    "": "",
}


@pytest.mark.parametrize(("url_key", "number"), PAGE_NUMBERS.items())
def test_a_page_number_is_read_from_the_address(url_key: str, number: str) -> None:
    assert page_number_of(url_key) == number


@pytest.mark.parametrize(("url_key", "version"), VERSIONS.items())
def test_a_version_is_read_from_the_path(url_key: str, version: str) -> None:
    assert version_of(url_key) == version


def test_the_engine_reads_the_same_versions_numbers_and_languages(engine: QueryEngine) -> None:
    tags = ["en", "en-GB", "ZH-cn", "", "x"]
    keys = ibis.memtable(pa.table({"url_key": list(VERSIONS)}))
    languages = ibis.memtable(pa.table({"language": tags}))

    numbered = ibis.memtable(pa.table({"url_key": list(PAGE_NUMBERS)}))
    numbers = engine.run(numbered.mutate(number=page_number_column(numbered.url_key)))
    found = engine.run(keys.mutate(version=version_column(keys.url_key)))
    spoken = engine.run(languages.mutate(primary=language_column(languages.language)))

    assert dict(zip(*(column.to_pylist() for column in found.columns), strict=True)) == VERSIONS
    assert dict(zip(*(column.to_pylist() for column in numbers.columns), strict=True)) == PAGE_NUMBERS
    pairs = zip(*(column.to_pylist() for column in spoken.columns), strict=True)
    assert dict(pairs) == {tag: tag.lower().split("-")[0] for tag in tags}


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ((Identity("https://a/x", "en"), Identity("https://a/y", "en-GB")), ""),
        ((Identity("https://a/3.11/x", "en"), Identity("https://b/3.11/x")), ""),
        ((Identity("https://a/3.11/x"), Identity("https://a/3.12/x")), "version"),
        ((Identity("https://a/3.11/x"), Identity("https://a/x", "de")), "version"),
        ((Identity("https://a/x", "en"), Identity("https://a/y", "de")), "language"),
        ((Identity("https://a/x?page=2"), Identity("https://a/x?page=3")), "pagination"),
        ((Identity("https://a/x"), Identity("https://a/x/page/2")), "pagination"),
        ((Identity("https://a/x"), Identity("https://a/x?page=1")), ""),
        ((Identity("https://a/x", "", "https://a/x"), Identity("https://a/y", "", "https://a/y")), "canonical"),
        ((Identity("https://a/x", "", "https://a/x"), Identity("https://a/y", "", "https://a/x")), ""),
        ((Identity("https://a/x", "", "https://a/x"), Identity("https://a/y")), ""),
    ],
)
def test_what_tells_pages_apart_is_a_veto(facts: tuple[Identity, Identity], reason: str) -> None:
    assert veto(*facts) == veto(*facts[::-1]) == reason

"""Sitemaps and feeds: the test cases of crawler-commons, and the links of real feeds as feedparser reads them."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from assets.seeds.sitemaps.entries import SitemapReading
from assets.seeds.sitemaps.following import is_under
from assets.seeds.sitemaps.reading import parse_sitemap
from assets.url.parse import resolve
from tests.conformance.score import Score

_CASES_FLOOR: Final = 52
_FEEDS_FLOOR: Final = 159
_LINKS_FLOOR: Final = 2336
_NO_URL: Final = "http://www.example.com/sitemap.xml"  # of a case that has none, and of the feeds


def sitemap_numbers(data: Path) -> list[Score]:
    """Count what comes out right.

    Args:
        data: the folder ``sitemaps`` of the reference data; the files of the feeds lie in ``charset`` beside it.
    """
    cases = [case_passes(case, data) for case in _lines(data / "crawler-commons.jsonl")]
    scores = [Score("sitemaps: crawler-commons cases", sum(cases), len(cases), _CASES_FLOOR)]
    archive = data.parent / "charset" / "detect-files.tar.xz"
    feeds = {fact["file"]: fact["links"] for fact in _lines(data / "real-feeds.jsonl")}
    if archive.exists():
        links = [(_addresses(wanted), found) for wanted, found in _feeds(archive, feeds)]
        whole = sum(wanted == found for wanted, found in links)
        held = sum(len(wanted & found) for wanted, found in links)
        total = sum(len(_addresses(wanted)) for wanted in feeds.values())
        scores += [
            Score("feeds: exactly the links of feedparser", whole, len(feeds), _FEEDS_FLOOR),
            Score("feeds: links", held, total, _LINKS_FLOOR),
        ]
    return scores


def case_passes(case: dict[str, Any], data: Path) -> bool:
    """Tell whether a case of crawler-commons comes out as it says.

    Where it wants an error we want a reason: what could be read of a broken file counts, and is told to be less.
    """
    url = case["sitemap_url"] or _NO_URL
    reading = parse_sitemap((data / case["file"]).read_bytes(), url)
    expected = case["expect"]
    if expected.get("error"):
        return reading.reason != ""
    if "sitemaps" in expected:
        return len(reading.sitemaps) == int(expected["sitemaps"])
    return len(_counting(reading, url, strict_location=case["strict_location"])) == int(expected["urls"])


def _counting(reading: SitemapReading, url: str, *, strict_location: bool) -> list[str]:
    return [entry.url for entry in reading.entries if not strict_location or is_under(entry.url, url)]


def _feeds(archive: Path, wanted: dict[str, list[str]]) -> Iterator[tuple[list[str], set[str]]]:
    with tarfile.open(archive) as files:
        for member in files:
            stored = files.extractfile(member) if member.name in wanted else None
            if stored is not None:
                yield wanted[member.name], {entry.url for entry in parse_sitemap(stored.read(), _NO_URL).entries}


def _addresses(links: list[str]) -> set[str]:
    return {address for link in links if link and (address := resolve(link, _NO_URL))}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)

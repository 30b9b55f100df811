"""The conformance sets: a folder of the reference data beside this checkout, and what counts it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.conformance.near_duplicates import near_duplicate_numbers
from tests.conformance.robots import robots_numbers
from tests.conformance.score import Score
from tests.conformance.sitemaps import sitemap_numbers
from tests.conformance.urls import psl_numbers, url_numbers
from tests.conformance.warc import warc_numbers

DATA: Final = Path(__file__).resolve().parents[3] / "shared" / "data"

SETS: Final[Mapping[str, Callable[[Path], list[Score]]]] = {
    "url": url_numbers,
    "psl": psl_numbers,
    "robots": robots_numbers,
    "sitemaps": sitemap_numbers,
    "warc": warc_numbers,
    "neardup": near_duplicate_numbers,
}

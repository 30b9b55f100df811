"""Quality of main texts and titles: real pages with passages that belong to the article, and passages that do not."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from assets.extract.extractor import ExtractDocument, extract
from tests.conformance.packed import tar_files
from tests.conformance.quality import Quality, f_measure, share


@dataclass(frozen=True, slots=True)
class Chunks:
    """Passages of one page: those of the article that were found and missed, and those of the furniture."""

    found: int
    missed: int
    furniture_found: int
    furniture_left_out: int
    title_right: bool | None  # None when nobody wrote the right one down


def extraction_numbers(data: Path) -> list[Quality]:
    """Measure main texts and titles on ``extraction/trafilatura``.

    A passage counts when the text contains it, white space folded; precision, recall and F are over all passages.
    """
    pages = judged_pages(data)
    found, missed = sum(page.found for page in pages), sum(page.missed for page in pages)
    furniture = sum(page.furniture_found for page in pages)
    return [
        Quality("main text: F", f_measure(found, furniture, missed)),
        Quality("main text: precision", found / (found + furniture)),
        Quality("main text: recall", found / (found + missed)),
        Quality("title: exact", share(page.title_right for page in pages if page.title_right is not None)),
    ]


def judged_pages(data: Path) -> list[Chunks]:
    """Extract every page and compare it with what people said of it, in the order of the data."""
    facts: dict[str, dict[str, Any]] = json.loads((data / "trafilatura" / "evaldata.json").read_text("utf-8"))
    with get_context("forkserver").Pool() as pool:
        return pool.starmap(_judged, _documents(data, facts), chunksize=8)


def _documents(
    data: Path, facts: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[ExtractDocument, Mapping[str, Any]]]:
    files = dict(tar_files(data / "trafilatura" / "html.tar.xz"))
    for url, fact in facts.items():
        body = files[f"html/{fact['file']}"]
        yield ExtractDocument(url, body, None, "text/html", None), fact


def _judged(document: ExtractDocument, fact: Mapping[str, Any]) -> Chunks:
    row = extract(document)
    text = _folded(row["text"])
    wanted = [_folded(chunk) in text for chunk in fact["with"]]
    furniture = [_folded(chunk) in text for chunk in fact["without"]]
    title = fact.get("title")
    return Chunks(
        found=sum(wanted),
        missed=len(wanted) - sum(wanted),
        furniture_found=sum(furniture),
        furniture_left_out=len(furniture) - sum(furniture),
        title_right=_folded(row["title"]) == _folded(title) if title else None,
    )


def _folded(text: object) -> str:
    return " ".join(str(text).split())

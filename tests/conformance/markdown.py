"""Quality of Markdown: pages of books, and the Markdown that they were made from."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from assets.extract.extractor import ExtractDocument, extract
from tests.conformance.packed import tar_files
from tests.conformance.quality import Quality, f_measure

GRAM_WORDS: Final = 4
_FENCE: Final = re.compile(r"^[ >\t]*(?:```+|~~~+)")
_HEADING: Final = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_LINK: Final = re.compile(r"(\[[^\[\]]*\])\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_REFERENCE: Final = re.compile(r"^\s*\[[^\]]+\]:\s+\S+.*$", re.MULTILINE)
_HIDDEN: Final = re.compile(r"^\s*#(?:\s|$)")
_MARKS: Final = re.compile(r"[`*_\\\[\]]")


@dataclass(frozen=True, slots=True)
class Markdown:
    """What is compared of a Markdown text."""

    headings: Counter[tuple[int, str]]
    grams: Counter[tuple[str, ...]]
    code: list[str]  # blocks, white space folded


@dataclass(frozen=True, slots=True)
class Counts:
    """How many things two Markdown texts share, and how many only one has."""

    headings: tuple[int, int, int]  # in both, only in ours, only in the source
    grams: tuple[int, int, int]
    code_kept: int
    code_blocks: int


def markdown_numbers(data: Path) -> list[Quality]:
    """Measure headings, words in their order, and code blocks on ``markdown``; all over all pages."""
    pages = compared_pages(data)
    return [
        Quality("markdown: headings F1", _f1([page.headings for page in pages])),
        Quality("markdown: 4-grams F1", _f1([page.grams for page in pages])),
        Quality("markdown: code verbatim", sum(p.code_kept for p in pages) / sum(p.code_blocks for p in pages)),
    ]


def compared_pages(data: Path) -> list[Counts]:
    """Extract every page and compare it with its source, in the order of the data."""
    files = dict(tar_files(data / "pages.tar.xz"))
    facts = [json.loads(line) for line in (data / "pages.jsonl").read_text("utf-8").splitlines()]
    work = [(_document(fact, files), files[fact["markdown"]].decode("utf-8"), fact) for fact in facts]
    with get_context("forkserver").Pool() as pool:
        return pool.starmap(_compared, work, chunksize=8)


def _document(fact: Mapping[str, Any], files: Mapping[str, bytes]) -> ExtractDocument:
    return ExtractDocument(f"http://e.test/{fact['id']}", files[fact["html"]], None, "text/html", None)


def _compared(document: ExtractDocument, source: str, fact: Mapping[str, Any]) -> Counts:
    ours, theirs = parts(str(extract(document)["markdown"])), parts(source)
    headings = Counter((int(level), _words(text)) for level, text in fact["headings"])
    left = Counter(ours.code)
    kept = Counter(theirs.code) & left
    return Counts(
        headings=_overlap(ours.headings, headings),
        grams=_overlap(ours.grams, theirs.grams),
        code_kept=kept.total(),
        code_blocks=len(theirs.code),
    )


def parts(markdown: str) -> Markdown:
    """Take a Markdown text apart."""
    headings: Counter[tuple[int, str]] = Counter()
    prose: list[str] = []
    blocks: list[list[str]] = []
    in_code = False
    for line in markdown.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
            if in_code:
                blocks.append([])
        elif in_code:
            # Lines that the books hide from their readers.
            if not _HIDDEN.match(line):
                blocks[-1].append(line)
                prose.append(line)
        else:
            if heading := _HEADING.match(line):
                headings[len(heading[1]), _words(_LINK.sub(r"\1", heading[2]))] += 1
            prose.append(line)
    text = _REFERENCE.sub("", _LINK.sub(r"\1", "\n".join(prose)))
    words = re.findall(r"\w+", text.lower())
    grams = Counter(tuple(words[at : at + GRAM_WORDS]) for at in range(len(words) - GRAM_WORDS + 1))
    return Markdown(headings, grams, [" ".join(" ".join(block).split()) for block in blocks])


def _words(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _overlap(ours: Counter[Any], theirs: Counter[Any]) -> tuple[int, int, int]:
    both = (ours & theirs).total()
    return both, ours.total() - both, theirs.total() - both


def _f1(counts: list[tuple[int, int, int]]) -> float:
    right, wrong, missed = (sum(column) for column in zip(*counts, strict=True))
    return f_measure(right, wrong, missed)

"""Chunking: a document's Markdown cut into pieces for retrieval, along its headings, paragraphs and sentences."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from resources.ports import IndexDocument

# Other rules give other chunks: all are made anew.
CHUNKER_VERSION: Final = "1"
# Words, numbers, marks, and characters of scripts without spaces count one each; models cut words a third finer or so.
_TOKEN: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|[^\w\s]"
)
_HEADING: Final = re.compile(r"(#{1,6}) +(.*)")
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_BOUNDARIES: Final = (re.compile(r"\n\s*"), re.compile(r"[.!?]\s+|[。！？]"), re.compile(r"\s+"))


class Unit(StrEnum):
    """In what a chunk is measured."""

    CHARACTERS = "characters"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """How long a chunk may be."""

    most: int = 2_000
    unit: Unit = Unit.CHARACTERS

    def __post_init__(self) -> None:
        if self.most < 16:
            raise ValueError(f"a chunk must hold at least 16 {self.unit}, got {self.most}")

    def of(self, text: str) -> int:
        """Measure a text.

        >>> ChunkSize(100, Unit.TOKENS).of("Tide tables, 潮汐.")
        6
        """
        return len(text) if self.unit is Unit.CHARACTERS else sum(1 for _ in _TOKEN.finditer(text))

    def reach(self, text: str, start: int, end: int) -> int:
        """Say how far from ``start`` a chunk may go."""
        if self.unit is Unit.CHARACTERS:
            return min(end, start + self.most)
        beyond = next(islice(_TOKEN.finditer(text, start, end), self.most, None), None)
        return beyond.start() if beyond else end


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document. Its id stays while its text does, wherever on the page that moves."""

    chunk_id: str
    document_id: str
    site: str
    url: str
    title: str
    language: str
    headings: tuple[str, ...]  # those above it, outermost first
    start: int  # in the document's Markdown, in characters
    end: int
    text: str  # the Markdown from start to end


@dataclass(frozen=True, slots=True)
class _Block:
    """A heading, a paragraph, or a fenced code."""

    start: int
    end: int
    headings: tuple[str, ...]  # itself included
    is_heading: bool


def chunks_of(document: IndexDocument, size: ChunkSize) -> list[Chunk]:
    """Cut a document, in order. No chunk is longer than ``size``; all that is no white space is in exactly one.

    A chunk begins at each heading, but sections shorter than a quarter of ``size`` go together with what follows.
    """
    text = document.markdown
    seen: Counter[str] = Counter()
    chunks = []
    for start, end, headings in _pieces(text, size):
        piece = text[start:end]
        seen[piece] += 1
        told = f"{document.document_id}\n{seen[piece]}\n{piece}"
        chunks.append(
            Chunk(
                chunk_id=hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32],
                document_id=document.document_id,
                site=document.site,
                url=document.url,
                title=document.title,
                language=document.language,
                headings=headings,
                start=start,
                end=end,
                text=piece,
            )
        )
    return chunks


def _pieces(text: str, size: ChunkSize) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Give start, end and headings of each piece."""
    open_from: _Block | None = None
    start = end = 0
    for block in _blocks(text):
        if open_from is not None:
            is_long_enough = block.is_heading and size.of(text[start:end]) * 4 >= size.most
            if is_long_enough or size.of(text[start : block.end]) > size.most:
                yield start, end, open_from.headings
                open_from = None
        if open_from is None:
            open_from, start = block, block.start
        end = block.end
        while size.reach(text, start, end) < end:
            cut, following = _cut(text, start, size.reach(text, start, end))
            yield start, cut, open_from.headings
            start, open_from = following, block
    if open_from is not None:
        yield start, end, open_from.headings


def _cut(text: str, start: int, reach: int) -> tuple[int, int]:
    """Say where a piece that is too long ends, and where the next begins: at the best boundary of its second half."""
    for boundary in _BOUNDARIES:
        found = [match for match in boundary.finditer(text, start + (reach - start) // 2, reach) if match.end() < reach]
        if found:
            last = found[-1]
            end = last.end() - len(last.group()) + len(last.group().rstrip())
            return end, last.end()
    end = start + len(text[start:reach].rstrip())
    return end, reach


def _blocks(text: str) -> Iterator[_Block]:
    """Give headings, fenced codes, and what stands between blank lines."""
    path: list[tuple[int, str]] = []
    start = end = at = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        line_start, at = at, at + len(line)
        content_end = line_start + len(line.rstrip())
        marked = _FENCE.match(line)
        if fence:
            end = content_end if line.strip() else end
            fence = "" if marked and marked[1] == fence else fence
            continue
        heading = _HEADING.match(line)
        if (heading or not line.strip()) and end > start:
            yield _Block(start, end, _names(path), False)
            start = end
        if heading:
            path = [one for one in path if one[0] < len(heading[1])] + [(len(heading[1]), heading[2].strip())]
            yield _Block(line_start, content_end, _names(path), True)
            start = end = at
        elif line.strip():
            start = line_start + len(line) - len(line.lstrip()) if end <= start else start
            end = content_end
            fence = marked[1] if marked else ""
    if end > start:
        yield _Block(start, end, _names(path), False)


def _names(path: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(name for _, name in path)

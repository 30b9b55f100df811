"""Index sinks: what takes the index feed, and what answers searches."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """One live page as a search index gets it. ``document_id`` is stable over crawls."""

    document_id: str  # hex SHA-256 of site and url_key, 32 characters
    site: str
    url: str
    url_key: str
    title: str
    markdown: str
    text: str
    language: str
    published_on: str  # ISO date, or empty
    fetched_at: str  # ISO 8601 UTC
    text_digest: str
    warc_file: str
    warc_offset: int
    warc_bytes: int = 0
    headings: tuple[str, ...] = ()
    section: str = ""  # path of the URL without its last segment
    modified_on: str = ""  # ISO date, or empty
    extractor_version: str = ""
    in_links: int = 0  # pages of the site that link it, when the document was fed
    anchor_texts: tuple[str, ...] = ()  # of those links, the most frequent ones, in alphabetical order


@dataclass(frozen=True, slots=True)
class FeedBatch:
    """One numbered difference: put these, remove those. A site's batches are numbered 1, 2, 3, ... without gaps.

    A snapshot stands for all batches up to its number: it puts what is live, and removes whatever was live once.
    """

    site: str
    sequence: int
    upserts: tuple[IndexDocument, ...]
    tombstones: tuple[str, ...]  # document ids
    is_snapshot: bool = False

    def follows(self, cursor: int) -> bool:
        """Say whether an index that is at batch ``cursor`` may take this one."""
        return self.sequence == cursor + 1 or (self.is_snapshot and self.sequence > cursor)

    def changes(self) -> Iterator[dict[str, Any]]:
        """Give its changes as JSON objects, in the order in which they are applied."""
        yield from ({"op": "upsert", "document": asdict(document)} for document in self.upserts)
        yield from ({"op": "tombstone", "document_id": document_id} for document_id in self.tombstones)


@runtime_checkable
class IndexSink(Protocol):
    """Applies feed batches in order. Applying a batch twice changes nothing."""

    name: str

    def cursor(self, site: str) -> int:
        """Give the number of the last batch applied for a site; 0 when none was."""
        ...

    def apply(self, batches: Sequence[FeedBatch]) -> None:
        """Apply batches of one site, in order; a batch at or below the cursor is passed over.

        Raises:
            PermanentError: a batch does not follow the one before it.
        """
        ...


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One answer of the full-text index."""

    site: str
    url: str
    title: str
    score: float
    snippet_html: str  # escaped text, hits in <b>
    language: str = ""
    day: str = ""  # ISO date: when it was modified or published, as it says, else when it was fetched


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Which pages may be hits."""

    site: str | None = None
    language: str | None = None  # a tag such as ``pt-BR``, or its first part for all of them
    after: date | None = None  # pages whose day is this one or later


EVERYTHING: Final = SearchFilter()


@runtime_checkable
class SearchIndex(Protocol):
    """Answers searches."""

    def search(
        self, words: str, *, limit: int = 10, offset: int = 0, only: SearchFilter = EVERYTHING
    ) -> list[SearchHit]:
        """Give the best hits first, after passing over ``offset`` of them. No index yet gives no hits."""
        ...

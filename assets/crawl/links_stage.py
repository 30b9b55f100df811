"""The links stage of a layer: stored pages are parsed in worker processes, one row a page."""

from collections import Counter, deque
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.links_ahead import BYTES_A_CHUNK, PAGES_A_CHUNK, link_chunk, stored_page
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.derived import CheckResult
from assets.fetch.item import Purpose
from assets.fetch.outcome import READABLE
from assets.links.chunk import LinkChunk, StoredPage, commits_of, read_chunk, rows_of, unread_chunk
from assets.url.key import DEFAULT_RULES
from assets.warc.reading import read_members
from assets.warc.records import Place
from resources.ports import DocumentWorkers, WorkFailure

PAGES_PARSED: Final = "pages_parsed"
_CAPTURE_KEY: Final = ("url_key", "requested_at")
_CAPTURE_COLUMNS: Final = (
    *_CAPTURE_KEY,
    "outcome",
    "purpose",
    "record_type",
    "url",
    "content_type",
    "robots_tag",
    "link_header",
    "body_warc_file",
    "body_warc_offset",
    "body_warc_bytes",
)
_LIMIT: Final = "parser "  # begins the reason of a page that cost its worker


def links(crawl: SiteCrawl, layer: names.Layer) -> StageResult:
    """Parse the pages of a layer that this crawl has not parsed yet."""
    if not crawl.is_done(layer.links):
        parsed, captures = _captures_to_parse(crawl, layer)
        rows = chain.from_iterable(table.to_batches() for table in _parsed(crawl, layer.name, captures))
        for part in commits_of(rows):
            crawl.ports.tables.append(names.T_LINKS, part)
        crawl.mark(layer.links, rows_in=parsed + len(captures), rows_out=parsed + len(captures))
    return _result(crawl, layer.name)


def start_workers(workers: DocumentWorkers) -> None:
    """Start the worker processes, so that they are there when the first pages are."""
    list(workers.map(read_chunk, [LinkChunk("", "", "", (), DEFAULT_RULES, 1)]))


def _captures_to_parse(crawl: SiteCrawl, layer: names.Layer) -> tuple[int, list[dict[str, Any]]]:
    """Count the pages that are parsed already, and give the captures that are not."""
    # What the seed check fetched is depth 0.
    layers = [layer.name, *([names.SEED_LAYER] if layer == names.depth(0) else [])]
    readable = (
        pc.field("outcome").isin([outcome.value for outcome in READABLE])
        & (pc.field("purpose") == Purpose.PAGE.value)
        & pc.field("body_warc_file").is_valid()
    )
    if layer.kind == "refresh":
        # A page that is as it was links what it linked.
        readable &= pc.field("record_type") == "response"
    captures = crawl.rows(names.T_FETCHES, list(_CAPTURE_COLUMNS), layer=layers).filter(readable)
    parsed = crawl.rows(names.T_LINKS, list(_CAPTURE_KEY), layer=layer.name)
    todo = captures.join(parsed, list(_CAPTURE_KEY), join_type="left anti") if parsed.num_rows else captures
    in_order = todo.sort_by([("body_warc_file", "ascending"), ("body_warc_offset", "ascending")])
    return parsed.num_rows, in_order.to_pylist()


def _parsed(crawl: SiteCrawl, layer: str, captures: list[dict[str, Any]]) -> Iterator[pa.Table]:
    """Give the rows of captures, chunk by chunk."""
    sent: deque[LinkChunk] = deque()  # whose rows have not come yet

    def chunks() -> Iterator[LinkChunk]:
        places = [Place(row["body_warc_file"], row["body_warc_offset"], row["body_warc_bytes"]) for row in captures]
        pages: list[StoredPage] = []
        size_bytes = 0
        for row, member in zip(captures, read_members(crawl.ports.objects, places), strict=True):
            pages.append(stored_page(row, member))
            size_bytes += len(member)
            if len(pages) == PAGES_A_CHUNK or size_bytes >= BYTES_A_CHUNK:
                sent.append(link_chunk(crawl, layer, pages))
                yield sent[-1]
                pages, size_bytes = [], 0
        if pages:
            sent.append(link_chunk(crawl, layer, pages))
            yield sent[-1]

    for found in crawl.ports.workers.map(read_chunk, chunks()):
        chunk = sent.popleft()
        if isinstance(found, WorkFailure):
            yield from _one_by_one(crawl, layer, chunk)
        else:
            yield rows_of(found)


def _one_by_one(crawl: SiteCrawl, layer: str, chunk: LinkChunk) -> Iterator[pa.Table]:
    """Parse the pages of a chunk that cost its worker again, each by itself: one of them is to blame."""
    singles = [link_chunk(crawl, layer, [page]) for page in chunk.pages]
    for single, found in zip(singles, crawl.ports.workers.map(read_chunk, singles), strict=True):
        if isinstance(found, WorkFailure):
            yield unread_chunk(single, f"{_LIMIT}{found.reason}: {found.detail}")
        else:
            yield rows_of(found)


def _result(crawl: SiteCrawl, layer: str) -> StageResult:
    rows = crawl.rows(names.T_LINKS, ["reason", "charset"], layer=layer)
    reasons = Counter(reason for reason in rows.column("reason").to_pylist() if reason)
    lost = sum(count for reason, count in reasons.items() if reason.startswith(_LIMIT))
    members: Counter[str] = Counter()
    for pages in crawl.link_pages(layer, ["requested_at", "hyperlinks", "resources"]):
        for name in ("hyperlinks", "resources"):
            members[name] += pc.sum(pc.list_value_length(pages[name])).as_py()
        del pages
        pa.default_memory_pool().release_unused()  # else each read leaves some of its memory with the pool
    charsets = {row["values"]: row["counts"] for row in pc.value_counts(rows.column("charset")).to_pylist()}
    return StageResult(
        rows_in=rows.num_rows,
        rows_out=rows.num_rows - lost,
        metadata={
            "pages_parsed": rows.num_rows - lost,
            "hyperlinks": members["hyperlinks"],
            "resources": members["resources"],
            "reasons": dg.MetadataValue.json(dict(reasons.most_common(20))),
            "charsets": dg.MetadataValue.json(charsets),
        },
        checks=(
            CheckResult(
                PAGES_PARSED,
                passed=lost == 0,
                description=f"{lost} of {rows.num_rows} pages could not be parsed",
            ),
        ),
    )

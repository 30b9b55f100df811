"""Links read ahead: pages are parsed by the worker processes while others of their layer are still fetched.

What is taken here is a copy of what goes into the archive. It is a saving and no more: what does not fit, or costs its
worker, is left to the links stage, which reads the archive.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from assets.crawl.link_readers import LinkReaders
from assets.crawl.site_crawl import SiteCrawl
from assets.fetch.item import Purpose
from assets.fetch.outcome import READABLE
from assets.links.chunk import LinkChunk, StoredPage
from assets.schemas import LINKS

PAGES_A_CHUNK: Final = 16
BYTES_A_CHUNK: Final = 256 * 1024  # as stored, compressed
MAX_TEXT_BYTES: Final = 50 * 1024 * 1024
MAX_HELD_BYTES: Final = 128 * 1024 * 1024  # records as stored, and rows; of all sites of a run


def stored_page(row: Mapping[str, Any], member: bytes) -> StoredPage:
    """Give what the parser needs of a capture: its row of ``fetches`` and the record with its payload."""
    return StoredPage(
        member=member,
        url=row["url"],
        url_key=row["url_key"],
        requested_at=row["requested_at"],
        content_type=row["content_type"],
        robots_tag=row["robots_tag"],
        link_header=row["link_header"],
    )


def link_chunk(crawl: SiteCrawl, layer: str, pages: Sequence[StoredPage]) -> LinkChunk:
    """Give pages of a layer the form in which they travel to a worker."""
    return LinkChunk(
        site=crawl.site,
        crawl_id=crawl.crawl_id,
        layer=layer,
        pages=tuple(pages),
        key_rules=crawl.key_rules,
        max_bytes=MAX_TEXT_BYTES,
    )


class LinksAhead:
    """The pages of one layer of one site that are parsed ahead. Used from one event loop."""

    def __init__(self, crawl: SiteCrawl, layer: str, readers: LinkReaders) -> None:
        self._crawl = crawl
        self._layer = layer
        self._readers = readers
        self._pages: list[StoredPage] = []
        self._page_bytes = 0
        self._reading: list[asyncio.Task[pa.Table | None]] = []
        self._held_bytes = 0

    def offer(self, row: Mapping[str, Any], member: bytes) -> None:
        """Take a capture, with a record that holds its payload, if it is a page whose links will be wanted."""
        if row["purpose"] != Purpose.PAGE or row["outcome"] not in READABLE:
            return
        if self._readers.held_bytes > MAX_HELD_BYTES:
            return
        self._readers.held_bytes += len(member)
        self._held_bytes += len(member)
        self._pages.append(stored_page(row, member))
        self._page_bytes += len(member)
        if len(self._pages) == PAGES_A_CHUNK or self._page_bytes >= BYTES_A_CHUNK:
            self._send()

    def cut(self) -> "asyncio.Task[pa.Table]":
        """End a part at the moment in which its batch ends; give its rows of ``links``, once they are read."""
        self._send()
        reading, self._reading = self._reading, []
        held_bytes, self._held_bytes = self._held_bytes, 0

        async def rows() -> pa.Table:
            read: list[pa.Table] = []
            try:
                read += [table for table in await asyncio.gather(*reading) if table is not None]
            finally:
                self._readers.held_bytes -= held_bytes + sum(table.nbytes for table in read)
            return pa.concat_tables(read) if read else LINKS.empty_table()

        return asyncio.create_task(rows())

    def _send(self) -> None:
        if self._pages:
            chunk = link_chunk(self._crawl, self._layer, self._pages)
            self._reading.append(asyncio.create_task(self._readers.read(chunk)))
        self._pages, self._page_bytes = [], 0

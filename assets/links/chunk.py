"""Chunks of stored pages: parsed by one worker in one go, since a job a page costs more than its parse."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, chain
from typing import Final

import pyarrow as pa

from assets.links.page import LinkDocument, PageLinks, read_links
from assets.links.unread import unread_links
from assets.schemas import LINKS
from assets.url.key import KeyRules
from assets.warc.reading import stored_body

ROWS_A_COMMIT: Final = 2_000
BYTES_A_COMMIT: Final = 24 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StoredPage:
    """One stored capture of a page."""

    member: bytes  # gzip member of the response record that holds its payload
    url: str
    url_key: str
    requested_at: datetime
    content_type: str | None
    robots_tag: str | None
    link_header: str | None


@dataclass(frozen=True, slots=True)
class LinkChunk:
    """Pages of one layer of one site."""

    site: str
    crawl_id: str
    layer: str
    pages: tuple[StoredPage, ...]
    key_rules: KeyRules
    max_bytes: int


def read_chunk(chunk: LinkChunk) -> bytes:
    """Parse pages into rows of ``links``; give them as an Arrow stream.

    Raises:
        DamagedArchive: a member is not one whole response record.
    """
    rows = _table(chunk, [_page_links(chunk, page) for page in chunk.pages])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, LINKS) as stream:
        stream.write_table(rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def rows_of(data: bytes) -> pa.Table:
    """Give the rows that ``read_chunk`` made."""
    return pa.ipc.open_stream(data).read_all()


def commits_of(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Give rows of ``links`` in the parts in which they are committed.

    The table store takes several times the size of a part while it writes, and a reader takes whole files.
    """
    part: list[pa.RecordBatch] = []
    for batch in rows:
        part.append(batch)
        if sum(held.num_rows for held in part) >= ROWS_A_COMMIT or sum(held.nbytes for held in part) >= BYTES_A_COMMIT:
            yield pa.Table.from_batches(part)
            part = []
    if part:
        yield pa.Table.from_batches(part)


def unread_chunk(chunk: LinkChunk, reason: str) -> pa.Table:
    """Give rows that say why pages could not be read."""
    facts = unread_links(reason)
    rows = [{**_capture(chunk, page), **facts} for page in chunk.pages]
    return pa.Table.from_pylist(rows, schema=LINKS)


def _page_links(chunk: LinkChunk, page: StoredPage) -> PageLinks:
    stored = stored_body(page.member, f"the stored record of {page.url}")
    return read_links(
        LinkDocument(
            url=page.url,
            body=stored.body,
            content_encoding=stored.header("Content-Encoding"),
            content_type=page.content_type,
            robots_tag=page.robots_tag,
            link_header=page.link_header,
            refresh=stored.header("Refresh"),
            key_rules=chunk.key_rules,
            max_bytes=chunk.max_bytes,
        )
    )


def _capture(chunk: LinkChunk, page: StoredPage) -> dict[str, object]:
    """Give the columns that say which capture a row is about."""
    return {
        "site": chunk.site,
        "crawl_id": chunk.crawl_id,
        "layer": chunk.layer,
        "url": page.url,
        "url_key": page.url_key,
        "requested_at": page.requested_at,
    }


def _table(chunk: LinkChunk, links: Sequence[PageLinks]) -> pa.Table:
    """Make the table column by column: rows as nested dicts cost Arrow as much as a page costs the parser."""
    captures = [_capture(chunk, page) for page in chunk.pages]
    columns = []
    for field in LINKS:
        if field.name in PageLinks.__slots__:
            values = [getattr(page, field.name) for page in links]
        else:
            values = [capture[field.name] for capture in captures]
        columns.append(_lists(values, field.type) if pa.types.is_list(field.type) else pa.array(values, field.type))
    table = pa.Table.from_arrays(columns, schema=LINKS)
    table.validate()
    return table


def _lists(rows: Sequence[Sequence[tuple[object, ...]]], kind: pa.ListType) -> pa.ListArray:
    """Make a column of lists of structs, whose fields come as tuples in the order of the schema."""
    offsets = pa.array(accumulate(map(len, rows), initial=0), pa.int32())
    fields = list(kind.value_type)
    members = zip(*chain.from_iterable(rows), strict=True) if any(rows) else ([],) * len(fields)
    arrays = [pa.array(values, field.type) for values, field in zip(members, fields, strict=True)]
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(arrays, fields=fields), type=kind)

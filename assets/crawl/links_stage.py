"""The links stage of a depth: stored pages are parsed in worker processes, one row a page."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.site_crawl import SiteCrawl, StageResult
from assets.derived import CheckResult
from assets.fetch.item import Purpose
from assets.fetch.outcome import READABLE
from assets.links.page import LinkDocument, read_links
from assets.links.unread import unread_links
from assets.schemas import LINKS
from assets.url.key import DEFAULT_RULES
from assets.warc.reading import read_bodies
from assets.warc.records import Place
from resources.ports import DocumentWorkers, WorkFailure

PAGES_PARSED: Final = "pages_parsed"
ROWS_A_COMMIT: Final = 2_000
MAX_TEXT_BYTES: Final = 50 * 1024 * 1024
_LIMIT: Final = "parser "  # begins the reason of a page that cost its worker


def links(crawl: SiteCrawl, depth: int) -> StageResult:
    """Parse the pages of a depth that this crawl has not parsed yet."""
    key, layer = names.links(depth), names.layer(depth)
    if not crawl.is_done(key):
        captures = _captures_to_parse(crawl, depth)
        batch: list[dict[str, Any]] = []
        for row in _parsed(crawl, layer, captures):
            batch.append(row)
            if len(batch) == ROWS_A_COMMIT:
                _append(crawl, batch)
                batch = []
        _append(crawl, batch)
        crawl.mark(
            key,
            rows_in=len(captures),
            rows_out=len(captures),
        )
    return _result(crawl, layer)


def start_workers(workers: DocumentWorkers) -> None:
    """Start the worker processes, so that they are there when the first pages are."""
    empty = LinkDocument("http://localhost/", b"", None, None, None, DEFAULT_RULES, 1)
    list(workers.map(read_links, [empty]))


def _captures_to_parse(crawl: SiteCrawl, depth: int) -> list[dict[str, Any]]:
    # What the seed check fetched is depth 0.
    layers = [names.layer(depth), *([names.SEED_LAYER] if depth == 0 else [])]
    readable = (
        pc.field("outcome").isin([outcome.value for outcome in READABLE])
        & (pc.field("purpose") == Purpose.PAGE.value)
        & pc.field("body_warc_file").is_valid()
        & pc.field("layer").isin(layers)
    )
    captures = crawl.rows(names.T_FETCHES).filter(readable).to_pylist()
    parsed = crawl.rows(names.T_LINKS, ["url_key", "requested_at"], layer=names.layer(depth)).to_pylist()
    done = {(row["url_key"], row["requested_at"]) for row in parsed}
    todo = [row for row in captures if (row["url_key"], row["requested_at"]) not in done]
    return sorted(todo, key=lambda row: (row["body_warc_file"], row["body_warc_offset"]))


def _parsed(crawl: SiteCrawl, layer: str, captures: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    places = [Place(row["body_warc_file"], row["body_warc_offset"], row["body_warc_bytes"]) for row in captures]

    def documents() -> Iterator[LinkDocument]:
        for row, stored in zip(captures, read_bodies(crawl.ports.objects, places), strict=True):
            yield LinkDocument(
                url=row["url"],
                body=stored.body,
                content_encoding=stored.header("Content-Encoding"),
                content_type=row["content_type"],
                robots_tag=row["robots_tag"],
                key_rules=crawl.key_rules,
                max_bytes=MAX_TEXT_BYTES,
            )

    results = crawl.ports.workers.map(read_links, documents())
    for row, found in zip(captures, results, strict=True):
        facts: Mapping[str, Any] = (
            unread_links(f"{_LIMIT}{found.reason}: {found.detail}") if isinstance(found, WorkFailure) else found
        )
        yield {
            "site": crawl.site,
            "crawl_id": crawl.crawl_id,
            "layer": layer,
            "url": row["url"],
            "url_key": row["url_key"],
            "requested_at": row["requested_at"],
            **facts,
        }


def _append(crawl: SiteCrawl, rows: list[dict[str, Any]]) -> None:
    crawl.ports.tables.append(names.T_LINKS, pa.Table.from_pylist(rows, schema=LINKS))


def _result(crawl: SiteCrawl, layer: str) -> StageResult:
    rows = crawl.rows(names.T_LINKS, ["reason", "charset", "hyperlinks", "resources"], layer=layer)
    reasons = Counter(reason for reason in rows.column("reason").to_pylist() if reason)
    lost = sum(count for reason, count in reasons.items() if reason.startswith(_LIMIT))
    hyperlinks = pc.sum(pc.list_value_length(rows.column("hyperlinks"))).as_py() or 0
    charsets = {row["values"]: row["counts"] for row in pc.value_counts(rows.column("charset")).to_pylist()}
    return StageResult(
        rows_in=rows.num_rows,
        rows_out=rows.num_rows - lost,
        metadata={
            "pages_parsed": rows.num_rows - lost,
            "hyperlinks": hyperlinks,
            "resources": pc.sum(pc.list_value_length(rows.column("resources"))).as_py() or 0,
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

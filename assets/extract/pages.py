"""The pages of one site: from its fetches to new rows of ``pages`` and to its ``page_state``."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.dataset as ds

from assets import names
from assets.extract.canonical import canonical_verdict
from assets.extract.current import COLUMNS, Capture, CurrentPage, PageStatus, current_pages, probes_of
from assets.extract.extractor import EXTRACTOR_VERSION, ExtractDocument, extract, no_text
from assets.extract.reextraction import Reextraction, read_former
from assets.extract.soft_404 import ErrorPages
from assets.extract.titles import path_title
from assets.extract.versions import (
    NO_VERSION,
    Likeness,
    Version,
    carried,
    groups,
    is_no_page,
    likeness,
    no_page,
    state_row,
    version_of,
)
from assets.schemas import PAGE_STATE, PAGES
from assets.url.key import DEFAULT_RULES, KeyRules
from assets.warc.reading import read_bodies
from resources.ports import DocumentWorkers, ObjectStore, TableStore, WorkFailure

ROWS_PER_COMMIT: Final = 500
_NARROW: Final = [
    *("crawl_id", "url_key", "extractor_version", "payload_digest", "text_digest", "simhash", "features"),
    *("bands", "fingerprint_version", "characters", "language", "declared_canonical", "canonical_verdict", "flags"),
]


@dataclass(frozen=True, slots=True)
class PagesResult:
    """What became of a site's pages."""

    metadata: dict[str, Any]
    digest: str  # of page_state: equal when nothing changed
    live_pages: int
    live_pages_without_text: int
    new_characters: int  # of the texts that were extracted or copied
    replacement_characters: int  # U+FFFD in those
    pages_before: int  # that lived before and live now
    characters_before: int  # of their texts, and now:
    characters_of_those: int
    flags_before: Mapping[str, float]  # share of those pages by flag, as they were, and now:
    flags: Mapping[str, float]


@dataclass(slots=True)
class _Work:
    """One run over one site: its parts, and what it has done so far."""

    site: str
    tables: TableStore
    objects: ObjectStore
    workers: DocumentWorkers
    rules: KeyRules
    versions: dict[str, Version] = field(default_factory=dict)  # by url_key
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)  # not yet appended
    again: Reextraction = field(default_factory=Reextraction)
    error_pages: ErrorPages = field(default_factory=ErrorPages)

    def add(self, page: CurrentPage, found: Mapping[str, object]) -> None:
        """Take in what the extractor found for a page."""
        if is_no_page(found):
            self.versions[page.url_key] = no_page(page)
            return
        row = _row(self.site, page, found, self.rules)
        row |= self.error_pages.flagged(row)
        self.rows.append(row)
        self.again.compare(row)
        self.counts["new_characters"] += row["characters"]
        self.counts["replacement_characters"] += row["text"].count("\ufffd")
        self.versions[page.url_key] = version_of(row, self.rules)
        if row["reason"]:
            self.reasons[row["reason"].partition(":")[0]] += 1
        if len(self.rows) >= ROWS_PER_COMMIT:
            self.append()

    def append(self) -> None:
        """Write the rows that wait."""
        self.tables.append(names.T_PAGES, pa.Table.from_pylist(self.rows, schema=PAGES))
        self.counts["rows_out"] += len(self.rows)
        self.rows = []


def pages_of_site(
    site: str,
    tables: TableStore,
    objects: ObjectStore,
    workers: DocumentWorkers,
    *,
    key_rules: KeyRules = DEFAULT_RULES,
    full_refresh: bool = False,
) -> PagesResult:
    """Extract what is new since the last time and say which version of each page is current.

    Equal payloads are extracted once. Rows go first, the state last: a run that dies is carried on by the next one.

    Args:
        key_rules: those of the site, for the keys of declared canonicals.
        full_refresh: extract everything again, though this extractor has done it.
    """
    wanted = ds.field("purpose").isin(["page", "probe"])
    fetches = tables.read(names.T_FETCHES, sites=[site], columns=COLUMNS, where=wanted)
    pages = current_pages(fetches.to_pylist())
    before = {row["url_key"]: row for row in tables.read(names.T_PAGE_STATE, sites=[site]).to_pylist()}
    work = _Work(site, tables, objects, workers, key_rules)
    todo = []
    for page in pages:
        if page.capture is None or page.status is PageStatus.NOT_A_PAGE:
            work.versions[page.url_key] = NO_VERSION
        elif not full_refresh and (version := carried(page, before.get(page.url_key))):
            work.versions[page.url_key] = version
            work.counts["carried_over"] += 1
        else:
            todo.append(page)
    if not full_refresh:
        todo = _without_copies(work, pages, _without_appended(work, todo))
    if todo:
        work.error_pages = _error_pages(work, probes_of(fetches.to_pylist()))
    stale = [before[page.url_key] for page in todo if page.url_key in before]
    work.again = read_former(tables, site, stale, EXTRACTOR_VERSION)
    _extract(work, groups(todo))
    work.append()
    state = [state_row(site, page, work.versions[page.url_key]) for page in pages]
    tables.replace(names.T_PAGE_STATE, sites=[site], rows=pa.Table.from_pylist(state, schema=PAGE_STATE))
    return _result(work, fetches.num_rows, before, state)


def _without_appended(work: _Work, todo: list[CurrentPage]) -> list[CurrentPage]:
    """Leave out what a run that died has appended already."""
    crawls = sorted({page.capture.crawl_id for page in todo if page.capture})
    appended = {
        (row["url_key"], row["crawl_id"], row["payload_digest"]): row
        for row in (_read_versions(work, _NARROW, ds.field("crawl_id").isin(crawls)) if crawls else ())
    }
    left = []
    for page in todo:
        capture = page.capture
        row = appended.get((page.url_key, capture.crawl_id, capture.payload_digest)) if capture else None
        if row is None:
            left.append(page)
        else:
            work.versions[page.url_key] = version_of(row, work.rules)
            work.counts["carried_over"] += 1
    return left


def _without_copies(work: _Work, pages: list[CurrentPage], todo: list[CurrentPage]) -> list[CurrentPage]:
    """Copy the rows of captures that are current at another address of the site; leave them out."""
    wanted = {likeness(page): page for page in todo}
    donors: dict[Likeness, tuple[str, str]] = {}
    for page in pages:
        version = work.versions.get(page.url_key)
        if version and version.columns["page_crawl_id"] and page.capture and likeness(page) in wanted:
            donors.setdefault(likeness(page), (page.url_key, version.columns["page_crawl_id"]))
    if not donors:
        return todo
    where = ds.field("url_key").isin(sorted({key for key, _ in donors.values()}))
    stored = {(row["url_key"], row["crawl_id"]): row for row in _read_versions(work, PAGES.names, where)}
    left = []
    for page in todo:
        donor = stored.get(donors.get(likeness(page), ("", "")))
        if donor is None:
            left.append(page)
        else:
            work.add(page, donor)
            work.counts["copied"] += 1
    return left


def _read_versions(work: _Work, columns: Sequence[str], where: ds.Expression) -> list[dict[str, Any]]:
    ours = ds.field("extractor_version") == EXTRACTOR_VERSION
    rows = work.tables.read(names.T_PAGES, sites=[work.site], columns=columns, where=where & ours)
    found: list[dict[str, Any]] = rows.to_pylist()
    return found


def _extract(work: _Work, grouped: list[list[CurrentPage]]) -> None:
    """Extract the first of each group; the others get the same."""
    first = [group[0] for group in grouped]
    captures = [page.capture for page in first if page.capture]
    results = work.workers.map(extract, _documents(work.objects, captures))
    for group, found in zip(grouped, results, strict=True):
        for page in group:
            if isinstance(found, WorkFailure):
                work.add(page, no_text(page.url, f"{found.reason}: {found.detail}"))
            else:
                work.add(page, found)
        work.counts["extracted"] += 1
        work.counts["copied"] += len(group) - 1


def _error_pages(work: _Work, probes: Sequence[Capture]) -> ErrorPages:
    results = work.workers.map(extract, _documents(work.objects, probes))
    urls = [probe.url for probe in probes]
    return ErrorPages(
        (url, found) for url, found in zip(urls, results, strict=True) if not isinstance(found, WorkFailure)
    )


def _documents(objects: ObjectStore, captures: Sequence[Capture]) -> Iterator[ExtractDocument]:
    bodies = read_bodies(objects, [capture.place for capture in captures])
    for capture, stored in zip(captures, bodies, strict=True):
        yield ExtractDocument(
            url=capture.url,
            body=stored.body,
            content_encoding=stored.header("Content-Encoding"),
            content_type=capture.content_type,
            robots_tag=capture.robots_tag,
            link_header=capture.link_header,
        )


def _row(site: str, page: CurrentPage, found: Mapping[str, object], rules: KeyRules) -> dict[str, Any]:
    """Make a row of ``pages`` of what was found in this capture or in an equal one."""
    capture = page.capture
    if capture is None:
        raise ValueError(f"{page.url_key} has no capture")
    title = {"title": path_title(capture.url)} if found["title_source"] == "path" else {}
    return {
        **found,
        **title,
        "canonical_verdict": canonical_verdict(
            str(found["declared_canonical"]), cast(list[str], found["other_canonicals"]), capture.url, rules
        ).value,
        "site": site,
        "crawl_id": capture.crawl_id,
        "url": capture.url,
        "url_key": page.url_key,
        "fetched_at": capture.fetched_at,
        "payload_digest": capture.payload_digest,
    }


def _result(
    work: _Work, rows_in: int, before: Mapping[str, Mapping[str, Any]], state: list[dict[str, Any]]
) -> PagesResult:
    digest = hashlib.sha256()
    for row in state:
        facts = [row[name] for name in ("url_key", "status", "page_crawl_id", "extractor_version", "text_digest")]
        digest.update(repr([*facts, row["flags"]]).encode("utf-8", "replace"))
    live = [row for row in state if row["status"] == PageStatus.LIVE]
    metadata: dict[str, Any] = {
        "rows_in": rows_in,
        "rows_out": work.counts["rows_out"],
        "extracted": work.counts["extracted"],
        "copied": work.counts["copied"],
        "carried_over": work.counts["carried_over"],
        "without_text_by_reason": dict(work.reasons),
        "pages_by_status": dict(Counter(row["status"] for row in state)),
        "flags": dict(Counter(flag for row in live for flag in row["flags"])),
        "characters": sum(row["characters"] for row in live),
        **work.again.metadata(),
    }
    stayed = [row for row in live if before.get(row["url_key"], {}).get("status") == PageStatus.LIVE]
    former = [before[row["url_key"]] for row in stayed]
    return PagesResult(
        metadata,
        digest.hexdigest(),
        live_pages=len(live),
        live_pages_without_text=sum(row["characters"] == 0 for row in live),
        new_characters=work.counts["new_characters"],
        replacement_characters=work.counts["replacement_characters"],
        pages_before=len(stayed),
        characters_before=sum(row["characters"] for row in former),
        characters_of_those=sum(row["characters"] for row in stayed),
        flags_before=_flag_shares(former),
        flags=_flag_shares(stayed),
    )


def _flag_shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    counts = Counter(flag for row in rows for flag in row["flags"])
    return {flag: count / len(rows) for flag, count in counts.items()}

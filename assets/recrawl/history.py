"""The history of a site as events of the schedule: what each crawl asked, found and was told of. From tables."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from assets import names
from assets.recrawl.answers import answer_of
from assets.recrawl.columns import Answer, day_of
from assets.recrawl.pings import Ping
from assets.schemas.recrawl import KIND_PAGE, KIND_SITEMAP
from assets.url.scope import RejectReason
from resources.ports import TableStore

_FETCHES: Final = [
    *("crawl_id", "purpose", "url", "url_key", "origin_key", "hop", "attempt", "outcome", "requested_at", "status"),
    *("redirect_url", "etag", "last_modified", "payload_digest"),
]
_KINDS: Final = (KIND_PAGE, KIND_SITEMAP)
_FEW_KEYS: Final = 1_000  # beyond, a filter by key costs more than it saves
_REFRESH_LAYERS: Final = [layer.name for layer in names.REFRESH_LAYERS]
_REPORT: Final = "_report"  # the last stage of every crawl and of every refresh ends so

PageId = tuple[str, str]  # kind, url_key
TextHashes = Mapping[tuple[str, str], int]  # url_key, payload digest -> 64 bits of the text digest


@dataclass(frozen=True, slots=True)
class Visit:
    """What one crawl saw of one page: the last answer that it got there."""

    page: PageId
    url: str
    day: float
    answer: Answer | None  # None: it was put off
    payload: str  # digest of the bytes, or target of a redirect
    validator: str


@dataclass(frozen=True, slots=True)
class Told:
    """What one reading of a sitemap or feed said of one page."""

    url_key: str
    sitemap_url: str
    lastmod_day: float
    is_date: bool  # without a time of day
    read_day: float


@dataclass(frozen=True, slots=True)
class Found:
    """A page that a refresh found and meant to ask, whether it had room for it or not."""

    page: PageId
    url: str
    day: float


@dataclass(frozen=True, slots=True)
class CrawlHistory:
    """One crawl, whole."""

    crawl_id: str
    visits: Sequence[Visit]  # in time order
    told: Sequence[Told]
    found: Sequence[Found] = ()
    retired: Sequence[tuple[PageId, float]] = ()  # sitemaps that need not be asked any more, and since which day
    pings: Sequence[Ping] = ()  # that came before it, and after the crawl before; in time order


def crawls_to_fold(crawls: pa.Table, folded_through: str) -> list[str]:
    """Give the crawls of a site that are whole and not folded yet, in order.

    A crawl is whole when it made its report, and when another began after it: it is not carried on any more.
    """
    ids = set(crawls["crawl_id"].to_pylist())
    done = {row["crawl_id"] for row in crawls.to_pylist() if row["stage"].endswith(_REPORT)}
    newest = max(ids, default="")
    return sorted(crawl_id for crawl_id in ids if crawl_id > folded_through and (crawl_id in done or crawl_id < newest))


def read_history(tables: TableStore, site: str, folded_through: str, pings: Sequence[Ping]) -> list[CrawlHistory]:
    """Read the crawls that are to be folded, in order.

    Args:
        tables: the store.
        site: whose.
        folded_through: the last crawl that is folded.
        pings: of the site that are not folded.
    """
    crawls = tables.read(names.T_CRAWLS, sites=[site], columns=["crawl_id", "stage", "at"])
    wanted = crawls_to_fold(crawls, folded_through)
    if not wanted:
        return []
    # A range, not a list: a table store can leave out whole files by it.
    since = (ds.field("crawl_id") > folded_through) & (ds.field("crawl_id") <= wanted[-1])

    def by_crawl(table: str, columns: list[str], where: ds.Expression = since) -> dict[str, list[dict[str, Any]]]:
        grouped: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in tables.read(table, sites=[site], columns=["crawl_id", *columns], where=where).to_pylist():
            grouped[row["crawl_id"]].append(row)
        return grouped

    fetches = by_crawl(names.T_FETCHES, _FETCHES[1:], since & ds.field("purpose").isin(_KINDS))
    entries = by_crawl(
        names.T_SITEMAP_ENTRIES, ["sitemap_url", "url_key", "lastmod"], since & ds.field("lastmod").is_valid()
    )
    files = by_crawl(names.T_SITEMAP_FILES, ["sitemap_url", "read_at", "retired"])
    of_refreshes = since & ds.field("layer").isin(_REFRESH_LAYERS)
    frontiers = by_crawl(names.T_FRONTIER, ["url", "url_key"], of_refreshes)
    refusals = by_crawl(names.T_REFUSALS, ["layer", "url", "url_key", "reason"], of_refreshes)
    began: dict[str, datetime] = {}
    for row in crawls.to_pylist():
        began[row["crawl_id"]] = min(row["at"], began.get(row["crawl_id"], row["at"]))
    return [
        CrawlHistory(
            crawl_id,
            [*_barred(refusals[crawl_id], day_of(began[crawl_id])), *visits_of(fetches[crawl_id])],
            _told(entries[crawl_id], files[crawl_id]),
            _found(frontiers[crawl_id], refusals[crawl_id], day_of(began[crawl_id])),
            _retired(fetches[crawl_id], files[crawl_id]),
            [ping for ping in pings if ping.is_before(crawl_id) and not ping.is_before(before)],
        )
        for before, crawl_id in pairwise([folded_through, *wanted])
    ]


def visits_of(fetches: Iterable[Mapping[str, Any]]) -> list[Visit]:
    """Give the visits of one crawl, in time order.

    Of all that one frontier row did at one page, the last answer counts: a try after a failure, another spelling
    after a 404, what a page gives after it redirected to itself.
    """
    last: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for row in sorted(fetches, key=lambda row: (row["requested_at"], row["hop"], row["attempt"])):
        last[row["purpose"], row["origin_key"], row["url_key"]] = row
    return sorted(map(_visit, last.values()), key=lambda visit: (visit.day, visit.page))


def _visit(row: Mapping[str, Any]) -> Visit:
    answer = answer_of(row["outcome"], row["status"])
    payload = row["redirect_url"] if answer is Answer.REDIRECT else row["payload_digest"]
    return Visit(
        page=(row["purpose"], row["url_key"]),
        url=row["url"],
        day=day_of(row["requested_at"]),
        answer=answer,
        payload=payload or "none",
        validator=row["etag"] or row["last_modified"] or "",
    )


def _barred(refusals: Iterable[Mapping[str, Any]], day: float) -> list[Visit]:
    """Give the due pages that a refresh did not ask, for the site's settings leave them out by now."""
    keys = {
        row["url_key"]: row["url"]
        for row in refusals
        if row["layer"] == names.refresh(0).name and row["reason"] != RejectReason.PAGE_BUDGET
    }
    return [Visit((KIND_PAGE, key), url, day, Answer.BARRED, "none", "") for key, url in sorted(keys.items())]


def _found(frontier: Iterable[Mapping[str, Any]], refusals: Iterable[Mapping[str, Any]], day: float) -> list[Found]:
    """Give what a refresh found in links and sitemaps, as far as it is in scope.

    No later refresh looks at an address that one has decided about: what this one had no room for, or had not asked
    when it died, is asked because it is in the schedule.
    """
    cut = [row for row in refusals if row["reason"] == RejectReason.PAGE_BUDGET]
    rows = sorted([*frontier, *cut], key=lambda row: (row["url_key"], row["url"]))
    return [Found((KIND_PAGE, row["url_key"]), row["url"], day) for row in rows]


def _retired(fetches: Iterable[Mapping[str, Any]], files: Iterable[Mapping[str, Any]]) -> list[tuple[PageId, float]]:
    """Give the sitemaps that were retired, under each address that their request led to."""
    read_at = {row["sitemap_url"]: day_of(row["read_at"]) for row in files if row["retired"]}
    asked = {(row["url_key"], row["origin_key"]) for row in fetches if row["purpose"] == KIND_SITEMAP}
    return sorted(((KIND_SITEMAP, key), read_at[origin]) for key, origin in asked if origin in read_at)


def _told(entries: Iterable[Mapping[str, Any]], files: Iterable[Mapping[str, Any]]) -> list[Told]:
    read_at = {row["sitemap_url"]: row["read_at"] for row in sorted(files, key=lambda row: row["read_at"])}
    told = [
        Told(
            url_key=row["url_key"],
            sitemap_url=row["sitemap_url"],
            lastmod_day=day_of(row["lastmod"]),
            is_date=row["lastmod"].time().isoformat() == "00:00:00",
            read_day=day_of(read_at[row["sitemap_url"]]),
        )
        for row in entries
        if row["sitemap_url"] in read_at
    ]
    return sorted(told, key=lambda entry: (entry.read_day, entry.sitemap_url, entry.url_key))


def read_texts(tables: TableStore, site: str, url_keys: set[str]) -> TextHashes:
    """Read which text each payload of some pages gave, as their first extractor read it.

    The first one, so that the schedule stays as it is when all pages are extracted again by a later one.
    """
    if not url_keys:
        return {}
    where = pc.field("url_key").isin(sorted(url_keys)) if len(url_keys) <= _FEW_KEYS else None
    columns = ["url_key", "payload_digest", "extractor_version", "text_digest"]
    rows = tables.read(names.T_PAGES, sites=[site], columns=columns, where=where).to_pylist()
    rows.sort(key=lambda row: (len(row["extractor_version"]), row["extractor_version"], row["text_digest"]))
    texts: dict[tuple[str, str], int] = {}
    for row in rows:
        texts.setdefault((row["url_key"], row["payload_digest"]), hash_of(row["text_digest"]))
    return texts


def hash_of(text: str) -> int:
    """Give 64 bits that stand for a text; 0 for an empty one, and for no other.

    >>> hash_of(""), hash_of("a") == hash_of("a"), hash_of("a") == hash_of("b")
    (0, True, False)
    """
    if not text:
        return 0
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) or 1


def keys_of(history: Iterable[CrawlHistory], is_known: Callable[[Visit], bool]) -> set[str]:
    """Give the pages whose bytes are not those that are known already."""
    return {
        visit.page[1]
        for crawl in history
        for visit in crawl.visits
        if visit.answer is Answer.CONTENT and visit.page[0] == KIND_PAGE and not is_known(visit)
    }

"""Changes: what differs between two crawls, of one site or of two."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.schemas import MAP_CHANGES
from assets.site_map.mapped_crawl import MappedCrawl
from assets.site_map.moves import TextPrint, candidates, edited_texts, same_texts
from assets.site_map.nodes import path_of, section_of
from assets.site_map.outcomes import LIVE, NOT_MODIFIED, is_dead
from assets.site_map.text_diff import text_diff
from resources.ports import TableStore

DIFFS_MAX: Final = 500  # texts that are compared line by line, the most important pages first
Row = Mapping[str, Any]


class Change(StrEnum):
    """The kinds of changes, in the order in which people read them."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    CHANGED = "changed"
    STATUS_CHANGED = "status_changed"
    TITLE_CHANGED = "title_changed"
    NEWLY_DEAD_LINK = "newly_dead_link"


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two crawls."""

    crawl: MappedCrawl
    place_of: Callable[[str], str]  # url_key -> what makes two pages the same page
    pages: Mapping[str, Row]  # by place
    live: frozenset[str]  # places


def changes(before: MappedCrawl, after: MappedCrawl, tables: TableStore) -> pa.Table:
    """Compare two crawls: rows of ``map_changes`` of the later one's site, by kind, then by importance and address.

    Of two sites, pages are the same whose path and query are.
    """
    place_of = (lambda key: key) if before.site == after.site else path_of
    old, new = _side(before, place_of), _side(after, place_of)
    gone, come = old.live - new.live, new.live - old.live
    stayed = old.live & new.live
    moves = _moves(old, new, gone, come, tables)
    moved_from = {place_of(move.before.url_key) for move in moves}
    moved_to = {place_of(move.after.url_key) for move in moves}
    rows: dict[Change, Iterable[dict[str, Any]]] = {
        Change.ADDED: [{"url": new.pages[place]["url"]} for place in come - moved_to],
        Change.REMOVED: [
            {"url": page["url"], "before": _status(page), "after": _status(new.pages.get(place))}
            for place in gone - moved_from
            for page in (old.pages[place],)
        ],
        Change.MOVED: [
            {
                "url": move.after.url,
                "before_url": move.before.url,
                "before": section_of(move.before.url),
                "after": section_of(move.after.url),
                "similarity": move.similarity,
            }
            for move in moves
        ],
        Change.CHANGED: _changed(old, new, stayed, tables),
        Change.STATUS_CHANGED: [
            {"url": new.pages[place]["url"], "before": _status(old.pages[place]), "after": _status(new.pages[place])}
            for place in old.pages.keys() & new.pages.keys()
            if _status(old.pages[place]) != _status(new.pages[place])
        ],
        Change.TITLE_CHANGED: [
            {"url": new.pages[place]["url"], "before": old.pages[place]["title"], "after": new.pages[place]["title"]}
            for place in stayed
            if old.pages[place]["title"] != new.pages[place]["title"]
        ],
        Change.NEWLY_DEAD_LINK: _newly_dead(old, new),
    }
    importance = {row["url"]: row["in_links"] for row in (*old.pages.values(), *new.pages.values())}
    fixed = {"site": after.site, "crawl_id": after.crawl_id, "before_crawl_id": before.crawl_id, "similarity": None}
    empty = dict.fromkeys(("before_url", "on_url", "before", "after", "text_diff"), "")
    made = [
        {**fixed, **empty, "change": kind.value, **row}
        for kind in Change
        for row in sorted(
            rows[kind], key=lambda row: (-importance.get(row["url"], 0), row["url"], row.get("on_url", ""))
        )
    ]
    return pa.Table.from_pylist(made, schema=MAP_CHANGES)


def counts_by_kind(rows: pa.Table) -> dict[str, int]:
    """Count changes by kind, all kinds, in their order."""
    counted = Counter(rows["change"].to_pylist())
    return {kind.value: counted[kind.value] for kind in Change}


def text_prints(crawl: MappedCrawl, keys: Iterable[str] | None = None) -> list[TextPrint]:
    """Give what is known of the texts of live pages, in the order of their keys."""
    wanted = None if keys is None else set(keys)
    texts = {row["url_key"]: row for row in crawl.facts.texts.to_pylist()}
    return [
        TextPrint(row["url"], row["url_key"], text["text_digest"], text["simhash"], text["features"])
        for row in crawl.nodes.select(["url", "url_key", "outcome"]).to_pylist()
        if row["outcome"] in LIVE
        and (wanted is None or row["url_key"] in wanted)
        and (text := texts.get(row["url_key"]))
    ]


def read_texts(crawl: MappedCrawl, keys: Iterable[str], tables: TableStore) -> dict[str, str]:
    """Read the texts that pages had in a crawl, by url_key."""
    asked = set(keys)
    versions = {
        (row["url_key"], row["payload_digest"], row["extractor_version"])
        for row in crawl.facts.texts.to_pylist()
        if row["url_key"] in asked
    }
    columns = ["url_key", "payload_digest", "extractor_version", "text"]
    where = pc.field("url_key").isin(pa.array(sorted(asked), pa.string()))
    rows = tables.read(names.T_PAGES, sites=[crawl.site], columns=columns, where=where).to_pylist()
    return {
        row["url_key"]: row["text"]
        for row in rows
        if (row["url_key"], row["payload_digest"], row["extractor_version"]) in versions
    }


def _side(crawl: MappedCrawl, place_of: Callable[[str], str]) -> _Side:
    pages = {place_of(row["url_key"]): row for row in crawl.nodes.to_pylist()}
    return _Side(crawl, place_of, pages, frozenset(place for place, row in pages.items() if row["outcome"] in LIVE))


def _moves(old: _Side, new: _Side, gone: frozenset[str], come: frozenset[str], tables: TableStore) -> list[Any]:
    before = text_prints(old.crawl, [old.pages[place]["url_key"] for place in gone])
    after = text_prints(new.crawl, [new.pages[place]["url_key"] for place in come])
    moves = same_texts(before, after)
    done = {move.before.url_key for move in moves}, {move.after.url_key for move in moves}
    pairs = candidates(
        [page for page in before if page.url_key not in done[0]],
        [page for page in after if page.url_key not in done[1]],
    )
    sides = enumerate(zip((old, new), zip(*pairs, strict=True), strict=True)) if pairs else ()
    texts = {
        (number, key): text
        for number, (side, pages) in sides
        for key, text in read_texts(side.crawl, {page.url_key for page in pages}, tables).items()
    }
    return moves + edited_texts(pairs, texts)


def _changed(old: _Side, new: _Side, stayed: frozenset[str], tables: TableStore) -> list[dict[str, Any]]:
    """Give the pages whose text changed; of pages without a text those whose bytes did."""
    differ = []
    for place in stayed:
        one, other = old.pages[place], new.pages[place]
        kind = "text_digest" if one["text_digest"] or other["text_digest"] else "payload_digest"
        if one[kind] != other[kind]:
            differ.append(place)
    differ.sort(key=lambda place: (-new.pages[place]["in_links"], new.pages[place]["url"]))
    shown = [place for place in differ if new.pages[place]["text_digest"]][:DIFFS_MAX]
    before = read_texts(old.crawl, [old.pages[place]["url_key"] for place in shown], tables)
    after = read_texts(new.crawl, [new.pages[place]["url_key"] for place in shown], tables)
    diffs = {
        place: text_diff(before.get(old.pages[place]["url_key"], ""), after.get(new.pages[place]["url_key"], ""))
        for place in shown
    }
    return [{"url": new.pages[place]["url"], "text_diff": diffs.get(place, "")} for place in differ]


def _newly_dead(old: _Side, new: _Side) -> list[dict[str, Any]]:
    """Give the links to dead addresses that were no such links before."""
    before = {(from_place, to_place) for from_place, to_place, *_ in _dead_links(old)}
    return [
        {
            "url": to_url,
            "on_url": from_url,
            "before": _status(old.pages.get(to_place)),
            "after": _status(new.pages.get(to_place)),
        }
        for from_place, to_place, from_url, to_url in _dead_links(new)
        if (from_place, to_place) not in before
    ]


def _dead_links(side: _Side) -> list[tuple[str, str, str, str]]:
    dead = [row["url_key"] for row in side.pages.values() if is_dead(row["outcome"], row["status"])]
    links = side.crawl.hyperlinks.filter(pc.field("to_page").isin(pa.array(dead, pa.string())))
    columns = (links[name].to_pylist() for name in ("from_key", "to_page", "from_url", "to_url"))
    found = {(row[0], row[1]): row for row in zip(*columns, strict=True)}
    return [(side.place_of(row[0]), side.place_of(row[1]), row[2], row[3]) for row in found.values()]


def _status(page: Row | None) -> str:
    # A 304 says that the answer would have been the one from before.
    if page is not None and page["outcome"] == NOT_MODIFIED:
        return "200"
    return "" if page is None else str(page["status"] or page["outcome"])

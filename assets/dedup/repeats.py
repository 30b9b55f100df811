"""Repeats: kinds of addresses whose pages always repeat others, and hosts that mirror one another.

Both are said once, for a person and for the frontier, and never hide a page.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from assets import names
from assets.schemas import DUPLICATE_PATTERNS, MIRRORS
from assets.url.host import host_key
from assets.url.marks import marks
from resources.ports import TableStore

Host = tuple[str, str]  # its site and its host key

# Fewer pages may be alike by chance.
LEAST_PAGES: Final = 10
MIRROR_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Repeats:
    """Rows of ``duplicate_patterns`` and ``mirrors`` of a site."""

    patterns: pa.Table
    mirrors: pa.Table


def repeating_marks(pages: Collection[str], stood_for_by: Mapping[str, str]) -> dict[str, tuple[int, str]]:
    """Give the marks all of whose pages are stood for by a page without that mark: how many, and the first of them.

    Args:
        pages: the addresses of a site's live pages with a text.
        stood_for_by: address -> address of the page that stands for it, if that is another one.
    """
    holders: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        for mark in marks(page):
            holders[mark].append(page)
    return {
        mark: (len(held), min(held))
        for mark, held in holders.items()
        if len(held) >= LEAST_PAGES
        and all(page in stood_for_by and mark not in marks(stood_for_by[page]) for page in held)
    }


def mirrored_hosts(
    pairs: Iterable[tuple[str, Host]], sizes: Mapping[str, int], size_of: Callable[[Host], int]
) -> list[dict[str, Any]]:
    """Give the hosts of a site most of whose pages another host has as well, or that have most of another's.

    Of two hosts that mirror each other, the one whose name comes later says so: it is said once.

    Args:
        pairs: the address of an own page, and a host with a page of the same or much the same text.
        sizes: pages of each own host.
        size_of: pages of another host; asked only if it shares enough.
    """
    shared: dict[tuple[str, Host], set[str]] = defaultdict(set)
    for key, other in pairs:
        host = host_key(key)
        if host > other[1]:
            shared[host, other].add(key)
    found = []
    for (host, other), keys in sorted(shared.items()):
        if len(keys) < LEAST_PAGES:
            continue
        # A host may hold more than what it mirrors, or be a mirror of a part.
        share = min(1.0, len(keys) / min(sizes[host], size_of(other)))
        if share >= MIRROR_SHARE:
            row = {"host": host, "other_site": other[0], "other_host": other[1]}
            found.append({**row, "shared_pages": len(keys), "share": share})
    return found


def repeats_of_site(tables: TableStore, site: str, near_pairs: pa.Table, near_duplicates: pa.Table) -> Repeats:
    """Find what repeats itself in a site, by its exact duplicates as they are stored and the given near ones."""
    own = _live_pages(tables, ds.field("text_digest") != "", [site])
    pages = own["url_key"].to_pylist()
    exact = tables.read(names.T_EXACT_DUPLICATES, sites=[site], columns=["url_key", "representative_key"])
    stood_for_by: dict[str, str] = {}
    for marked in (near_duplicates.select(["url_key", "representative_key"]), exact):
        stood_for_by |= {key: by for key, by in _rows(marked) if key != by}
    patterns = [
        {"site": site, "mark": mark, "pages": count, "example": example, "repeats": stood_for_by[example]}
        for mark, (count, example) in sorted(repeating_marks(pages, stood_for_by).items())
    ]
    mirrors = mirrored_hosts(
        [*_hosts_of_equal_texts(tables, own), *_hosts_of_pairs(near_pairs)],
        Counter(map(host_key, pages)),
        lambda host: _size(tables, host),
    )
    return Repeats(
        pa.Table.from_pylist(patterns, schema=DUPLICATE_PATTERNS),
        pa.Table.from_pylist([{"site": site, **row} for row in mirrors], schema=MIRRORS),
    )


def _live_pages(tables: TableStore, where: ds.Expression, sites: Sequence[str] | None) -> pa.Table:
    live = where & (ds.field("status") == "live")
    return tables.read(names.T_PAGE_STATE, sites=sites, columns=["site", "url_key", "text_digest"], where=live)


def _hosts_of_equal_texts(tables: TableStore, own: pa.Table) -> Iterator[tuple[str, Host]]:
    shared = _live_pages(tables, ds.field("text_digest").isin(pc.unique(own["text_digest"])), None)
    hosts: dict[str, set[Host]] = defaultdict(set)
    for site, key, digest in _rows(shared):
        hosts[digest].add((site, host_key(key)))
    for _, key, digest in _rows(own):
        if digest:
            yield from ((key, host) for host in hosts[digest])


def _hosts_of_pairs(near_pairs: pa.Table) -> Iterator[tuple[str, Host]]:
    for key, site, other, veto in _rows(near_pairs.select(["url_key", "other_site", "other_key", "veto"])):
        if not veto:
            yield key, (site, host_key(other))


def _size(tables: TableStore, host: Host) -> int:
    site, name = host
    pages = _live_pages(tables, ds.field("text_digest") != "", [site])
    return sum(1 for key in pages["url_key"].to_pylist() if host_key(key) == name)


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)

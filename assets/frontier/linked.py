"""Linked addresses: the links of a layer, grouped by url_key while its pages are read, so that no more is held at once
than the groups and the links of some pages."""

from collections.abc import Callable, Collection, Iterator
from typing import Final

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from assets.frontier.candidates import CANDIDATES, other_spellings

LINKS_AT_ONCE: Final = 100_000  # grouped in one go; DuckDB takes some 1 KiB a link
_BUCKETS: Final = 8  # groups are joined a bucket at a time; engines whose hashes have a sign make some more
_ROWS_TO_JOIN: Final = 100_000  # new groups in a bucket, before it is worth the time

Run = Callable[[ibis.Table], pa.Table]  # of a query engine


class LinkedAddresses:
    """The addresses that pages link and that are not known yet. Give it the pages in the order of the crawl."""

    def __init__(
        self, run: Run, *, known: Collection[str], read_again: pa.Array, links_at_once: int = LINKS_AT_ONCE
    ) -> None:
        """Begin with none.

        Args:
            run: runs an expression.
            known: url_keys that are no candidates; read while pages are added.
            read_again: url_keys of the pages that come more than once; a page counts once for each address.
            links_at_once: after so many links they are grouped.
        """
        self._run = run
        self._known = known
        self._read_again = read_again
        self._links_at_once = links_at_once
        self._place = 0  # of the next link
        self._links: list[pa.Table] = []  # not grouped yet
        self._count = 0  # of those
        self._held: list[pa.Table] = []  # links of pages that come again, for the last group
        self._buckets: dict[int, list[pa.Table]] = {}  # groups; the first table of a bucket is joined already

    def add(self, pages: pa.Table) -> None:
        """Take pages that come after all before: rows of ``links`` as for ``flat_links``."""
        flat = flat_links(pages, first_place=self._place)
        self._place += flat.num_rows
        again = pc.is_in(flat["found_on"], self._read_again)
        self._held.append(flat.filter(again))
        self._links.append(flat.filter(pc.invert(again)))
        self._count += self._links[-1].num_rows
        if self._count >= self._links_at_once:
            self._group()

    def candidates(self) -> pa.Table:
        """Give rows of ``CANDIDATES``, first found first; nothing may be added after that."""
        self._links += self._held
        self._held = []
        self._group()
        for bucket in self._buckets.values():
            self._join(bucket)
        found = pa.concat_tables(list(self._drained()) or [_GROUPS.empty_table()])
        # Each column is let go when it is in order.
        order = pc.sort_indices(found["place"])
        columns = {}
        for name in ("url_key", "url", "other_urls", "found_on", "in_links"):
            columns[name] = found[name].take(order)
            found = found.drop_columns([name])
        count = len(order)
        columns["found_by"] = pa.repeat("link", count)
        columns["sitemap_priority"] = columns["worth"] = pa.nulls(count, pa.float64())
        return pa.table([columns[name] for name in CANDIDATES.names], CANDIDATES.names).cast(CANDIDATES)

    def _drained(self) -> Iterator[pa.Table]:
        while self._buckets:
            _, tables = self._buckets.popitem()
            yield from tables

    def _group(self) -> None:
        links, self._links, self._count = self._links, [], 0
        if sum(table.num_rows for table in links) == 0:
            return
        groups = self._run(grouped_links(pa.concat_tables(links)))
        del links
        fresh = pa.array([key not in self._known for key in groups["url_key"].to_pylist()], pa.bool_())
        groups = groups.filter(fresh)
        for bucket in pc.unique(groups["bucket"]).to_pylist():
            tables = self._buckets.setdefault(bucket, [])
            tables.append(_plain(groups.filter(pc.field("bucket") == bucket)))
            if len(tables) > 1 and sum(table.num_rows for table in tables[1:]) >= max(
                _ROWS_TO_JOIN, tables[0].num_rows
            ):
                self._join(tables)

    def _join(self, tables: list[pa.Table]) -> None:
        """Make one table of those of a bucket."""
        if len(tables) > 1:
            tables[:] = [_plain(self._run(joined_groups(pa.concat_tables(tables))))]


def flat_links(pages: pa.Table, *, first_place: int = 0) -> pa.Table:
    """Unfold parsed pages into one row a hyperlink, in the order of the crawl.

    Args:
        pages: rows of the ``links`` table with ``url_key``, ``requested_at`` and ``hyperlinks``.
        first_place: the place of the first link.
    """
    ordered = pages.sort_by([("requested_at", "ascending"), ("url_key", "ascending")]).combine_chunks()
    lists = (
        ordered.column("hyperlinks").combine_chunks()
        if ordered.num_rows
        else pa.array([], pages.schema.field("hyperlinks").type)
    )
    flat = pc.list_flatten(lists)
    holders = pc.take(ordered.column("url_key"), pc.list_parent_indices(lists))
    return pa.table(
        {
            "found_on": holders,
            "url": pc.struct_field(flat, "url"),
            "url_key": pc.struct_field(flat, "url_key"),
            "place": pa.array(range(first_place, first_place + len(flat)), pa.int64()),
        }
    )


def grouped_links(flat: pa.Table) -> ibis.Table:
    """Group links, as ``flat_links`` gives them, by url_key: the first spelling and page, all spellings, the pages."""
    # A memtable of no rows has no types on every engine: say them.
    links = ibis.memtable(flat)
    grouped = links.group_by("url_key").agg(
        url=links.url.argmin(links.place),
        urls=links.url.collect(distinct=True),
        found_on=links.found_on.argmin(links.place),
        in_links=links.found_on.nunique(),
        place=links.place.min(),
    )
    return grouped.mutate(bucket=grouped.url_key.hash() % _BUCKETS)


def joined_groups(groups: pa.Table) -> ibis.Table:
    """Group the groups of links of different pages."""
    parts = ibis.memtable(groups)
    return parts.group_by("url_key").agg(
        url=parts.url.argmin(parts.place),
        urls=parts.url.collect().concat(parts.other_urls.collect().flatten()).unique(),
        found_on=parts.found_on.argmin(parts.place),
        in_links=parts.in_links.sum(),
        place=parts.place.min(),
    )


_GROUPS: Final = pa.schema(
    [
        *(CANDIDATES.field(name) for name in ("url_key", "url", "other_urls", "found_on", "in_links")),
        ("place", pa.int64()),
    ]
)


def _plain(grouped: pa.Table) -> pa.Table:
    """Keep of the spellings what is not the first one; in memory of our own, not of the engine's result."""
    return (
        grouped.append_column("other_urls", other_spellings(grouped["url"], grouped["urls"]))
        .select(_GROUPS.names)
        .cast(_GROUPS)
    )

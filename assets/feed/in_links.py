"""In-links: how many pages of the same site link each page, and with which words. Other sites do not count."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from assets import names
from resources.ports import TableStore

ANCHORS_MAX: Final = 10
_LINK_KINDS: Final = pa.array(["a", "area"])
_PAIRS: Final = pa.schema([("target", pa.string()), ("anchor", pa.string()), ("source", pa.string())])


@dataclass(frozen=True, slots=True)
class InLinks:
    """The links that lead to a page."""

    pages: int = 0
    anchor_texts: tuple[str, ...] = ()  # the most frequent ones, in alphabetical order


def in_links_of_site(
    site: str, tables: TableStore, sources: Collection[str], targets: Collection[str]
) -> dict[str, InLinks]:
    """Count the links between pages of a site, by url_key of the target; what nothing links is left out.

    Args:
        site: whose pages.
        tables: the store.
        sources: url_keys of the pages whose links count: each as it was parsed last.
        targets: url_keys of the pages that are asked for.
    """
    wanted = pa.array(sorted(targets), pa.string())
    pairs = pa.concat_tables([_PAIRS.empty_table(), *_pairs(site, tables, frozenset(sources), wanted)])
    pages = pairs.group_by("target").aggregate([("source", "count_distinct")])
    anchors = (
        pairs.filter(pc.field("anchor") != "").group_by(["target", "anchor"]).aggregate([("source", "count_distinct")])
    )
    texts: dict[str, list[str]] = {}
    most_first = [("source_count_distinct", "descending"), ("anchor", "ascending")]
    for row in anchors.sort_by(most_first).select(["target", "anchor"]).to_pylist():
        found = texts.setdefault(row["target"], [])
        if len(found) < ANCHORS_MAX:
            found.append(row["anchor"])
    return {
        row["target"]: InLinks(row["source_count_distinct"], tuple(sorted(texts.get(row["target"], ()))))
        for row in pages.to_pylist()
    }


def _pairs(site: str, tables: TableStore, sources: frozenset[str], targets: pa.Array) -> Iterator[pa.Table]:
    """Give the links to targets, one crawl at a time: those of all crawls at once may not fit the memory."""
    for crawl_id, newest in sorted(_newest(site, tables, sources).items()):
        rows = tables.read(
            names.T_LINKS,
            sites=[site],
            columns=["url_key", "requested_at", "hyperlinks"],
            where=(ds.field("crawl_id") == crawl_id) & ds.field("url_key").isin(pa.array(sorted(newest), pa.string())),
        )
        for batch in rows.to_batches():
            links = batch["hyperlinks"].flatten()
            source = batch["url_key"].take(pc.list_parent_indices(batch["hyperlinks"]))
            target = pc.struct_field(links, "url_key")
            counts = pc.and_(
                pc.and_(pc.is_in(pc.struct_field(links, "kind"), _LINK_KINDS), pc.is_in(target, targets)),
                pc.not_equal(source, target),
            )
            columns = [target, pc.utf8_trim_whitespace(pc.struct_field(links, "anchor")), source]
            yield pa.table([column.filter(counts) for column in columns], schema=_PAIRS)


def _newest(site: str, tables: TableStore, sources: frozenset[str]) -> Mapping[str, list[str]]:
    """Say in which crawl each source was parsed last, as the sources of each crawl."""
    rows = tables.read(names.T_LINKS, sites=[site], columns=["url_key", "crawl_id"])
    last = rows.group_by("url_key").aggregate([("crawl_id", "max")])
    crawls: dict[str, list[str]] = {}
    for row in last.to_pylist():
        if row["url_key"] in sources:
            crawls.setdefault(row["crawl_id_max"], []).append(row["url_key"])
    return crawls

"""Candidates: addresses found and not yet judged, one row a url_key."""

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from assets.schemas.columns import column

CANDIDATES = pa.schema(
    [
        column("url_key", pa.string(), "sameness"),
        column("url", pa.string(), "the spelling found first"),
        column("other_urls", pa.list_(pa.string()), "further spellings"),
        column("found_by", pa.string(), "seed, hub, due, link or sitemap"),
        column("found_on", pa.string(), "url_key of the first page that links it, or the sitemap"),
        column("in_links", pa.int64(), "pages that link it"),
        column("sitemap_priority", pa.float64(), "of its sitemap entry", optional=True),
        column("worth", pa.float64(), "of a visit to a page that is due: its priority", optional=True),
    ]
)


def flat_links(links: pa.Table) -> pa.Table:
    """Unfold parsed pages into one row a hyperlink, in the order of the crawl.

    Args:
        links: rows of the ``links`` table with ``url_key``, ``requested_at`` and ``hyperlinks``.
    """
    ordered = links.sort_by([("requested_at", "ascending"), ("url_key", "ascending")]).combine_chunks()
    lists = (
        ordered.column("hyperlinks").combine_chunks()
        if ordered.num_rows
        else pa.array([], links.schema.field("hyperlinks").type)
    )
    flat = pc.list_flatten(lists)
    holders = pc.take(ordered.column("url_key"), pc.list_parent_indices(lists))
    return pa.table(
        {
            "found_on": holders,
            "url": pc.struct_field(flat, "url"),
            "url_key": pc.struct_field(flat, "url_key"),
            "place": pa.array(range(len(flat)), pa.int64()),
        }
    )


def new_targets(flat: pa.Table, known: pa.Table) -> ibis.Table:
    """Give the linked addresses that are not known yet, grouped by url_key, first found first.

    Args:
        flat: as ``flat_links`` gives it.
        known: one column ``url_key``.
    """
    # A memtable of no rows has no types on every engine: say them.
    links = ibis.memtable(flat)
    fresh = links.anti_join(ibis.memtable(known), "url_key")
    grouped = fresh.group_by("url_key").agg(
        url=fresh.url.argmin(fresh.place),
        urls=fresh.url.collect(distinct=True),
        found_on=fresh.found_on.argmin(fresh.place),
        in_links=fresh.found_on.nunique(),
        place=fresh.place.min(),
    )
    return grouped.order_by("place").select("url_key", "url", "urls", "found_on", "in_links")


def link_candidates(targets: pa.Table) -> pa.Table:
    """Turn the rows of ``new_targets`` into candidates."""
    urls, spellings = targets["url"].to_pylist(), targets["urls"]
    # Nearly all addresses are spelt in one way.
    others = pc.greater(pc.list_value_length(spellings), 1).to_pylist()
    other_urls = [
        sorted(set(spellings[row].as_py()) - {urls[row]}) if several else [] for row, several in enumerate(others)
    ]
    columns = {
        "url_key": targets["url_key"],
        "url": targets["url"],
        "other_urls": pa.array(other_urls, CANDIDATES.field("other_urls").type),
        "found_by": pa.repeat("link", targets.num_rows),
        "found_on": targets["found_on"],
        "in_links": targets["in_links"],
        "sitemap_priority": pa.nulls(targets.num_rows, pa.float64()),
        "worth": pa.nulls(targets.num_rows, pa.float64()),
    }
    return pa.table(columns).cast(CANDIDATES)


def with_sitemap_entries(found: pa.Table, entries: pa.Table) -> pa.Table:
    """Add what sitemaps list: the priority of pages that are linked, and the pages that are not.

    Args:
        found: rows of ``CANDIDATES``, found by links.
        entries: rows of ``sitemap_entries``, each url_key once and unknown to the crawl.
    """
    at = pc.index_in(found["url_key"], entries["url_key"].combine_chunks())
    column = found.schema.get_field_index("sitemap_priority")
    linked = found.set_column(column, CANDIDATES.field("sitemap_priority"), entries["sitemap_priority"].take(at))
    alone = entries.filter(pc.invert(pc.is_in(entries["url_key"], found["url_key"]))).sort_by("url_key")
    columns = {
        "url_key": alone["url_key"],
        "url": alone["url"],
        "other_urls": pa.array([[]] * alone.num_rows, CANDIDATES.field("other_urls").type),
        "found_by": pa.repeat("sitemap", alone.num_rows),
        "found_on": alone["sitemap_url"],
        "in_links": pa.repeat(0, alone.num_rows),
        "sitemap_priority": alone["sitemap_priority"],
        "worth": pa.nulls(alone.num_rows, pa.float64()),
    }
    return pa.concat_tables([linked, pa.table(columns).cast(CANDIDATES)])


def due_candidates(due: pa.Table) -> pa.Table:
    """Turn pages that are due into candidates.

    Args:
        due: with ``url``, ``url_key`` and ``priority``, the worth of a visit.
    """
    count = due.num_rows
    columns = {
        "url_key": due["url_key"],
        "url": due["url"],
        "other_urls": pa.array([[]] * count, CANDIDATES.field("other_urls").type),
        "found_by": pa.repeat("due", count),
        "found_on": pa.repeat("", count),
        "in_links": pa.repeat(0, count),
        "sitemap_priority": pa.nulls(count, pa.float64()),
        "worth": due["priority"],
    }
    return pa.table(columns).cast(CANDIDATES)

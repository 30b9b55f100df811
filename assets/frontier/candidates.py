"""Candidates: addresses found and not yet judged, one row a url_key."""

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


def other_spellings(urls: pa.ChunkedArray, spellings: pa.ChunkedArray) -> pa.Array:
    """Give what remains of the spellings of each address without the one that is asked, sorted.

    Args:
        urls: the spelling that is asked.
        spellings: all of them, that one too; in any order.
    """
    # Nearly all addresses are spelt in one way.
    several = pc.greater(pc.list_value_length(spellings), 1).to_pylist()
    others = [
        sorted(set(spellings[row].as_py()) - {urls[row].as_py()}) if more else [] for row, more in enumerate(several)
    ]
    return pa.array(others, CANDIDATES.field("other_urls").type)


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

"""Sitemap exports: a sitemap.xml of the live pages, and the redirects of a migration to begin with."""

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

import pyarrow as pa

from assets.site_map.changes import read_texts, text_prints
from assets.site_map.mapped_crawl import MappedCrawl
from assets.site_map.moves import candidates, edited_texts, same_texts
from assets.site_map.nodes import path_of
from assets.site_map.outcomes import LIVE
from resources.ports import TableStore

URLS_MAX: Final = 50_000  # of a file. Source: sitemaps.org, protocol 0.9
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SPACE: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
REDIRECT_MAP: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("old_url", "new_url")),
        ("similarity", pa.float64()),
        *((name, pa.string()) for name in ("evidence", "title")),
    ]
)


def sitemap_files(nodes: pa.Table, base_url: str, urls_max: int = URLS_MAX) -> dict[str, bytes]:
    """Give the files of a sitemap of the pages that searching may find, by name; an index when one file is too small.

    Args:
        nodes: rows of ``site_map``.
        base_url: where the files will lie, for the index; ends in a slash.
        urls_max: most addresses of a file.
    """
    wanted = [
        row
        for row in nodes.select(["url", "url_key", "outcome", "flags", "canonical_key", "changed_at"]).to_pylist()
        if row["outcome"] in LIVE and "noindex" not in row["flags"] and row["canonical_key"] in ("", row["url_key"])
    ]
    entries = []
    for row in wanted:
        date = f"<lastmod>{row['changed_at']:%Y-%m-%d}</lastmod>" if row["changed_at"] else ""
        entries.append(f"<url><loc>{escape(row['url'])}</loc>{date}</url>\n")
    parts = [entries[start : start + urls_max] for start in range(0, len(entries), urls_max)] or [[]]
    bodies = [f"{_HEAD}<urlset {_SPACE}>\n{''.join(part)}</urlset>\n".encode() for part in parts]
    if len(bodies) == 1:
        return {"sitemap.xml": bodies[0]}
    files = {f"sitemap-{number}.xml": body for number, body in enumerate(bodies, 1)}
    places = "".join(f"<sitemap><loc>{escape(base_url + name)}</loc></sitemap>\n" for name in files)
    return {"sitemap.xml": f"{_HEAD}<sitemapindex {_SPACE}>\n{places}</sitemapindex>\n".encode(), **files}


def redirect_map(old: MappedCrawl, new: MappedCrawl, tables: TableStore) -> pa.Table:
    """Say for each live page of an old site where it should lead on a new one: a skeleton that people complete.

    Evidence is the same path, the same text, or a text that is alike; without any the new address is empty.
    """
    titles = dict(zip(*(old.nodes[name].to_pylist() for name in ("url", "title")), strict=True))
    targets = {path_of(row["url_key"]): row["url"] for row in _live(new)}
    found: dict[str, tuple[str, float | None, str]] = {}
    for row in _live(old):
        if target := targets.get(path_of(row["url_key"])):
            found[row["url"]] = (target, None, "same path")
    before = [page for page in text_prints(old) if page.url not in found]
    after = text_prints(new)
    same = same_texts(before, after)
    found |= {move.before.url: (move.after.url, 1.0, "same text") for move in same}
    # Copies of one text may all lead to the page that is left of them.
    left = {page.text_digest: page.url for page in reversed(after) if page.text_digest}
    copies = [page for page in before if page.url not in found and page.text_digest in left]
    found |= {page.url: (left[page.text_digest], 1.0, "same text") for page in copies}
    pairs = candidates([page for page in before if page.url not in found], after)
    texts = {
        **{(0, key): text for key, text in read_texts(old, {one.url_key for one, _ in pairs}, tables).items()},
        **{(1, key): text for key, text in read_texts(new, {other.url_key for _, other in pairs}, tables).items()},
    }
    found |= {
        move.before.url: (move.after.url, round(move.similarity, 3), "text alike")
        for move in edited_texts(pairs, texts)
    }
    rows = [
        dict(zip(REDIRECT_MAP.names, (url, *found.get(url, ("", None, "")), titles[url]), strict=True))
        for url in sorted(row["url"] for row in _live(old))
    ]
    return pa.Table.from_pylist(rows, schema=REDIRECT_MAP)


def _live(crawl: MappedCrawl) -> Sequence[Mapping[str, str]]:
    rows = crawl.nodes.select(["url", "url_key", "outcome"]).to_pylist()
    return [row for row in rows if row["outcome"] in LIVE]

"""Findings about what search engines are told: canonicals, noindex, sitemaps, and resources without encryption."""

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from assets.site_map.evidence import Evidence, Rows
from assets.site_map.outcomes import LIVE, is_dead


def canonical_conflicts(evidence: Evidence) -> Rows:
    """Give the pages whose declared canonical is no page to be found: dead, redirected, closed, or another's alias."""
    crawl = evidence.crawl
    nodes = {row["url_key"]: row for row in crawl.nodes.to_pylist()}
    rows = []
    for row in nodes.values():
        named = row["canonical_key"]
        if row["outcome"] not in LIVE or named in ("", row["url_key"]):
            continue
        target = nodes.get(named)
        if named in crawl.ends.aliases:
            reason = "it redirects"
        elif target is None:
            continue
        elif is_dead(target["outcome"], target["status"]):
            reason = f"it is dead ({target['status'] or target['outcome']})"
        elif "noindex" in target["flags"]:
            reason = "it is noindex"
        elif target["canonical_key"] == row["url_key"]:
            reason = "it names this page in turn"
        elif target["canonical_key"] not in ("", named):
            reason = "it names another canonical"
        else:
            continue
        rows.append({"url": row["url"], "on_url": named, "detail": reason})
    return rows


def noindex_in_sitemap(evidence: Evidence) -> Rows:
    """Give the pages that a sitemap.xml names although they ask not to be indexed, with the sitemap."""
    crawl = evidence.crawl
    entries = crawl.facts.sitemap_entries
    page = pa.array([crawl.ends.page_of(key) for key in entries["url_key"].to_pylist()], pa.string())
    listed = ibis.memtable(entries.select(["sitemap_url"]).append_column("page", page))
    pages = evidence.live
    closed = pages.filter(pages.is_noindex).join(listed, pages.url_key == listed.page)
    once = closed.group_by("url").agg(on_url=closed.sitemap_url.min())
    return evidence.rows(once.select("url", "on_url", detail=ibis.literal("noindex")))


def linked_not_indexable(evidence: Evidence) -> Rows:
    """Give the pages that are linked and cannot be found by searching: noindex, another's alias, kept by robots.txt."""
    rows = evidence.crawl.nodes.sort_by([("in_links", "descending"), ("url", "ascending")]).to_pylist()
    found = []
    for row in rows:
        if not row["in_links"]:
            break
        if row["outcome"] == "robots_denied":
            reason = "robots.txt"
        elif row["outcome"] not in LIVE:
            continue
        elif "noindex" in row["flags"]:
            reason = "noindex"
        elif row["canonical_key"] not in ("", row["url_key"]):
            reason = f"canonical is {row['canonical_key']}"
        else:
            continue
        found.append({"url": row["url"], "on_url": "", "detail": f"{reason}; linked by {row['in_links']} pages"})
    return found


def mixed_content(evidence: Evidence) -> Rows:
    """Give what pages under https name under http: resources and frames, which browsers block or warn of."""
    uses = ibis.memtable(evidence.crawl.resource_uses)
    resources = uses.select("url", on_url="from_url", detail="kind")
    edges = ibis.memtable(
        evidence.crawl.hyperlinks.filter(pc.field("kind").isin(["frame", "iframe"])).select(
            ["to_url", "from_url", "kind"]
        )
    )
    frames = edges.select(url="to_url", on_url="from_url", detail="kind")
    named = resources.union(frames, distinct=True)
    return evidence.rows(named.filter(named.on_url.startswith("https://") & named.url.startswith("http://")))

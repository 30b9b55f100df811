"""Findings about links: those that lead nowhere, or not where they say; and pages that no link leads to."""

from urllib.parse import urlsplit

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from assets.site_map.edges import page_pairs
from assets.site_map.evidence import Evidence, Rows
from assets.site_map.outcomes import LIVE, is_dead

_HOME_PATHS = frozenset({"", "/", "/index.html", "/index.htm", "/index.php"})


def dead_links(evidence: Evidence) -> Rows:
    """Give each dead page with every page that links it, and the text of the first such link there."""
    dead = [
        row["url_key"]
        for row in evidence.crawl.nodes.select(["url_key", "outcome", "status"]).to_pylist()
        if is_dead(row["outcome"], row["status"])
    ]
    edges, dead_keys = evidence.edges, _keys(dead)
    to_dead = edges.semi_join(dead_keys, edges.to_page == dead_keys.url_key)
    first = ibis.row_number().over(ibis.window(group_by=["to_page", "from_key"], order_by="position"))
    ranked = to_dead.mutate(rank=first)
    return evidence.rows(ranked.filter(ranked["rank"] == 0).select(url="to_url", on_url="from_url", detail="anchor"))


def dead_resources(evidence: Evidence) -> Rows:
    """Give each image, script or document that was asked for and is not there, with every page that names it."""
    dead = [
        row["url"]
        for row in evidence.crawl.resources.to_pylist()
        if row["outcome"] and is_dead(row["outcome"], row["status"])
    ]
    uses, dead_urls = ibis.memtable(evidence.crawl.resource_uses), _keys(dead)
    held = uses.semi_join(dead_urls, uses.url == dead_urls.url_key)
    return evidence.rows(held.select("url", on_url="from_url", detail="kind").distinct())


def redirect_chains(evidence: Evidence) -> Rows:
    """Give each chain of two redirects or more, and each loop, with one page that links its start."""
    chains = [chain for chain in evidence.crawl.chains if chain.is_long]
    holders = _holders(evidence, [chain.origin_key for chain in chains])
    return [
        {
            "url": chain.urls[0],
            "on_url": holders.get(chain.origin_key, ""),
            "detail": " -> ".join(chain.urls) + (" (loop)" if chain.is_loop else ""),
        }
        for chain in chains
    ]


def redirects_to_home(evidence: Evidence) -> Rows:
    """Give each address that was sent to the home page: what visitors looked for is gone, and no status says so."""
    chains = [
        chain
        for chain in evidence.crawl.chains
        if chain.outcome in LIVE and _is_home(chain.urls[-1]) and not _is_home(chain.urls[0])
    ]
    holders = _holders(evidence, [chain.origin_key for chain in chains])
    return [
        {"url": chain.urls[0], "on_url": holders.get(chain.origin_key, ""), "detail": chain.urls[-1]}
        for chain in chains
    ]


def orphans(evidence: Evidence) -> Rows:
    """Give the pages that a sitemap.xml names, or an earlier crawl knew, and no other page links; a seed needs no link.

    The detail is the outcome of the page, or ``not fetched``, or that it is known from an earlier crawl.
    """
    crawl = evidence.crawl
    entries = crawl.facts.sitemap_entries.select(["url", "url_key", "sitemap_url"])
    pages = pa.array([crawl.ends.page_of(key) for key in entries["url_key"].to_pylist()], pa.string())
    listed = ibis.memtable(entries.append_column("page", pages))
    frontier = crawl.facts.frontier.filter(pc.field("found_by") == "seed")
    seeds = _keys([crawl.ends.page_of(key) for key in frontier["url_key"].to_pylist()])
    edges = evidence.edges
    links = page_pairs(edges).select(page="to_page").distinct()
    alone = listed.anti_join(links, "page")
    alone = alone.anti_join(seeds, alone.page == seeds.url_key)
    once = alone.group_by("page").agg(url=alone.url.min(), on_url=alone.sitemap_url.min())
    outcomes = evidence.pages.select("url_key", "outcome")
    known = once.left_join(outcomes, once.page == outcomes.url_key)
    rows = evidence.rows(known.select("url", "on_url", detail=ibis.coalesce(known.outcome, "not fetched")))
    return rows + _of_earlier_crawls(evidence)


def hreflang_without_return(evidence: Evidence) -> Rows:
    """Give each page that names another as its alternate and is not named by it in turn."""
    edges, html = evidence.edges, evidence.html
    named = edges.filter((edges.kind == "alternate") & (edges.from_key != edges.to_page))
    named = named.semi_join(html, named.to_page == html.url_key).select("from_key", "to_page", "from_url", "to_url")
    back = edges.filter(edges.kind.isin(["alternate", "canonical"])).select(a="to_page", b="from_key").distinct()
    alone = named.anti_join(back, [named.from_key == back.a, named.to_page == back.b]).distinct()
    return evidence.rows(alone.select(url="to_url", on_url="from_url", detail=ibis.literal("names no alternate back")))


def _of_earlier_crawls(evidence: Evidence) -> Rows:
    # A crawl that goes less deep than one before cannot say that nothing links a page.
    if not evidence.standing.is_deepest_crawl:
        return []
    crawl = evidence.crawl
    met = {*crawl.nodes["url_key"].to_pylist(), *crawl.ends.aliases, *crawl.hyperlinks["to_key"].to_pylist()}
    met |= set(crawl.hyperlinks["to_page"].to_pylist()) | set(crawl.facts.sitemap_entries["url_key"].to_pylist())
    pages = evidence.standing.live_pages.to_pylist()
    found = sorted(row["url"] for row in pages if row["url_key"] not in met)
    return [{"url": url, "on_url": "", "detail": "known from an earlier crawl"} for url in found]


def _holders(evidence: Evidence, keys: list[str]) -> dict[str, str]:
    """Give one page that links each of these addresses."""
    edges, starts = evidence.edges, _keys(keys)
    linked = edges.semi_join(starts, edges.to_key == starts.url_key)
    found = evidence.engine.run(linked.group_by("to_key").agg(on_url=linked.from_url.min()))
    return dict(zip(found["to_key"].to_pylist(), found["on_url"].to_pylist(), strict=True))


def _is_home(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in _HOME_PATHS and not parts.query


def _keys(keys: list[str]) -> ibis.Table:
    return ibis.memtable(pa.table({"url_key": pa.array(keys, pa.string())}))

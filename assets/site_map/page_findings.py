"""Findings about single pages and sections: too deep, too heavy, without a title, out of date, said twice."""

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import ibis
import ibis.expr.types as ir

from assets.site_map.evidence import Evidence, Rows
from assets.site_map.outcomes import LIVE

TOP: Final = 10
_STALE_PAGES_MIN: Final = 3  # fewer pages are no section
# v2, v1.4, 3.11, 2.4.0; a bare number is as likely a year or an id.
_VERSION: Final = re.compile(r"v\d+(?:[._]\d+)*|\d+(?:\.\d+)+", re.IGNORECASE)
_ERROR_TITLE: Final = re.compile(
    r"^\W*(?:error\W*)?404\W*(?:error|page|file|not found|$)|^(?:error\W*)?not found\W*$"
    r"|\bpage (?:was )?not found\b|\bpage introuvable\b|\bseite nicht gefunden\b|\bpágina no encontrada\b"
    r"|页面不存在|ページが見つかりません",
    re.IGNORECASE,
)


def deepest_pages(evidence: Evidence) -> Rows:
    """Give the live pages that are farthest from a seed, with the page before them and their depth."""
    return _deep(evidence, 0)[:TOP]


def deep_pages(evidence: Evidence) -> Rows:
    """Give the live pages that are farther from a seed than the limit, with the page before them and their depth."""
    return _deep(evidence, evidence.limits.deep_page_hops)


def heavy_pages(evidence: Evidence) -> Rows:
    """Give the live pages of more bytes than the limit."""
    live = evidence.live
    return _by_number(evidence, live.filter(live.body_bytes > evidence.limits.heavy_page_bytes), "body_bytes")


def script_pages(evidence: Evidence) -> Rows:
    """Give the live pages with more scripts than the limit."""
    live = evidence.live
    return _by_number(evidence, live.filter(live.scripts > evidence.limits.many_scripts), "scripts")


def missing_titles(evidence: Evidence) -> Rows:
    """Give the pages whose title is empty."""
    html = evidence.html
    return evidence.rows(html.filter(html.title.strip() == "").select("url", on_url=_none(), detail=_none()))


def repeated_titles(evidence: Evidence) -> Rows:
    """Give the pages whose title another page has too, with the first of those pages."""
    return _repeated(evidence, _own(evidence.html).select("url", text="title"))


def missing_descriptions(evidence: Evidence) -> Rows:
    """Give the pages without a description; only those whose text was extracted."""
    described = _described(evidence)
    return evidence.rows(described.filter(described.text == "").select("url", on_url=_none(), detail=_none()))


def repeated_descriptions(evidence: Evidence) -> Rows:
    """Give the pages whose description another page has too, with the first of those pages."""
    return _repeated(evidence, _described(evidence))


def soft_404s(evidence: Evidence) -> Rows:
    """Give the pages that answer as if all were well, and say that there is nothing."""
    rows = evidence.crawl.nodes.select(["url", "title", "outcome", "flags"]).to_pylist()
    found = [
        row
        for row in rows
        if row["outcome"] in LIVE and ("soft_404" in row["flags"] or _ERROR_TITLE.search(row["title"]))
    ]
    return [{"url": row["url"], "on_url": "", "detail": row["title"]} for row in found]


def stale_sections(evidence: Evidence) -> Rows:
    """Give the sections in which nothing changed for longer than the limit, on a site that does change.

    Of sections within each other only the outermost. The dates are what pages and server say.
    """
    crawl = evidence.crawl
    limit = crawl.crawled_at - timedelta(days=evidence.limits.stale_section_days)
    stale = {
        row["section"]: row
        for row in crawl.sections.to_pylist()
        if row["newest_change_at"] and row["newest_change_at"] < limit and row["pages"] >= _STALE_PAGES_MIN
    }
    if "/" in stale:
        return []
    root = _root(crawl.nodes["url"].to_pylist())
    return [
        {
            "url": root + section,
            "on_url": "",
            "detail": f"{row['pages']} pages, last change {row['newest_change_at']:%Y-%m-%d}",
        }
        for section, row in stale.items()
        if row["parent"] not in stale
    ]


def old_versions(evidence: Evidence) -> Rows:
    """Give the pages of a version beside which there is a newer one, with the page there and that version."""
    nodes = evidence.crawl.nodes.select(["url", "outcome"]).to_pylist()
    live = {row["url"] for row in nodes if row["outcome"] in LIVE}
    parts = {url: url.split("/") for url in live}
    versions: dict[tuple[str, ...], dict[tuple[int, ...], str]] = defaultdict(dict)
    places: dict[str, list[int]] = {}
    for url, segments in parts.items():
        places[url] = [place for place in range(3, len(segments) - 1) if _VERSION.fullmatch(segments[place])]
        for place in places[url]:
            versions[(*segments[:place], "")][_numbers(segments[place])] = segments[place]
    rows = []
    for url in sorted(live):
        segments = parts[url]
        for place in places[url]:
            beside = versions[(*segments[:place], "")]
            newest = beside[max(beside)]
            if _numbers(segments[place]) < max(beside):
                twin = "/".join([*segments[:place], newest, *segments[place + 1 :]])
                rows.append({"url": url, "on_url": twin if twin in live else "", "detail": f"{newest} is newer"})
                break
    return rows


def exact_duplicates(evidence: Evidence) -> Rows:
    """Give the pages whose text another page has, with the page that stands for them."""
    rows = evidence.standing.exact_duplicates.to_pylist()
    others = [row for row in rows if row["url_key"] != row["representative_key"]]
    return _met(evidence, [{**row, "detail": f"{row['cluster_pages']} pages"} for row in others])


def near_duplicates(evidence: Evidence) -> Rows:
    """Give the pages whose text is nearly that of another page, with that page and how alike they are."""
    rows = evidence.standing.near_duplicates.to_pylist()
    return _met(evidence, [{**row, "detail": f"{row['similarity']:.2f} alike"} for row in rows])


def most_used_resources(evidence: Evidence) -> Rows:
    """Give the resources that most pages name, with the number of pages."""
    top = evidence.crawl.resources.slice(0, TOP).to_pylist()
    return [{"url": row["url"], "on_url": "", "detail": str(row["pages"])} for row in top]


def _deep(evidence: Evidence, hops: float) -> Rows:
    rows = evidence.crawl.nodes.select(["url", "url_key", "depth", "parent_key", "outcome"]).to_pylist()
    urls = {row["url_key"]: row["url"] for row in rows}
    deep = [row for row in rows if row["outcome"] in LIVE and row["depth"] > hops]
    return [
        {"url": row["url"], "on_url": urls.get(row["parent_key"], ""), "detail": str(row["depth"])}
        for row in sorted(deep, key=lambda row: (-row["depth"], row["url"]))
    ]


def _by_number(evidence: Evidence, pages: ir.Table, column: str) -> Rows:
    ordered = pages.order_by([ibis.desc(column), "url"])
    found: Rows = evidence.engine.run(
        ordered.select("url", on_url=_none(), detail=ordered[column].cast("string"))
    ).to_pylist()
    return found


def _own(html: ir.Table) -> ir.Table:
    """Leave out the pages that say themselves that they are another page."""
    return html.filter((html.canonical_key == "") | (html.canonical_key == html.url_key))


def _described(evidence: Evidence) -> ir.Table:
    texts = ibis.memtable(evidence.crawl.facts.texts.select(["url_key", "description"]))
    html = _own(evidence.html)
    return html.join(texts, "url_key").select("url", text="description")


def _repeated(evidence: Evidence, pages: ir.Table) -> Rows:
    told = pages.filter(pages.text.strip() != "")
    window = ibis.window(group_by="text")
    counted = told.mutate(pages=told.url.count().over(window), first=told.url.min().over(window))
    several = counted.filter(counted.pages > 1)
    return evidence.rows(several.select("url", on_url=several.first, detail=several.text))


def _met(evidence: Evidence, rows: Sequence[dict[str, str]]) -> Rows:
    """Keep the rows about pages that the crawl met."""
    urls = dict(zip(*(evidence.crawl.nodes[name].to_pylist() for name in ("url_key", "url")), strict=True))
    return [
        {
            "url": urls[row["url_key"]],
            "on_url": urls.get(row["representative_key"], row["representative_key"]),
            "detail": row["detail"],
        }
        for row in rows
        if row["url_key"] in urls
    ]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _root(urls: Sequence[str]) -> str:
    """Give scheme and host of the site, without the slash."""
    return "/".join(urls[0].split("/", 3)[:3]) if urls else ""


def _none() -> ir.StringValue:
    return ibis.literal("")

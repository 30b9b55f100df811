"""Redirects: the end of each address's story, and the chains that lead there."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from assets.schemas import MAP_REDIRECTS
from assets.site_map.crawl_facts import CrawlFacts
from assets.site_map.outcomes import ELSEWHERE, LIVE, REDIRECTED
from assets.url.key import url_key as key_of
from resources.ports import QueryEngine

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Endings:
    """Where addresses end: pages by url_key, and aliases, which are addresses that redirect to one of them."""

    pages: Mapping[str, Row]  # url_key -> the final row of the page
    aliases: Mapping[str, str]  # url_key -> url_key of a page

    def page_of(self, url_key: str) -> str:
        """Give the key of the page that an address leads to; itself when it does not redirect."""
        return self.aliases.get(url_key, url_key)


def final_rows(facts: CrawlFacts, engine: QueryEngine) -> list[dict[str, Any]]:
    """Give the last final row of each address that was asked, in the order of their keys."""
    fetches = ibis.memtable(facts.fetches)
    finals = fetches.filter(fetches.is_final)
    order = [finals.requested_at.desc(), finals.hop.desc(), finals.url_key]
    ranked = finals.mutate(rank=ibis.row_number().over(ibis.window(group_by="origin_key", order_by=order)))
    rows: list[dict[str, Any]] = engine.run(ranked.filter(ranked["rank"] == 0).order_by("origin_key")).to_pylist()
    return rows


def endings(finals: Sequence[Row], facts: CrawlFacts) -> Endings:
    """Join each address with the page where it ends.

    A redirect that left the site, or leads to nothing that was asked, ends at the address itself.
    """
    keys = dict(zip(facts.fetches["url"].to_pylist(), facts.fetches["url_key"].to_pylist(), strict=True))
    asked = frozenset(keys.values()) | frozenset(row["origin_key"] for row in finals)
    starts = {row["origin_key"]: row["url"] for row in facts.fetches.filter(pc.field("hop") == 0).to_pylist()}
    pages: dict[str, Row] = {}
    leads: dict[str, str] = {}
    stays: list[Row] = []
    for row in finals:
        origin = row["origin_key"]
        at_origin = {**row, "url_key": origin, "url": starts.get(origin, row["url"])}
        if row["outcome"] in ELSEWHERE:
            pages.setdefault(origin, at_origin)
        elif row["outcome"] == REDIRECTED:
            target = row["redirect_url"] or ""
            end = keys.get(target) or key_of(target)
            if end in asked and end != origin:
                leads[origin] = end
            stays.append(at_origin)
        else:
            # The answer to the page's own address counts before that to one that leads there.
            if row["url_key"] not in pages or row["url_key"] == origin:
                pages[row["url_key"]] = row
            if row["url_key"] != origin:
                leads[origin] = row["url_key"]
    aliases = {origin: end for origin in leads if origin not in pages and (end := _end(origin, leads, pages))}
    for row in stays:
        if row["url_key"] not in aliases:
            pages.setdefault(row["url_key"], row)
    return Endings(dict(sorted(pages.items())), aliases)


def _end(origin: str, leads: Mapping[str, str], pages: Container[str]) -> str | None:
    """Follow an address until a page; None when there is none, or only a loop."""
    passed = {origin}
    end = leads[origin]
    while end not in pages:
        if end in passed or end not in leads:
            return None
        passed.add(end)
        end = leads[end]
    return end


@dataclass(frozen=True, slots=True)
class Chain:
    """A redirect chain of an address: all URLs from the first to the last one."""

    origin_key: str
    urls: tuple[str, ...]
    is_loop: bool
    outcome: str  # of the end

    @property
    def is_long(self) -> bool:
        """Whether a visitor is sent on more than once, or for ever."""
        return self.is_loop or len(self.urls) > 2


def chains(facts: CrawlFacts, finals: Sequence[Row]) -> list[Chain]:
    """Give the chain of each address that redirects."""
    layers = {row["origin_key"]: (row["layer"], row["outcome"]) for row in finals}
    steps: dict[str, dict[int, Row]] = {}
    redirects = facts.fetches.filter(pc.field("outcome") == REDIRECTED)
    for row in redirects.sort_by([("requested_at", "ascending"), ("hop", "ascending")]).to_pylist():
        if layers.get(row["origin_key"], ("", ""))[0] == row["layer"]:
            steps.setdefault(row["origin_key"], {})[row["hop"]] = row
    found = []
    for origin in sorted(steps):
        hops = [row for _, row in sorted(steps[origin].items())]
        urls = (*(row["url"] for row in hops), hops[-1]["redirect_url"] or "")
        # A page may send a visitor round once, to set a cookie, and then answer.
        is_loop = len(set(urls)) < len(urls) and layers[origin][1] not in LIVE
        found.append(Chain(origin, tuple(url for url in urls if url), is_loop, layers[origin][1]))
    return found


def redirect_rows(facts: CrawlFacts, chains: Sequence[Chain], hyperlinks: pa.Table, engine: QueryEngine) -> pa.Table:
    """Make the rows of ``map_redirects``, in the order of their keys."""
    edges = ibis.memtable(hyperlinks)
    linked = engine.run(edges.group_by("to_key").agg(pages=edges.from_key.nunique()))
    in_links = dict(zip(linked["to_key"].to_pylist(), linked["pages"].to_pylist(), strict=True))
    rows = [
        {
            "site": facts.site,
            "crawl_id": facts.crawl_id,
            "url": chain.urls[0],
            "final_url": chain.urls[-1],
            "outcome": chain.outcome,
            "hops": len(chain.urls) - 1,
            "urls": chain.urls,
            "is_loop": chain.is_loop,
            "in_links": in_links.get(chain.origin_key, 0),
        }
        for chain in chains
    ]
    return pa.Table.from_pylist(rows, schema=MAP_REDIRECTS)

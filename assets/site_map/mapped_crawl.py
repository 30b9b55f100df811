"""Mapped crawls: all that is known of the structure of a site as one crawl saw it. Any stored crawl can be mapped."""

from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from assets.site_map.crawl_facts import CrawlFacts, read_facts
from assets.site_map.edges import hyperlinks, resource_rows, resources
from assets.site_map.nodes import site_nodes
from assets.site_map.redirects import Chain, Endings, chains, endings, final_rows, redirect_rows
from assets.site_map.sections import site_sections
from resources.ports import QueryEngine, TableStore


@dataclass(frozen=True, slots=True)
class MappedCrawl:
    """A crawl of a site, mapped. Tables have the schemas that carry their names unless it says otherwise."""

    facts: CrawlFacts
    ends: Endings
    chains: tuple[Chain, ...]
    nodes: pa.Table  # SITE_MAP
    hyperlinks: pa.Table  # see edges.hyperlinks
    resource_uses: pa.Table  # see edges.resources
    resources: pa.Table  # MAP_RESOURCES
    redirects: pa.Table  # MAP_REDIRECTS
    sections: pa.Table  # MAP_SECTIONS
    crawled_at: datetime  # when its last request was sent

    @property
    def site(self) -> str:
        """The site."""
        return self.facts.site

    @property
    def crawl_id(self) -> str:
        """The crawl."""
        return self.facts.crawl_id


def map_crawl(site: str, tables: TableStore, engine: QueryEngine, crawl_id: str | None = None) -> MappedCrawl:
    """Map a crawl of a site from what it stored; by default the latest finished one.

    What a crawl stored never changes, so that an old crawl has the map today that it had then.

    Raises:
        StageMissing: the site was never crawled, or this crawl is not known.
    """
    facts = read_facts(site, tables, crawl_id)
    finals = final_rows(facts, engine)
    ends = endings(finals, facts)
    edges = hyperlinks(facts.links, ends.aliases)
    nodes = site_nodes(facts, ends, edges, engine)
    followed = chains(facts, finals)
    uses = resources(facts.links)
    crawled_at = pc.max(facts.fetches["requested_at"]).as_py() or _time_of(facts.crawl_id)
    return MappedCrawl(
        facts=facts,
        ends=ends,
        chains=tuple(followed),
        nodes=nodes,
        hyperlinks=edges,
        resource_uses=uses,
        resources=resource_rows(facts, uses, engine),
        redirects=redirect_rows(facts, followed, edges, engine),
        sections=site_sections(nodes, crawled_at, engine),
        crawled_at=crawled_at,
    )


def _time_of(crawl_id: str) -> datetime:
    return datetime.fromisoformat(crawl_id[:15] + "Z")

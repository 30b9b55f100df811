"""Evidence: what findings are made from. The crawl, what is known of the site today, and what counts as too much."""

from dataclasses import dataclass
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.site_map.mapped_crawl import MappedCrawl
from assets.site_map.outcomes import LIVE
from resources.ports import QueryEngine, TableStore
from resources.ports.catalog import MapLimits

Rows = list[dict[str, Any]]  # url, on_url, detail
_NODE_COLUMNS: Final = (
    *("url", "url_key", "title", "depth", "outcome", "status", "body_bytes", "scripts", "in_links", "canonical_key"),
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the store knows of a site beyond the crawl: duplicates, and pages of earlier crawls."""

    exact_duplicates: pa.Table
    near_duplicates: pa.Table
    live_pages: pa.Table  # url, url_key
    is_deepest_crawl: bool  # whether no earlier crawl was asked to go deeper


def read_standing(site: str, crawl_id: str, tables: TableStore) -> Standing:
    """Read what is known of a site today."""
    crawls = tables.read(names.T_CRAWLS, sites=[site], columns=["crawl_id", "max_depth"])
    deepest = {row["crawl_id"]: row["max_depth"] for row in crawls.to_pylist()}
    pages = tables.read(names.T_PAGE_STATE, sites=[site], columns=["url", "url_key", "status"])
    return Standing(
        exact_duplicates=tables.read(names.T_EXACT_DUPLICATES, sites=[site]),
        near_duplicates=tables.read(names.T_NEAR_DUPLICATES, sites=[site]),
        live_pages=pages.filter(pc.field("status") == "live").select(["url", "url_key"]),
        is_deepest_crawl=deepest.get(crawl_id, 0) >= max(deepest.values(), default=0),
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a finding may ask."""

    crawl: MappedCrawl
    standing: Standing
    limits: MapLimits
    engine: QueryEngine

    @property
    def pages(self) -> ir.Table:
        """Every page that was asked."""
        is_closed = [("noindex" in flags) for flags in self.crawl.nodes["flags"].to_pylist()]
        nodes = self.crawl.nodes.select(list(_NODE_COLUMNS))
        return ibis.memtable(nodes.append_column("is_noindex", pa.array(is_closed, pa.bool_())))

    @property
    def live(self) -> ir.Table:
        """The pages that answered with something to read."""
        pages = self.pages
        return pages.filter(pages.outcome.isin(sorted(LIVE)))

    @property
    def html(self) -> ir.Table:
        """The live pages that could be parsed."""
        live = self.live
        links = self.crawl.facts.links
        parsed = ibis.memtable(links.filter(pc.field("reason") == "").select(["url_key"]))
        return live.semi_join(parsed, "url_key")

    @property
    def edges(self) -> ir.Table:
        """The hyperlinks."""
        return ibis.memtable(self.crawl.hyperlinks)

    def rows(self, expression: ir.Table) -> Rows:
        """Run a query that gives ``url, on_url, detail``, in their order."""
        found: Rows = self.engine.run(expression.order_by(["url", "on_url", "detail"])).to_pylist()
        return found

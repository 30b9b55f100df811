"""Names: asset keys, groups, tables, and where things lie in the store."""

from dataclasses import dataclass
from typing import Final, Literal

import dagster as dg

OWNERS: Final = ["team:crawl"]
SIDE_TAG: Final = "isobath/side"  # crawl, refresh or derived

# Asset keys.
SEED_CHECK: Final = dg.AssetKey(["seeds", "seed_check"])
CRAWL_REPORT: Final = dg.AssetKey("crawl_report")
REFRESH_REPORT: Final = dg.AssetKey("refresh_report")
PAGES: Final = dg.AssetKey(["content", "pages"])
EXACT_DUPLICATES: Final = dg.AssetKey(["content", "exact_duplicates"])
NEAR_DUPLICATES: Final = dg.AssetKey(["content", "near_duplicates"])
INDEX_FEED: Final = dg.AssetKey(["feed", "index_feed"])
CHUNKS: Final = dg.AssetKey(["feed", "chunks"])
SITE_MAP: Final = dg.AssetKey(["map", "site_map"])
MAP_CHANGES: Final = dg.AssetKey(["map", "changes"])
MAP_REPORT: Final = dg.AssetKey(["map", "report"])
PAGE_SCHEDULE: Final = dg.AssetKey(["recrawl", "page_schedule"])


@dataclass(frozen=True, slots=True)
class Layer:
    """Pages that are fetched together: those of one depth of a crawl, or of one step of a refresh."""

    kind: Literal["depth", "refresh"]
    number: int

    @property
    def name(self) -> str:
        """What its rows and its folder are called.

        >>> depth(2).name
        'depth_2'
        """
        return f"{self.kind}_{self.number}"

    @property
    def before(self) -> "Layer | None":
        """The layer whose pages lead to this one; None for the first."""
        return Layer(self.kind, self.number - 1) if self.number else None

    @property
    def frontier(self) -> dg.AssetKey:
        """Its asset of addresses to fetch."""
        return dg.AssetKey([self.name, "frontier"])

    @property
    def raw_batches(self) -> dg.AssetKey:
        """Its asset of answers."""
        return dg.AssetKey([self.name, "raw_batches"])

    @property
    def links(self) -> dg.AssetKey:
        """Its asset of parsed pages."""
        return dg.AssetKey([self.name, "links"])

    @property
    def stages(self) -> tuple[dg.AssetKey, dg.AssetKey, dg.AssetKey]:
        """Its assets, in order."""
        return self.frontier, self.raw_batches, self.links


def depth(number: int) -> Layer:
    """Give the layer of a depth: pages so many links away from the seeds."""
    return Layer("depth", number)


def refresh(number: int) -> Layer:
    """Give a layer of a refresh: 0 for the pages that are due, 1 for those newly linked from them."""
    return Layer("refresh", number)


REFRESH_LAYERS: Final = (refresh(0), refresh(1))
SEED_LAYER: Final = "seeds"  # the layer of what the seed check fetches

# Tables.
T_CRAWLS: Final = "crawls"
T_SEEDS: Final = "seeds"
T_ROBOTS: Final = "robots"
T_SITEMAP_FILES: Final = "sitemap_files"
T_SITEMAP_ENTRIES: Final = "sitemap_entries"
T_FRONTIER: Final = "frontier"
T_REFUSALS: Final = "refusals"
T_FETCHES: Final = "fetches"
T_LINKS: Final = "links"
T_PAGES: Final = "pages"
T_PAGE_STATE: Final = "page_state"
T_ALIASES: Final = "aliases"
T_EXACT_DUPLICATES: Final = "exact_duplicates"
T_NEAR_PAIRS: Final = "near_pairs"
T_NEAR_DUPLICATES: Final = "near_duplicates"
T_DUPLICATE_VERDICTS: Final = "duplicate_verdicts"
T_DUPLICATE_PATTERNS: Final = "duplicate_patterns"
T_MIRRORS: Final = "mirrors"
T_FEED_STATE: Final = "feed_state"
T_CHUNK_STATE: Final = "chunk_state"
T_SITE_MAP: Final = "site_map"
T_FINDINGS: Final = "findings"
T_MAP_RESOURCES: Final = "map_resources"
T_MAP_REDIRECTS: Final = "map_redirects"
T_MAP_SECTIONS: Final = "map_sections"
T_MAP_HISTORY: Final = "map_history"
T_MAP_CHANGES: Final = "map_changes"
T_PAGE_SCHEDULE: Final = "page_schedule"
T_SITE_SCHEDULE: Final = "site_schedule"
T_PINGS: Final = "pings"

PINGS_PREFIX: Final = "pings/"  # of the objects that people drop in to be read as pings


def raw_prefix(site: str, crawl_id: str, layer_name: str) -> str:
    """Say under which object prefix a layer's WARC batches lie; it ends in a slash."""
    return f"raw/site={site}/crawl={crawl_id}/layer={layer_name}/"


def feed_prefix(site: str) -> str:
    """Say under which object prefix a site's feed batches lie; it ends in a slash."""
    return f"feed/site={site}/"


def chunks_prefix(site: str) -> str:
    """Say under which object prefix a site's batches of chunks lie; it ends in a slash."""
    return f"chunks/site={site}/"


def report_prefix(site: str, crawl_id: str) -> str:
    """Say under which object prefix what people look at lies; it ends in a slash."""
    return f"reports/{site}/{crawl_id}/"

"""Names: asset keys, groups, tables, and where things lie in the store."""

from typing import Final

import dagster as dg

OWNERS: Final = ["team:crawl"]

# Asset keys.
SEED_CHECK: Final = dg.AssetKey(["seeds", "seed_check"])
CRAWL_REPORT: Final = dg.AssetKey("crawl_report")
PAGES: Final = dg.AssetKey(["content", "pages"])
EXACT_DUPLICATES: Final = dg.AssetKey(["content", "exact_duplicates"])
NEAR_DUPLICATES: Final = dg.AssetKey(["content", "near_duplicates"])
INDEX_FEED: Final = dg.AssetKey(["feed", "index_feed"])
SITE_MAP: Final = dg.AssetKey(["map", "site_map"])


def frontier(depth: int) -> dg.AssetKey:
    """Name the frontier asset of a depth."""
    return dg.AssetKey([layer(depth), "frontier"])


def raw_batches(depth: int) -> dg.AssetKey:
    """Name the raw batches asset of a depth."""
    return dg.AssetKey([layer(depth), "raw_batches"])


def links(depth: int) -> dg.AssetKey:
    """Name the links asset of a depth."""
    return dg.AssetKey([layer(depth), "links"])


def layer(depth: int) -> str:
    """Name the layer of a depth.

    >>> layer(2)
    'depth_2'
    """
    return f"depth_{depth}"


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
T_FEED_STATE: Final = "feed_state"
T_SITE_MAP: Final = "site_map"
T_FINDINGS: Final = "findings"


def raw_prefix(site: str, crawl_id: str, layer_name: str) -> str:
    """Say under which object prefix a layer's WARC batches lie; it ends in a slash."""
    return f"raw/site={site}/crawl={crawl_id}/layer={layer_name}/"


def feed_prefix(site: str) -> str:
    """Say under which object prefix a site's feed batches lie; it ends in a slash."""
    return f"feed/site={site}/"


def report_prefix(site: str, crawl_id: str) -> str:
    """Say under which object prefix what people look at lies; it ends in a slash."""
    return f"reports/{site}/{crawl_id}/"

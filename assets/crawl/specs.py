"""Asset specs of the crawl: what each stage is called, what a row of it is, and who reads it."""

from collections.abc import Sequence

import dagster as dg

from assets import names
from assets.crawl.archive_checks import DIGESTS_VERIFY, ERRORS_WITHIN_SHARE, NO_DANGLING_REVISITS
from assets.crawl.links_stage import PAGES_PARSED
from assets.crawl.raw_stage import ONE_OUTCOME
from assets.crawl.report_stage import REACHABLE
from assets.crawl.seed_stage import SEEDS_USABLE
from assets.crawl.site_checks import ANSWERS_IN_TIME, PAGES_KEPT, ROBOTS_WITHIN_SHARE
from assets.partitions import sites
from assets.table_metadata import table_metadata

CODE_VERSION = "1"
_CRAWL, _REFRESH = "crawl", "refresh"  # sides
_WARN, _ERROR = "WARN", "ERROR"  # as Dagster shows them
_SITEMAPS = (names.T_SITEMAP_FILES, names.T_SITEMAP_ENTRIES)


def crawl_specs(depth_limit: int) -> list[dg.AssetSpec]:
    """Declare the stages of the crawl loop, unrolled to ``depth_limit`` layers."""
    layers = [spec for depth in range(depth_limit + 1) for spec in _depth_specs(depth)]
    return [
        _spec(
            names.SEED_CHECK,
            deps=[],
            side=_CRAWL,
            group="seeds",
            kinds={"python", "deltalake"},
            tables=(names.T_SEEDS, names.T_ROBOTS, *_SITEMAPS),
            description=(
                "Is every seed reachable, where does it end after redirects, what do robots.txt and sitemaps say. "
                "A row of the table `seeds` is one seed and its verdict. Read by depth_0/frontier."
            ),
        ),
        *layers,
        _spec(
            names.CRAWL_REPORT,
            deps=[names.depth(depth).links for depth in range(depth_limit + 1)],
            side=_CRAWL,
            group="report",
            kinds={"python", "json"},
            tables=(names.T_CRAWLS,),
            description=(
                "How the crawl of a site went: pages by outcome and depth, refusals by reason, bytes. A row of the "
                "table `crawls` is one stage of one crawl; this is its last. Read by everything that is derived "
                "(content, feed, map), which waits for it."
            ),
        ),
    ]


def refresh_specs() -> list[dg.AssetSpec]:
    """Declare the stages of a refresh."""
    return [
        *_layer_specs(
            names.refresh(0),
            deps=[],
            where="pages and sitemaps that are due by recrawl/page_schedule, within the site's budget",
            reader="refresh_1/frontier",
        ),
        *_layer_specs(
            names.refresh(1),
            deps=[names.refresh(0).links],
            where="what changed pages of refresh_0 newly link to, and new sitemap entries",
            reader="refresh_report",
        ),
        _spec(
            names.REFRESH_REPORT,
            deps=[layer.links for layer in names.REFRESH_LAYERS],
            side=_REFRESH,
            group="report",
            kinds={"python"},
            tables=(names.T_CRAWLS,),
            description=(
                "How the refresh of a site went: pages asked, changed, new. A row of the table `crawls` is one stage "
                "of one refresh; this is its last. Read by content/pages; duplicates, feed and schedule follow."
            ),
        ),
    ]


def _depth_specs(depth: int) -> list[dg.AssetSpec]:
    before = names.depth(depth).before
    return _layer_specs(
        names.depth(depth),
        deps=[before.links] if before else [names.SEED_CHECK],
        where=f"what pages of {before.name} link to" if before else "the seeds and hubs",
        reader=f"depth_{depth + 1}/frontier and map/site_map",
    )


def _layer_specs(layer: names.Layer, *, deps: list[dg.AssetKey], where: str, reader: str) -> list[dg.AssetSpec]:
    side = _REFRESH if layer in names.REFRESH_LAYERS else _CRAWL
    return [
        _spec(
            layer.frontier,
            deps=deps,
            side=side,
            group=layer.name,
            kinds={"python", "duckdb", "deltalake"},
            tables=(names.T_FRONTIER, names.T_REFUSALS),
            description=(
                f"URLs to fetch in {layer.name}: {where}, less what this crawl knows already. A row of the table "
                "`frontier` is one URL with its priority; every refused URL is a row of `refusals` with its rule. Read "
                f"by {layer.name}/raw_batches."
            ),
        ),
        _spec(
            layer.raw_batches,
            deps=[layer.frontier],
            side=side,
            group=layer.name,
            kinds={"python", "s3"},
            tables=(names.T_FETCHES, names.T_ROBOTS, *(_SITEMAPS if layer == names.refresh(0) else ())),
            description=(
                f"What the servers answered in {layer.name}: WARC/1.1 batches with a CDXJ index, never rewritten. "
                "A row of the table `fetches` is one request with its outcome. Read by links and content/pages."
            ),
        ),
        _spec(
            layer.links,
            deps=[layer.raw_batches],
            side=side,
            group=layer.name,
            kinds={"python", "deltalake"},
            tables=(names.T_LINKS,),
            description=(
                f"Hyperlinks, resources and page facts parsed from the stored bytes of {layer.name}. A row of the "
                f"table `links` is one page. Read by {reader}."
            ),
        ),
    ]


def _spec(
    key: dg.AssetKey,
    *,
    deps: list[dg.AssetKey],
    side: str,
    group: str,
    kinds: set[str],
    tables: Sequence[str],
    description: str,
) -> dg.AssetSpec:
    return dg.AssetSpec(
        key,
        deps=deps,
        group_name=group,
        kinds=kinds,
        description=description,
        owners=names.OWNERS,
        tags={names.SIDE_TAG: side},
        metadata=table_metadata(*tables),
        code_version=CODE_VERSION,
        partitions_def=sites,
        skippable=True,
    )


def crawl_check_specs(depth_limit: int) -> list[dg.AssetCheckSpec]:
    """Declare the asset checks that the crawl reports per site."""
    return [
        _check(
            SEEDS_USABLE,
            names.SEED_CHECK,
            "Every seed can be fetched; names each that cannot and why.",
            severity="WARN; ERROR when none can",
        ),
        *(check for depth in range(depth_limit + 1) for check in _layer_checks(names.depth(depth))),
        _check(
            REACHABLE,
            names.CRAWL_REPORT,
            "At least one page of the site could be fetched and read.",
            severity="ERROR; WARN when seeds_usable tells it",
        ),
        _check(
            PAGES_KEPT,
            names.CRAWL_REPORT,
            "Not many fewer pages could be read than in the last crawl of the same depth: at most the site's "
            "max_lost_share.",
            severity=_ERROR,
        ),
        *_report_checks(names.CRAWL_REPORT),
    ]


def refresh_check_specs() -> list[dg.AssetCheckSpec]:
    """Declare the asset checks that a refresh reports per site."""
    return [
        *(check for layer in names.REFRESH_LAYERS for check in _layer_checks(layer)),
        *_report_checks(names.REFRESH_REPORT),
    ]


def _report_checks(key: dg.AssetKey) -> list[dg.AssetCheckSpec]:
    return [
        _check(ROBOTS_WITHIN_SHARE, key, "robots.txt denies no more of the pages than the site's max_robots_share."),
        _check(ANSWERS_IN_TIME, key, "Nine of ten answers come within the site's max_fetch_p90_ms."),
    ]


def _layer_checks(layer: names.Layer) -> list[dg.AssetCheckSpec]:
    return [
        _check(ONE_OUTCOME, layer.raw_batches, "Each frontier row has exactly one final outcome.", severity=_ERROR),
        _check(
            DIGESTS_VERIFY,
            layer.raw_batches,
            "Each WARC record of the layer unpacks and its digest holds; a sample over 200 MB.",
            severity=_ERROR,
        ),
        _check(
            NO_DANGLING_REVISITS,
            layer.raw_batches,
            "Each revisit leads to a response of the site that is stored.",
            severity=_ERROR,
        ),
        _check(
            ERRORS_WITHIN_SHARE, layer.raw_batches, "No kind of error ends more pages than the site's max_error_share."
        ),
        _check(PAGES_PARSED, layer.links, "Every stored page could be parsed."),
    ]


def _check(name: str, key: dg.AssetKey, description: str, severity: str = _WARN) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        name, asset=key, description=description, partitions_def=sites, metadata={"severity": severity}
    )

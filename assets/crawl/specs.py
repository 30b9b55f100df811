"""Asset specs of the crawl: what each stage is called, what a row of it is, and who reads it."""

import dagster as dg

from assets import names
from assets.crawl.archive_checks import DIGESTS_VERIFY, ERRORS_WITHIN_SHARE, NO_DANGLING_REVISITS
from assets.crawl.links_stage import PAGES_PARSED
from assets.crawl.raw_stage import ONE_OUTCOME
from assets.crawl.report_stage import REACHABLE
from assets.crawl.seed_stage import SEEDS_USABLE
from assets.partitions import sites

CODE_VERSION = "1"


def crawl_specs(depth_limit: int) -> list[dg.AssetSpec]:
    """Declare the stages of the crawl loop, unrolled to ``depth_limit`` layers."""
    layers = [spec for depth in range(depth_limit + 1) for spec in _depth_specs(depth)]
    return [
        _spec(
            names.SEED_CHECK,
            deps=[],
            group="seeds",
            kinds={"python", "deltalake"},
            description=(
                "Is every seed reachable, where does it end after redirects, what do robots.txt and sitemaps say. "
                "A row of the table `seeds` is one seed and its verdict. Read by depth_0/frontier."
            ),
        ),
        *layers,
        _spec(
            names.CRAWL_REPORT,
            deps=[names.depth(depth).links for depth in range(depth_limit + 1)],
            group="report",
            kinds={"python", "json"},
            description=(
                "How the crawl of a site went: pages by outcome and depth, refusals by reason, bytes. Emitted last; "
                "everything that is derived (content, feed, map) waits for it."
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
            group="report",
            kinds={"python"},
            description=(
                "How the refresh of a site went: pages asked, changed, new. Emitted last; pages, duplicates, feed and "
                "schedule follow it."
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
    return [
        _spec(
            layer.frontier,
            deps=deps,
            group=layer.name,
            kinds={"python", "duckdb", "deltalake"},
            description=(
                f"URLs to fetch in {layer.name}: {where}, less what this crawl knows already. A row of the table "
                "`frontier` is one URL with its priority; every refused URL is a row of `refusals` with its rule."
            ),
        ),
        _spec(
            layer.raw_batches,
            deps=[layer.frontier],
            group=layer.name,
            kinds={"python", "s3"},
            description=(
                f"What the servers answered in {layer.name}: WARC/1.1 batches with a CDXJ index, never rewritten. "
                "A row of the table `fetches` is one request with its outcome. Read by links and content/pages."
            ),
        ),
        _spec(
            layer.links,
            deps=[layer.raw_batches],
            group=layer.name,
            kinds={"python", "deltalake"},
            description=(
                f"Hyperlinks, resources and page facts parsed from the stored bytes of {layer.name}. A row of the "
                f"table `links` is one page. Read by {reader}."
            ),
        ),
    ]


def _spec(key: dg.AssetKey, *, deps: list[dg.AssetKey], group: str, kinds: set[str], description: str) -> dg.AssetSpec:
    return dg.AssetSpec(
        key,
        deps=deps,
        group_name=group,
        kinds=kinds,
        description=description,
        owners=names.OWNERS,
        tags={"isobath/side": "crawl"},
        code_version=CODE_VERSION,
        partitions_def=sites,
        skippable=True,
    )


def crawl_check_specs(depth_limit: int) -> list[dg.AssetCheckSpec]:
    """Declare the asset checks that the crawl reports per site."""
    return [
        _check(SEEDS_USABLE, names.SEED_CHECK, "Every seed can be fetched; names each that cannot and why."),
        *(check for depth in range(depth_limit + 1) for check in _layer_checks(names.depth(depth))),
        _check(REACHABLE, names.CRAWL_REPORT, "At least one page of the site could be fetched and read."),
    ]


def refresh_check_specs() -> list[dg.AssetCheckSpec]:
    """Declare the asset checks that a refresh reports per site."""
    return [check for layer in names.REFRESH_LAYERS for check in _layer_checks(layer)]


def _layer_checks(layer: names.Layer) -> list[dg.AssetCheckSpec]:
    return [
        _check(ONE_OUTCOME, layer.raw_batches, "Each frontier row has exactly one final outcome."),
        _check(
            DIGESTS_VERIFY,
            layer.raw_batches,
            "Each WARC record of the layer unpacks and its digest holds; a sample over 200 MB.",
        ),
        _check(NO_DANGLING_REVISITS, layer.raw_batches, "Each revisit leads to a response of the site that is stored."),
        _check(
            ERRORS_WITHIN_SHARE, layer.raw_batches, "No kind of error ends more pages than the site's max_error_share."
        ),
        _check(PAGES_PARSED, layer.links, "Every stored page could be parsed."),
    ]


def _check(name: str, key: dg.AssetKey, description: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(name, asset=key, description=description, partitions_def=sites)

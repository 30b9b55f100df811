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
    layers = [spec for depth in range(depth_limit + 1) for spec in _layer_specs(depth)]
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


def _layer_specs(depth: int) -> list[dg.AssetSpec]:
    layer = names.depth(depth).name
    before = [names.depth(depth - 1).links] if depth else [names.SEED_CHECK]
    where = "the seeds and hubs" if depth == 0 else f"what pages of depth {depth - 1} link to"
    return [
        _spec(
            names.depth(depth).frontier,
            deps=before,
            group=layer,
            kinds={"python", "duckdb", "deltalake"},
            description=(
                f"URLs to fetch at depth {depth}: {where}, less what this crawl knows already. A row of the table "
                "`frontier` is one URL with its priority; every refused URL is a row of `refusals` with its rule."
            ),
        ),
        _spec(
            names.depth(depth).raw_batches,
            deps=[names.depth(depth).frontier],
            group=layer,
            kinds={"python", "s3"},
            description=(
                f"What the servers answered at depth {depth}: WARC/1.1 batches with a CDXJ index, never rewritten. "
                "A row of the table `fetches` is one request with its outcome. Read by links and content/pages."
            ),
        ),
        _spec(
            names.depth(depth).links,
            deps=[names.depth(depth).raw_batches],
            group=layer,
            kinds={"python", "deltalake"},
            description=(
                f"Hyperlinks, resources and page facts parsed from the stored bytes of depth {depth}. A row of the "
                f"table `links` is one page. Read by depth_{depth + 1}/frontier and map/site_map."
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

    def check(name: str, key: dg.AssetKey, description: str) -> dg.AssetCheckSpec:
        return dg.AssetCheckSpec(name, asset=key, description=description, partitions_def=sites)

    depths = range(depth_limit + 1)
    return [
        check(SEEDS_USABLE, names.SEED_CHECK, "Every seed can be fetched; names each that cannot and why."),
        *(
            check(name, names.depth(depth).raw_batches, description)
            for depth in depths
            for name, description in (
                (ONE_OUTCOME, "Each frontier row has exactly one final outcome."),
                (DIGESTS_VERIFY, "Each WARC record of the layer unpacks and its digest holds; a sample over 200 MB."),
                (NO_DANGLING_REVISITS, "Each revisit leads to a response of the site that is stored."),
                (ERRORS_WITHIN_SHARE, "No kind of error ends more pages than the site's max_error_share."),
            )
        ),
        *(check(PAGES_PARSED, names.depth(depth).links, "Every stored page could be parsed.") for depth in depths),
        check(REACHABLE, names.CRAWL_REPORT, "At least one page of the site could be fetched and read."),
    ]

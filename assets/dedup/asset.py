"""The assets of the duplicate tables."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import cache

import dagster as dg
import pyarrow as pa

from assets import names
from assets.dedup.aliases import aliases_of_site
from assets.dedup.comparable import stored_fingerprints
from assets.dedup.exact import exact_duplicates_of_sites
from assets.dedup.histogram import histogram_image
from assets.dedup.near import NearSettings, near_duplicates_of_sites
from assets.dedup.repeats import repeats_of_site
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.url.key import KeyRules
from resources.ports import QueryEngine, SiteCatalog, TableStore


@derived_asset(
    key=names.EXACT_DUPLICATES,
    deps=[names.PAGES],
    group="content",
    description="Pages whose text is that of another page, of any site in the store. A row of the table "
    "`exact_duplicates` is one of them and the page that stands for it; different versions or languages are never put "
    "together, and nothing is deleted. A row of `aliases` is an address that is another page's by evidence: redirect, "
    "declared canonical, equal text. Read by feed/index_feed.",
    kinds={"python", "deltalake", "ibis"},
    code_version="2",
    tables=(names.T_EXACT_DUPLICATES, names.T_ALIASES),
)
def exact_duplicates(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    engine: dg.ResourceParam[QueryEngine],
    catalog: dg.ResourceParam[SiteCatalog],
) -> Iterator[SiteEvent]:
    """Mark the exact duplicates and the aliases of each site."""

    def work(site: str) -> SiteResult:
        rows = exact_duplicates_of_sites(tables, engine, [site])
        tables.replace(names.T_EXACT_DUPLICATES, sites=[site], rows=rows)
        aliases = aliases_of_site(site, tables, KeyRules.of(catalog.settings(site)))
        tables.replace(names.T_ALIASES, sites=[site], rows=aliases)
        clusters = rows.group_by(["representative_site", "representative_key"]).aggregate([])
        metadata = {
            "pages": rows.num_rows,
            "clusters": clusters.num_rows,
            "aliases": aliases.num_rows,
            "aliases_by_evidence": dict(Counter(aliases.column("evidence").to_pylist())),
        }
        return SiteResult(metadata, _digest(rows, aliases.drop(["seen_at"])))

    yield from per_site(context, names.EXACT_DUPLICATES, work)


@derived_asset(
    key=names.NEAR_DUPLICATES,
    deps=[names.PAGES, names.EXACT_DUPLICATES],
    group="content",
    description="Pages whose text differs in little from that of a page that stands for them, in the whole store. A "
    "row of the table `near_duplicates` is one of them and the page that stands for it; a row of `near_pairs` is two "
    "alike pages with their similarity, those that are never merged among them. Nothing is deleted. Beside them "
    "`duplicate_patterns`, kinds of addresses whose pages always repeat others, `mirrors`, and `duplicate_verdicts`, "
    "what people said of pairs. Read by feed/index_feed.",
    kinds={"python", "deltalake", "ibis"},
    code_version="2",
    tables=(
        names.T_NEAR_DUPLICATES,
        names.T_NEAR_PAIRS,
        names.T_DUPLICATE_VERDICTS,
        names.T_DUPLICATE_PATTERNS,
        names.T_MIRRORS,
    ),
)
def near_duplicates(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    engine: dg.ResourceParam[QueryEngine],
    catalog: dg.ResourceParam[SiteCatalog],
) -> Iterator[SiteEvent]:
    """Mark the near-duplicates of each site."""
    settings = NearSettings()

    @cache
    def fingerprints() -> pa.Table:
        # Of millions of pages: once a run, not once a site.
        return stored_fingerprints(tables, settings.min_features)

    @cache
    def least_similarity(site: str) -> float:
        # It is asked for every pair.
        return catalog.settings(site).near_similarity

    def work(site: str) -> SiteResult:
        result = near_duplicates_of_sites(
            tables, engine, [site], settings, least_similarity=least_similarity, fingerprints=fingerprints()
        )
        tables.replace(names.T_NEAR_PAIRS, sites=[site], rows=result.pairs)
        tables.replace(names.T_NEAR_DUPLICATES, sites=[site], rows=result.duplicates)
        repeats = repeats_of_site(tables, site, result.pairs, result.duplicates)
        tables.replace(names.T_DUPLICATE_PATTERNS, sites=[site], rows=repeats.patterns)
        tables.replace(names.T_MIRRORS, sites=[site], rows=repeats.mirrors)
        metadata = {
            "compared_pages": result.compared_pages,
            "candidate_pairs": result.candidates,
            "alike_pairs": result.alike,
            "vetoed_pairs": result.vetoed,
            "duplicates": result.duplicates.num_rows,
            "repeating_patterns": repeats.patterns.num_rows,
            "mirrors": [
                f"{row['host']} of {row['other_host']}: {row['share']:.0%}" for row in repeats.mirrors.to_pylist()
            ],
            "similarities": dg.MetadataValue.md(histogram_image(result.similarities)),
        }
        return SiteResult(metadata, _digest(result.pairs, result.duplicates, repeats.patterns, repeats.mirrors))

    yield from per_site(context, names.NEAR_DUPLICATES, work)


def _digest(*tables: pa.Table) -> str:
    """Give a digest of sorted rows: equal when nothing changed."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(repr(table.to_pylist()).encode())
    return digest.hexdigest()

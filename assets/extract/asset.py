"""The asset of the pages."""

from collections.abc import Iterator

import dagster as dg

from assets import names
from assets.derived import SiteEvent, SiteResult, derived_asset, per_site
from assets.extract.checks import DESCRIPTIONS, flags_kept, texts_found, texts_kept, texts_readable
from assets.extract.extractor import EXTRACTOR_VERSION
from assets.extract.pages import pages_of_site
from assets.url.key import KeyRules
from resources.ports import DocumentWorkers, ObjectStore, SiteCatalog, TableStore
from resources.ports.catalog import TextLimits


class PagesConfig(dg.Config):
    """What can be asked of one materialization."""

    full_refresh: bool = False  # extract every page again, also those that this extractor has done


@derived_asset(
    key=names.PAGES,
    deps=[names.CRAWL_REPORT, names.REFRESH_REPORT],
    group="content",
    description="A row of the table `pages` is one version of a fetched HTML page: title, main text as Markdown and "
    "plain, language, dates, charset, quality flags, fingerprints; `page_state` says which is current and live. Read "
    "by duplicates, feed and site map, and by whoever wants the texts.",
    kinds={"python", "deltalake"},
    code_version=EXTRACTOR_VERSION,
    tables=(names.T_PAGES, names.T_PAGE_STATE),
    checks=DESCRIPTIONS,
)
def pages(
    context: dg.AssetExecutionContext,
    config: PagesConfig,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    workers: dg.ResourceParam[DocumentWorkers],
    catalog: dg.ResourceParam[SiteCatalog],
) -> Iterator[SiteEvent]:
    """Extract the pages of each site."""

    def work(site: str) -> SiteResult:
        settings = catalog.settings(site)
        rules, limits = KeyRules.of(settings), TextLimits(**dict(settings.text_limits))
        result = pages_of_site(site, tables, objects, workers, key_rules=rules, full_refresh=config.full_refresh)
        checks = (
            texts_found(result.live_pages, result.live_pages_without_text, limits),
            texts_readable(result.new_characters, result.replacement_characters, limits),
            texts_kept(result.pages_before, result.characters_before, result.characters_of_those, limits),
            flags_kept(result.flags_before, result.flags, limits),
        )
        metadata = {**result.metadata, "table": tables.location(names.T_PAGES)}
        return SiteResult(metadata, result.digest, checks, settings.check_severity)

    yield from per_site(context, names.PAGES, work)

"""Findings: what is wrong or remarkable on a site, one row each. Each kind is a query with a plain name."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from assets.schemas import FINDINGS
from assets.site_map import index_findings, link_findings, page_findings
from assets.site_map.evidence import Evidence, Rows


class Finding(StrEnum):
    """The kinds of findings, in the order in which people read them."""

    DEAD_LINK = "dead_link"
    DEAD_RESOURCE = "dead_resource"
    SOFT_404 = "soft_404"
    REDIRECT_CHAIN = "redirect_chain"
    REDIRECT_TO_HOME = "redirect_to_home"
    ORPHAN = "orphan"
    CANONICAL_CONFLICT = "canonical_conflict"
    NOINDEX_IN_SITEMAP = "noindex_in_sitemap"
    LINKED_NOT_INDEXABLE = "linked_not_indexable"
    HREFLANG_WITHOUT_RETURN = "hreflang_without_return"
    MIXED_CONTENT = "mixed_content"
    MISSING_TITLE = "missing_title"
    REPEATED_TITLE = "repeated_title"
    MISSING_DESCRIPTION = "missing_description"
    REPEATED_DESCRIPTION = "repeated_description"
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    OLD_VERSION = "old_version"
    STALE_SECTION = "stale_section"
    DEEP_PAGE = "deep_page"
    DEEPEST_PAGE = "deepest_page"
    HEAVY_PAGE = "heavy_page"
    MANY_SCRIPTS = "many_scripts"
    MOST_USED_RESOURCE = "most_used_resource"


QUERIES: Final[Mapping[Finding, Callable[[Evidence], Rows]]] = MappingProxyType(
    {
        Finding.DEAD_LINK: link_findings.dead_links,
        Finding.DEAD_RESOURCE: link_findings.dead_resources,
        Finding.SOFT_404: page_findings.soft_404s,
        Finding.REDIRECT_CHAIN: link_findings.redirect_chains,
        Finding.REDIRECT_TO_HOME: link_findings.redirects_to_home,
        Finding.ORPHAN: link_findings.orphans,
        Finding.CANONICAL_CONFLICT: index_findings.canonical_conflicts,
        Finding.NOINDEX_IN_SITEMAP: index_findings.noindex_in_sitemap,
        Finding.LINKED_NOT_INDEXABLE: index_findings.linked_not_indexable,
        Finding.HREFLANG_WITHOUT_RETURN: link_findings.hreflang_without_return,
        Finding.MIXED_CONTENT: index_findings.mixed_content,
        Finding.MISSING_TITLE: page_findings.missing_titles,
        Finding.REPEATED_TITLE: page_findings.repeated_titles,
        Finding.MISSING_DESCRIPTION: page_findings.missing_descriptions,
        Finding.REPEATED_DESCRIPTION: page_findings.repeated_descriptions,
        Finding.EXACT_DUPLICATE: page_findings.exact_duplicates,
        Finding.NEAR_DUPLICATE: page_findings.near_duplicates,
        Finding.OLD_VERSION: page_findings.old_versions,
        Finding.STALE_SECTION: page_findings.stale_sections,
        Finding.DEEP_PAGE: page_findings.deep_pages,
        Finding.DEEPEST_PAGE: page_findings.deepest_pages,
        Finding.HEAVY_PAGE: page_findings.heavy_pages,
        Finding.MANY_SCRIPTS: page_findings.script_pages,
        Finding.MOST_USED_RESOURCE: page_findings.most_used_resources,
    }
)


def site_findings(evidence: Evidence) -> pa.Table:
    """Make the rows of ``findings``: by kind, then in the order of its query."""
    fixed = {"site": evidence.crawl.site, "crawl_id": evidence.crawl.crawl_id}
    rows = [{**fixed, "finding": kind.value, **row} for kind in Finding for row in QUERIES[kind](evidence)]
    return pa.Table.from_pylist(rows, schema=FINDINGS)


def meaning_of(kind: Finding) -> str:
    """Say in a sentence what the rows of a kind are."""
    sentence = (QUERIES[kind].__doc__ or "").partition("\n")[0].removeprefix("Give ").rstrip(".")
    return sentence[:1].upper() + sentence[1:]

"""The site map of one site: reads a crawl, maps it, writes the tables and what people look at."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.site_map.crawl_facts import CrawlFacts
from assets.site_map.evidence import Evidence, read_standing
from assets.site_map.exports import csv_bytes, csv_files, tree_json
from assets.site_map.findings import Finding, site_findings
from assets.site_map.history import history_row, remember
from assets.site_map.mapped_crawl import map_crawl
from resources.ports import ObjectStore, QueryEngine, TableStore
from resources.ports.catalog import MapLimits

# These differ in every crawl, also of a site on which nothing changed: clocks and tokens are in every second page.
_VOLATILE: Final = ("crawl_id", "fetch_ms", "payload_digest", "changed_at")


@dataclass(frozen=True, slots=True)
class SiteMapResult:
    """What became of a site's map. ``digest`` is the same for two crawls that found the same."""

    crawl_id: str
    metadata: Mapping[str, int | str]
    digest: str
    history: Mapping[str, Any]  # the crawl's row of ``map_history``


def site_map_of_site(
    site: str, tables: TableStore, objects: ObjectStore, engine: QueryEngine, limits: MapLimits | None = None
) -> SiteMapResult:
    """Map the site's latest finished crawl: the tables of the map, ``findings``, and the files of its report.

    Raises:
        StageMissing: the site was never crawled.
    """
    crawl = map_crawl(site, tables, engine)
    standing = read_standing(site, crawl.crawl_id, tables)
    findings = site_findings(Evidence(crawl, standing, limits or MapLimits(), engine))
    prefix = names.report_prefix(site, crawl.crawl_id)
    files = {
        **csv_files(crawl),
        "findings.csv": csv_bytes(findings),
        "tree.json": tree_json(site, crawl.nodes),
    }
    for name, data in files.items():
        objects.put(prefix + name, data)
    for table, rows in (
        (names.T_SITE_MAP, crawl.nodes),
        (names.T_MAP_RESOURCES, crawl.resources),
        (names.T_MAP_REDIRECTS, crawl.redirects),
        (names.T_MAP_SECTIONS, crawl.sections),
        (names.T_FINDINGS, findings),
    ):
        tables.replace(table, sites=[site], rows=rows)
    history = history_row(crawl, findings)
    remember(history, tables)
    metadata = _metadata(crawl.facts, crawl.hyperlinks, crawl.nodes, findings) | {
        "export_bytes": sum(map(len, files.values())),
        "reports": objects.location(prefix),
    }
    digest = _digest(crawl.nodes, crawl.resources, crawl.redirects, findings)
    return SiteMapResult(crawl.crawl_id, metadata, digest, history)


def _metadata(facts: CrawlFacts, edges: pa.Table, nodes: pa.Table, findings: pa.Table) -> dict[str, int | str]:
    outcomes = Counter(nodes["outcome"].to_pylist())
    kinds = Counter(findings["finding"].to_pylist())
    # An orphan may have links from pages that were not fetched: say how many there are.
    asked = set(facts.fetches["origin_key"].to_pylist())
    not_fetched = len(set(facts.frontier["url_key"].to_pylist()) - asked)
    return {
        "crawl_id": facts.crawl_id,
        "fetches_in": facts.fetches.num_rows,
        "pages_parsed_in": facts.links.num_rows,
        "pages": nodes.num_rows,
        "links": edges.num_rows,
        "findings": findings.num_rows,
        "max_depth": pc.max(nodes["depth"]).as_py() or 0,
        "seeds_usable": sum(facts.seeds["usable"].to_pylist()),
        "frontier_not_fetched": not_fetched,
        "summary": summary(outcomes, kinds),
    } | {kind.value: kinds[kind.value] for kind in Finding}


def summary(outcomes: Mapping[str, int], findings: Mapping[str, int]) -> str:
    """Write pages by outcome and findings by kind as Markdown tables.

    >>> print(summary({"fetched": 2}, {}))
    | outcome | pages |
    |---|---:|
    | fetched | 2 |
    <BLANKLINE>
    No findings.
    """
    pages = ["| outcome | pages |", "|---|---:|"]
    pages += [
        f"| {name} | {count:,} |" for name, count in sorted(outcomes.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    rows = ["| finding | rows |", "|---|---:|"]
    rows += [f"| {kind.value} | {findings[kind.value]:,} |" for kind in Finding if findings.get(kind.value)]
    return "\n".join([*pages, "", *(rows if len(rows) > 2 else ["No findings."])])


def _digest(*tables: pa.Table) -> str:
    digest = hashlib.sha256()
    for table in tables:
        stable = table.drop_columns([name for name in _VOLATILE if name in table.column_names])
        for row in stable.to_pylist():
            digest.update(json.dumps(row, ensure_ascii=False).encode())
    return digest.hexdigest()

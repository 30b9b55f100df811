"""Metrics: the last crawl of each site as Prometheus text, for those who monitor elsewhere."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from assets import names
from assets.site_map.findings import Finding
from resources.ports import TableStore

# Column of map_history -> name and help of the metric. Source: Prometheus text format 0.0.4; names have base units.
_GAUGES: Final = {
    "pages": ("isobath_pages", "Addresses that the last crawl asked, redirects joined."),
    "live_pages": ("isobath_live_pages", "Pages that answered."),
    "dead_pages": ("isobath_dead_pages", "Addresses that are dead."),
    "links": ("isobath_links", "Hyperlinks."),
    "dead_links": ("isobath_dead_links", "Pairs of a page and a dead address that it links."),
    "orphans": ("isobath_orphans", "Pages that are known and not linked."),
    "words": ("isobath_words", "Words of visible text."),
    "body_bytes": ("isobath_body_bytes", "Bytes of the live pages."),
    "max_depth": ("isobath_max_depth", "Hops to the farthest page."),
}


def metrics_text(history: Iterable[Mapping[str, Any]], findings: Mapping[str, Mapping[str, int]]) -> str:
    """Write metrics of sites.

    Args:
        history: the row of ``map_history`` of the last crawl of each site.
        findings: site -> finding -> rows.
    """
    rows = sorted(history, key=lambda row: str(row["site"]))
    lines: list[str] = []
    for column, (name, text) in _GAUGES.items():
        lines += _family(name, text, [(_labels(site=row["site"]), row[column]) for row in rows])
    seconds = [(_labels(site=row["site"]), row["median_fetch_ms"] / 1_000) for row in rows]
    lines += _family("isobath_median_response_seconds", "Median response time of the live pages.", seconds)
    stamps = [(_labels(site=row["site"]), row["crawled_at"].timestamp()) for row in rows]
    lines += _family("isobath_last_crawl_timestamp_seconds", "When the last crawl sent its last request.", stamps)
    counted = [
        (_labels(site=row["site"], finding=kind.value), findings.get(row["site"], {}).get(kind.value, 0))
        for row in rows
        for kind in Finding
    ]
    lines += _family("isobath_findings", "Rows of each finding.", counted)
    return "".join(f"{line}\n" for line in lines)


def read_metrics(tables: TableStore, sites: Sequence[str] | None = None) -> str:
    """Write the metrics of some sites, or of all that were mapped."""
    last: dict[str, Mapping[str, Any]] = {}
    for row in tables.read(names.T_MAP_HISTORY, sites=sites).to_pylist():
        last[row["site"]] = max(last.get(row["site"], row), row, key=lambda crawl: str(crawl["crawl_id"]))
    rows = tables.read(names.T_FINDINGS, sites=sites, columns=["site", "finding"])
    counted: dict[str, Counter[str]] = {}
    for site, finding in zip(rows["site"].to_pylist(), rows["finding"].to_pylist(), strict=True):
        counted.setdefault(site, Counter())[finding] += 1
    return metrics_text(last.values(), counted)


def _family(name: str, text: str, samples: Iterable[tuple[str, float]]) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} gauge", *(f"{name}{labels} {value}" for labels, value in samples)]


def _labels(**labels: str) -> str:
    r"""Write labels.

    >>> _labels(site='a"b')
    '{site="a\\"b"}'
    """
    escaped = (
        (name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for name, value in labels.items()
    )
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}"

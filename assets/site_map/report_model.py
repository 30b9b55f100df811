"""The report model: what the report page shows, counted and cut, before it is drawn."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from posixpath import commonpath
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.site_map.changes import Change
from assets.site_map.findings import Finding, meaning_of
from assets.site_map.mapped_crawl import MappedCrawl
from assets.site_map.outcomes import LIVE, is_dead
from assets.site_map.politeness import Fact, politeness_facts
from assets.site_map.tree_steps import TreeStep, tree_steps

FIRST_ROWS: Final = 20
BARS_MAX: Final = 12
_TIMES_MS: Final = (10, 30, 100, 300, 1_000, 3_000, 10_000)
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bar:
    """A number with its share of the largest one."""

    label: str
    number: int
    share: float
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """The first rows of a kind of finding or change."""

    name: str
    meaning: str
    count: int
    rows: Sequence[Row]
    file: str = ""


@dataclass(frozen=True, slots=True)
class ReportModel:
    """All that the page shows."""

    site: str
    crawl_id: str
    crawled_at: datetime
    root: str  # scheme and host of its pages
    facts: Sequence[Fact]
    statuses: Sequence[Bar]
    depths: Sequence[Bar]
    sections: Sequence[Bar]
    times: Sequence[Bar]
    growth: Sequence[Bar]
    dead_growth: Sequence[Bar]
    findings: Sequence[Group]
    before_crawl_id: str
    changes: Sequence[Group]
    tree: Sequence[TreeStep]
    politeness: Sequence[Fact]


def finding_file(kind: Finding) -> str:
    """Say under which name the rows of a finding lie beside the report."""
    return f"findings/{kind.value}.csv"


def report_model(
    crawl: MappedCrawl, findings: pa.Table, changes: pa.Table, before_crawl_id: str, history: Sequence[Row]
) -> ReportModel:
    """Count and cut what the page shows.

    Args:
        findings: rows of ``findings`` of this crawl.
        changes: rows of ``map_changes`` of this crawl.
        before_crawl_id: what they compare with; empty for a first crawl.
        history: rows of ``map_history`` up to this crawl, oldest first.
    """
    nodes = crawl.nodes
    live = nodes.filter(pc.field("outcome").isin(sorted(LIVE)))
    now = history[-1] if history else {}
    return ReportModel(
        site=crawl.site,
        crawl_id=crawl.crawl_id,
        crawled_at=crawl.crawled_at,
        root="/".join(nodes["url"][0].as_py().split("/", 3)[:3]) if nodes.num_rows else "",
        facts=_facts(now, live, findings),
        statuses=_statuses(nodes),
        depths=_bars(sorted(Counter(live["depth"].to_pylist()).items())),
        sections=_largest_sections(crawl.sections.to_pylist()),
        times=_bars(_time_classes(live["fetch_ms"].to_pylist())),
        growth=_bars([(f"{row['crawled_at']:%Y-%m-%d %H:%M}", row["live_pages"]) for row in history[-BARS_MAX:]]),
        dead_growth=_bars(
            [(f"{row['crawled_at']:%Y-%m-%d %H:%M}", row["dead_links"]) for row in history[-BARS_MAX:]], is_bad=True
        ),
        findings=[
            Group(
                _words(kind), meaning_of(kind), rows.num_rows, rows.slice(0, FIRST_ROWS).to_pylist(), finding_file(kind)
            )
            for kind in Finding
            if (rows := findings.filter(pc.field("finding") == kind.value)).num_rows
        ],
        before_crawl_id=before_crawl_id,
        changes=[
            Group(_words(kind), "", rows.num_rows, rows.slice(0, FIRST_ROWS).to_pylist())
            for kind in Change
            if (rows := changes.filter(pc.field("change") == kind.value)).num_rows
        ],
        tree=list(tree_steps(crawl.sections, live)),
        politeness=politeness_facts(crawl.facts.fetches, nodes),
    )


def _facts(now: Row, live: pa.Table, findings: pa.Table) -> list[Fact]:
    dead = now.get("dead_links", 0)
    return [
        Fact("live pages", f"{live.num_rows:,}"),
        Fact("links", f"{now.get('links', 0):,}"),
        Fact("dead links", f"{dead:,}", is_bad=bool(dead)),
        Fact("orphans", f"{now.get('orphans', 0):,}", is_bad=bool(now.get("orphans"))),
        Fact("hops to the deepest page", str(pc.max(live["depth"]).as_py() or 0)),
        Fact("words", f"{now.get('words', 0):,}"),
        Fact("megabytes of pages", f"{now.get('body_bytes', 0) / 1e6:,.1f}"),
        Fact("median response", f"{now.get('median_fetch_ms', 0):,.0f} ms"),
        Fact("findings", f"{findings.num_rows:,}"),
    ]


def _statuses(nodes: pa.Table) -> list[Bar]:
    rows = nodes.select(["outcome", "status"]).to_pylist()
    counted = Counter((row["outcome"], row["status"]) for row in rows).most_common(BARS_MAX)
    most = counted[0][1] if counted else 1
    return [
        Bar(
            outcome.replace("_", " ") + (f", {status}" if status else ""),
            number,
            number / most,
            is_bad=is_dead(outcome, status),
        )
        for (outcome, status), number in counted
    ]


def _largest_sections(sections: Sequence[Row]) -> list[Bar]:
    """Give sections beside each other that part the site; one that holds most of it is parted again."""
    below: dict[str, list[Row]] = {}
    for row in sections:
        below.setdefault(row["parent"], []).append(row)
    shown = below.get("", [])
    while shown:
        largest = max(shown, key=lambda row: (row["pages"], row["section"]))
        inner = below.get(largest["section"], [])
        if not inner or largest["own_pages"] > largest["pages"] / 2 or largest["pages"] < sections[0]["pages"] / 3:
            break
        own = [{**largest, "pages": largest["own_pages"]}] if largest["own_pages"] else []
        shown = [*(row for row in shown if row is not largest), *inner, *own]
        below[largest["section"]] = []
    largest_first = sorted(shown, key=lambda row: (-row["pages"], row["section"]))[:BARS_MAX]
    around = commonpath([row["section"] for row in largest_first]).rstrip("/") if len(largest_first) > 1 else ""
    return _bars([(row["section"].removeprefix(around), row["pages"]) for row in largest_first])


def _time_classes(times_ms: Iterable[int]) -> list[tuple[str, int]]:
    classes = [*(f"under {step:,} ms" for step in _TIMES_MS), f"{_TIMES_MS[-1]:,} ms and more"]
    counted = Counter(sum(time >= step for step in _TIMES_MS) for time in times_ms)
    last = max(counted, default=-1)
    return [(classes[place], counted[place]) for place in range(last + 1)]


def _bars(rows: Sequence[tuple[object, int]], *, is_bad: bool = False) -> list[Bar]:
    most = max((number for _, number in rows), default=0) or 1
    return [Bar(str(label), number, number / most, is_bad) for label, number in rows]


def _words(kind: Finding | Change) -> str:
    return kind.value.replace("_", " ").capitalize()


def finding_files(findings: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Give the rows of each finding that has some, with the name of their file."""
    for kind in Finding:
        rows = findings.filter(pc.field("finding") == kind.value)
        if rows.num_rows:
            yield finding_file(kind), rows

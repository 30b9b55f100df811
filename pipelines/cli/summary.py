"""The summary of a crawl: numbers from the tables, and where everything lies."""

import json
from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table

from assets import names
from assets.crawl.crawl_log import latest_crawl
from assets.crawl.report_stage import REPORT_FILE
from pipelines.deployments import Deployment


def crawl_summary(deployment: Deployment, site: str) -> dict[str, Any]:
    """Sum up the last crawl of a site and what was derived from it."""
    tables, objects = deployment.tables, deployment.objects
    state = latest_crawl(tables, site)
    finished = state.finished if state is not None else None
    if state is None or finished is None:
        return {"site": site, "outcome": "unfinished", "reason": "the crawl did not reach its report"}
    report = json.loads(objects.get(names.report_prefix(site, state.crawl_id) + REPORT_FILE))
    exact = tables.read(names.T_EXACT_DUPLICATES, sites=[site], columns=["url_key", "representative_key"]).to_pylist()
    near = tables.read(names.T_NEAR_DUPLICATES, sites=[site], columns=["url_key"])
    page_states = tables.read(names.T_PAGE_STATE, sites=[site], columns=["status"]).column("status").to_pylist()
    fed = tables.read(names.T_FEED_STATE, sites=[site], columns=["document_id"])
    findings = tables.read(names.T_FINDINGS, sites=[site], columns=["finding"]).column("finding").to_pylist()
    return {
        **report,
        "seconds": (finished["at"] - state.started_at).total_seconds(),
        "page_states": dict(Counter(page_states)),
        "exact_duplicates": sum(row["url_key"] != row["representative_key"] for row in exact),
        "near_duplicates": near.num_rows,
        "documents_in_index": fed.num_rows,
        "findings": dict(Counter(findings)),
        "warc_files": objects.location(f"raw/site={site}/crawl={state.crawl_id}/"),
        "tables": f"{deployment.settings.store.rstrip('/')}/tables",
        "reports": objects.location(names.report_prefix(site, state.crawl_id)),
    }


def print_summary(summary: dict[str, Any], console: Console) -> None:
    """Show a summary to a person."""
    if "crawl_id" not in summary:
        return
    outcomes = Table(
        title=f"{summary['site']}, crawl {summary['crawl_id']}: {summary['outcome']}", title_justify="left"
    )
    outcomes.add_column("layer")
    kinds = list(summary["pages_by_outcome"])
    for kind in kinds:
        outcomes.add_column(kind, justify="right")
    for layer, counts in summary["pages_by_depth"].items():
        outcomes.add_row(layer, *(str(counts.get(kind, 0)) for kind in kinds))
    outcomes.add_row("all", *(str(summary["pages_by_outcome"][kind]) for kind in kinds), style="bold")
    console.print(outcomes)
    refused = ", ".join(f"{count} {reason}" for reason, count in summary["refused_by_reason"].items()) or "none"
    rows = [
        ("requests", f"{summary['requests']} in {summary['seconds']:.1f} s, {summary['body_bytes']:,} bytes of pages"),
        ("not asked", refused),
        ("duplicates", f"{summary['exact_duplicates']} exact, {summary['near_duplicates']} near"),
        ("in the index", f"{summary['documents_in_index']} documents"),
        ("found", ", ".join(f"{count} {name}" for name, count in summary["findings"].items()) or "nothing"),
        ("WARC files", summary["warc_files"]),
        ("tables", summary["tables"]),
        ("reports", summary["reports"]),
    ]
    facts = Table(show_header=False, box=None, pad_edge=False)
    facts.add_column()
    facts.add_column(overflow="fold")  # a path that is cut off leads nowhere
    for name, value in rows:
        facts.add_row(f"[bold]{name}[/bold]", value)
    console.print(facts)
    console.print(
        '\nNext: [bold]isobath search "words"[/bold], [bold]isobath sites[/bold], '
        f"[bold]isobath report {summary['site']}[/bold], "
        "[bold]make ui[/bold] (this run is there), the same crawl again: only what changed is stored."
    )

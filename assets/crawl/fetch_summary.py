"""Fetch summaries: what the rows of table ``fetches`` add up to, as metadata for Dagster. Pure."""

import base64
import html
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets.fetch.outcome import ERRORS, FetchOutcome

SUMMARY_COLUMNS: Final = (
    "purpose",
    "url",
    "outcome",
    "fetch_ms",
    "status",
    "body_bytes",
    "truncated",
    "record_type",
)
SHOWN_HOSTS: Final = 10
QUANTILES: Final = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
LATENCY_STEPS_MS: Final = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)
_ERRORS: Final = [outcome.value for outcome in ERRORS]
_NO_ANSWER: Final = [FetchOutcome.TIMEOUT.value, FetchOutcome.NETWORK_ERROR.value]
_ORIGIN: Final = r"^([^:/?#]+://)(?:[^/?#]*@)?([^/?#]*).*$"
_HOSTS: Final = dg.TableSchema(
    columns=[
        dg.TableColumn("host"),
        dg.TableColumn("requests", "int"),
        dg.TableColumn("median_ms", "int"),
        dg.TableColumn("max_ms", "int"),
        dg.TableColumn("errors", "int"),
        dg.TableColumn("body_bytes", "int"),
    ]
)


def fetch_summary(fetches: pa.Table, outcomes: Mapping[str, int]) -> dict[str, Any]:
    """Sum requests up: statuses, latency, bytes, share of known payloads, the slowest hosts, charts.

    Args:
        fetches: rows of table ``fetches`` with at least ``SUMMARY_COLUMNS``; those of a layer, or of a whole crawl.
        outcomes: pages by final outcome, for the chart; most frequent first.

    Returns:
        metadata values by name. Percentiles are left out when nothing was answered.
    """
    has_status = pc.field("status").is_valid()
    # The other rows were decided without asking: by robots.txt, by scope, or put off.
    asked = fetches.filter(has_status | (pc.field("fetch_ms") > 0) | pc.field("outcome").isin(_NO_ANSWER))
    answered = asked.filter(has_status)
    responses = answered.filter(pc.field("record_type") == "response")
    revisits = _count(answered.filter(pc.field("record_type") == "revisit"))
    captures = _count(responses) + revisits
    summary: dict[str, Any] = {
        "requests": _count(asked),
        "requests_by_purpose": dg.MetadataValue.json(counts(asked["purpose"])),
        "request_errors": dg.MetadataValue.json(counts(asked.filter(pc.field("outcome").isin(_ERRORS))["outcome"])),
        "status_codes": dg.MetadataValue.json(counts(answered["status"])),
        "body_bytes": pc.sum(responses["body_bytes"]).as_py() or 0,
        "revisits": revisits,
        "dedup_share": round(revisits / captures, 4) if captures else 0.0,
        "truncated": dg.MetadataValue.json(counts(answered["truncated"].drop_null())),
        **{f"fetch_ms_{name}": value for name, value in latency_ms(answered["fetch_ms"]).items()},
        "slowest_hosts": slowest_hosts(asked),
    }
    if outcomes:
        summary["outcomes_chart"] = bar_chart("final outcomes", list(outcomes.items()))
    if _count(answered):
        summary["latency_chart"] = bar_chart("requests by time", latency_classes(answered["fetch_ms"]))
    return summary


def counts(values: pa.ChunkedArray) -> dict[str, int]:
    """Count values, most frequent first; ties by name."""
    pairs = [(str(pair["values"]), pair["counts"]) for pair in pc.value_counts(values).to_pylist()]
    return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def latency_ms(times_ms: pa.ChunkedArray) -> dict[str, int]:
    """Give percentiles of times, each a time that was seen; none for no times."""
    if not len(times_ms):
        return {}
    found = pc.quantile(times_ms, q=list(QUANTILES.values()), interpolation="higher").to_pylist()
    return dict(zip(QUANTILES, found, strict=True))


def latency_classes(times_ms: pa.ChunkedArray) -> list[tuple[str, int]]:
    """Count times by class; the classes grow threefold, without the empty ones at either end."""
    below = [pc.sum(pc.less(times_ms, step)).as_py() or 0 for step in LATENCY_STEPS_MS]
    numbers = [after - before for before, after in zip([0, *below], [*below, len(times_ms)], strict=True)]
    labels = [f"< {_step(step)}" for step in LATENCY_STEPS_MS] + [f">= {_step(LATENCY_STEPS_MS[-1])}"]
    filled = [index for index, number in enumerate(numbers) if number]
    shown = slice(filled[0], filled[-1] + 1) if filled else slice(0)
    return list(zip(labels, numbers, strict=True))[shown]


def slowest_hosts(asked: pa.Table) -> dg.TableMetadataValue:
    """Give the hosts whose requests take longest, by median."""
    host = pc.replace_substring_regex(asked["url"], _ORIGIN, r"\1\2")
    is_error = pc.is_in(asked["outcome"], value_set=pa.array(_ERRORS))
    is_response = pc.fill_null(pc.equal(asked["record_type"], "response"), False)
    rows = pa.table(
        {
            "host": host,
            "ms": asked["fetch_ms"],
            "error": pc.cast(is_error, pa.int64()),
            "bytes": pc.if_else(is_response, asked["body_bytes"], 0),
        }
    )
    # Arrow has only approximate medians of groups; of a sorted table the exact ones lie in the middle of each group.
    rows = rows.sort_by([("host", "ascending"), ("ms", "ascending")])
    hosts = rows.group_by("host", use_threads=False).aggregate(
        [("ms", "count"), ("ms", "max"), ("error", "sum"), ("bytes", "sum")]
    )
    ends = pc.cumulative_sum(hosts["ms_count"])
    middles = pc.subtract(ends, pc.divide(pc.add(hosts["ms_count"], 1), 2))
    hosts = hosts.append_column("ms_median", rows["ms"].take(middles))
    order = [("ms_median", "descending"), ("host", "ascending")]
    first = hosts.take(pc.select_k_unstable(hosts, SHOWN_HOSTS, order))
    records = [
        dg.TableRecord(
            {
                "host": row["host"],
                "requests": row["ms_count"],
                "median_ms": row["ms_median"],
                "max_ms": row["ms_max"],
                "errors": row["error_sum"],
                "body_bytes": row["bytes_sum"],
            }
        )
        for row in first.to_pylist()
    ]
    return dg.MetadataValue.table(records, schema=_HOSTS)


def bar_chart(title: str, rows: Sequence[tuple[str, int]]) -> dg.MarkdownMetadataValue:
    """Draw numbers as bars, in the order given.

    The UI's Markdown drops inline SVG and HTML images; an image with a ``data:`` address it shows. Grey is legible
    on a light page and on a dark one.
    """
    height = 20 * len(rows) + 4
    most = max((number for _, number in rows), default=0) or 1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="460" height="{height}" font-family="monospace" font-size="12">'
    ]
    for index, (label, number) in enumerate(rows):
        width = math.ceil(230 * number / most)
        y = 20 * index + 2
        parts.append(
            f'<text x="132" y="{y + 13}" text-anchor="end" fill="#888">{html.escape(label)}</text>'
            f'<rect x="140" y="{y}" width="{width}" height="16" fill="#4a7ebb"/>'
            f'<text x="{146 + width}" y="{y + 13}" fill="#888">{number:,}</text>'
        )
    drawing = base64.b64encode(("".join(parts) + "</svg>").encode()).decode()
    return dg.MetadataValue.md(f"![{title}](data:image/svg+xml;base64,{drawing})")


def _count(rows: pa.Table) -> int:
    return int(rows.num_rows)


def _step(ms: int) -> str:
    return f"{ms} ms" if ms < 1_000 else f"{ms // 1_000} s"

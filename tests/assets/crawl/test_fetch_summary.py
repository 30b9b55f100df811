"""What the rows of a crawl add up to."""

import base64
import time
import xml.etree.ElementTree as ET
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest

from assets.crawl.fetch_summary import SUMMARY_COLUMNS, bar_chart, fetch_summary, latency_classes
from assets.schemas import FETCHES

SCHEMA = pa.schema([FETCHES.field(name) for name in SUMMARY_COLUMNS])


def row(url: str, outcome: str, ms: int = 0, status: int | None = None, **facts: Any) -> dict[str, Any]:
    blank = {"purpose": "page", "body_bytes": 0, "truncated": None, "record_type": None}
    return blank | {"url": url, "outcome": outcome, "fetch_ms": ms, "status": status} | facts


def summed(*rows: dict[str, Any]) -> dict[str, Any]:
    """Sum rows up; give plain values."""
    found = fetch_summary(pa.Table.from_pylist(list(rows), schema=SCHEMA), {})
    return {name: value.value if isinstance(value, dg.JsonMetadataValue) else value for name, value in found.items()}


def test_requests_are_summed_up() -> None:
    response = {"record_type": "response", "body_bytes": 100}
    summary = summed(
        row("http://a.test/robots.txt", "gone", 5, 404, purpose="robots", **response),
        row("http://a.test/1", "fetched", 10, 200, **response),
        row("http://a.test/2", "truncated", 20, 200, truncated="disconnect", **response),
        row("http://a.test/3", "not_modified", 30, 304, record_type="revisit", body_bytes=100),
        row("http://a.test/4", "server_error", 40, 503, **response),
        row("http://b.test:81/5", "timeout", 10_000),
        row("http://b.test:81/6", "network_error"),
        row("http://b.test:81/7", "robots_denied"),
        row("http://b.test:81/8", "deferred"),
    )
    table = summary.pop("slowest_hosts").records
    charts = {name for name in summary if name.endswith("_chart")}
    assert {name: value for name, value in summary.items() if name not in charts} == {
        "requests": 7,
        "requests_by_purpose": {"page": 6, "robots": 1},
        "request_errors": {"network_error": 1, "server_error": 1, "timeout": 1},
        "status_codes": {"200": 2, "304": 1, "404": 1, "503": 1},
        "body_bytes": 400,
        "revisits": 1,
        "dedup_share": 0.2,
        "truncated": {"disconnect": 1},
        "fetch_ms_p50": 20,
        "fetch_ms_p90": 40,
        "fetch_ms_p99": 40,
        "fetch_ms_max": 40,
    }
    assert charts == {"latency_chart"}
    assert [record.data for record in table] == [
        {
            "host": "http://b.test:81",
            "requests": 2,
            "median_ms": 10_000,
            "max_ms": 10_000,
            "errors": 2,
            "body_bytes": 0,
        },
        {"host": "http://a.test", "requests": 5, "median_ms": 20, "max_ms": 40, "errors": 1, "body_bytes": 400},
    ]


def test_nothing_asked_has_no_percentiles_and_no_chart() -> None:
    summary = summed(row("http://a.test/", "robots_denied"))
    assert (summary["requests"], summary["dedup_share"], summary["slowest_hosts"].records) == (0, 0.0, [])
    assert not [name for name in summary if name.startswith("fetch_ms") or name.endswith("chart")]


def test_a_name_and_a_password_in_an_address_are_not_shown() -> None:
    (record,) = summed(row("http://user:secret@a.test/?x=@y", "fetched", 1, 200))["slowest_hosts"].records
    assert record.data["host"] == "http://a.test"


@pytest.mark.parametrize(
    ("times_ms", "classes"),
    [
        ([], []),
        ([0], [("< 10 ms", 1)]),
        ([10, 29, 150, 151], [("< 30 ms", 2), ("< 100 ms", 0), ("< 300 ms", 2)]),
        ([70_000], [(">= 30 s", 1)]),
    ],
)
def test_times_fall_into_classes(times_ms: list[int], classes: list[tuple[str, int]]) -> None:
    assert latency_classes(pa.chunked_array([times_ms], pa.int64())) == classes


def test_a_chart_is_a_picture_whose_bars_are_as_long_as_their_numbers() -> None:
    text = bar_chart("title", [("fetched <&>", 4_000), ("gone", 1_000), ("timeout", 1)]).value
    head, _, data = text.rstrip(")").partition("base64,")
    assert head == "![title](data:image/svg+xml;"
    drawing = ET.fromstring(base64.b64decode(data))
    bars = [int(bar.attrib["width"]) for bar in drawing.findall("{*}rect")]
    assert bars[1] == pytest.approx(bars[0] / 4, abs=1)
    assert bars[2] > 0
    assert [label.text for label in drawing.findall("{*}text")] == [
        *("fetched <&>", "4,000", "gone", "1,000", "timeout", "1"),
    ]


def test_a_hundred_thousand_rows_are_summed_in_a_moment() -> None:
    rows = [row(f"http://{number % 300}.test/", "fetched", number % 977, 200) for number in range(1_000)]
    table = pa.concat_tables([pa.Table.from_pylist(rows, schema=SCHEMA)] * 100)
    began_s = time.process_time()
    assert fetch_summary(table, {"fetched": 100_000})["requests"] == 100_000
    assert time.process_time() - began_s < 2.0

"""Metadata of the report for the Dagster UI: the link, key numbers, a table of answers, small charts."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

import dagster as dg

from assets.site_map.report import SiteReport
from assets.site_map.report_model import Bar

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_WIDTH: Final = 24


def report_metadata(report: SiteReport, reports_url: str) -> dict[str, Any]:
    """Give what the UI shows of a report.

    Args:
        report: as it was written.
        reports_url: where the objects of the store can be read over HTTP.
    """
    model = report.model
    return {
        "report": dg.MetadataValue.url(f"{reports_url}/{quote(report.key)}"),
        "report_file": dg.MetadataValue.path(report.location),
        "report_bytes": report.size_bytes,
        "answers": dg.MetadataValue.table(
            [dg.TableRecord({"answer": bar.label, "pages": bar.number}) for bar in model.statuses],
            schema=dg.TableSchema([dg.TableColumn("answer"), dg.TableColumn("pages", "int")]),
        ),
        "depth_chart": chart(model.depths),
        "section_chart": chart(model.sections),
        "response_time_chart": chart(model.times),
        "growth_chart": chart(model.growth),
    }


def chart(bars: Sequence[Bar]) -> dg.MarkdownMetadataValue:
    """Draw bars in text, which the UI shows on light and dark pages."""
    lines = []
    width = max((len(bar.label) for bar in bars), default=0)
    for bar in bars:
        eighths = round(bar.share * _WIDTH * 8)
        drawn = ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
        # A fence of backticks in a label would end the block.
        lines.append(f"{bar.label.replace('`', chr(39)):>{width}} {drawn} {bar.number:,}")
    return dg.MetadataValue.md("```\n" + "\n".join(lines) + "\n```")

"""Metadata of the report for the Dagster UI: the link, key numbers, a table of answers, small charts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import dagster as dg

from assets.site_map.report import SiteReport
from assets.site_map.report_model import Bar

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_WIDTH: Final = 24


def report_metadata(report: SiteReport) -> dict[str, Any]:
    """Give what the UI shows of a report."""
    model, location = report.model, report.location
    is_remote = "://" in location
    return {
        "report": dg.MetadataValue.url(
            location if is_remote or location.startswith("memory:") else _file_url(location)
        ),
        "report_file": dg.MetadataValue.path(location),
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


def _file_url(location: str) -> str:
    return Path(location).absolute().as_uri()

"""Metadata of the report for the Dagster UI: the link, key numbers, a table of answers, small charts."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import dagster as dg

from assets.bars import bars
from assets.site_map.report import SiteReport
from assets.site_map.report_model import Bar


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


def chart(drawn: Sequence[Bar]) -> dg.MarkdownMetadataValue:
    """Draw bars in text, which the UI shows on light and dark pages."""
    # A fence of backticks in a label would end the block.
    rows = [(bar.label.replace("`", "'"), bar.number) for bar in drawn]
    return dg.MetadataValue.md(f"```\n{bars(rows)}\n```")

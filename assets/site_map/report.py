"""The report of a crawl: one HTML page that needs nothing but itself, and CSV files beside it.

Everything that strangers wrote is escaped by the template engine, and the page forbids scripts to the browser.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import pyarrow.compute as pc
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from assets import names
from assets.site_map.exports import csv_bytes
from assets.site_map.history import read_history
from assets.site_map.mapped_crawl import map_crawl
from assets.site_map.report_model import ReportModel, finding_files, report_model
from resources.errors import StageMissing
from resources.ports import ObjectStore, QueryEngine, TableStore

REPORT_FILE: Final = "report.html"


@dataclass(frozen=True, slots=True)
class SiteReport:
    """The report of a site's last crawl, as it was written."""

    model: ReportModel
    key: str
    location: str
    size_bytes: int
    digest: str


def report_of_site(site: str, tables: TableStore, objects: ObjectStore, engine: QueryEngine) -> SiteReport:
    """Write the report of the crawl that was mapped last.

    Raises:
        StageMissing: the site was not mapped.
    """
    history = read_history(site, tables)
    if not history:
        raise StageMissing(f"{site}: there is no map; materialize {names.SITE_MAP.to_user_string()} first")
    crawl = map_crawl(site, tables, engine, history[-1]["crawl_id"])
    # Both hold one crawl, which may be another one when only one of the assets was materialized.
    of_crawl = pc.field("crawl_id") == crawl.crawl_id
    findings = tables.read(names.T_FINDINGS, sites=[site], where=of_crawl)
    changes = tables.read(names.T_MAP_CHANGES, sites=[site], where=of_crawl)
    befores: Sequence[str] = changes["before_crawl_id"].to_pylist()
    before = befores[0] if befores else (history[-2]["crawl_id"] if len(history) > 1 else "")
    model = report_model(crawl, findings, changes, before, history)
    page = report_page(model).encode("utf-8", "replace")
    prefix = names.report_prefix(site, crawl.crawl_id)
    for name, rows in finding_files(findings):
        objects.put(prefix + name, csv_bytes(rows))
    # Last, so that what it links is there.
    objects.put(prefix + REPORT_FILE, page)
    return SiteReport(
        model,
        prefix + REPORT_FILE,
        objects.location(prefix + REPORT_FILE),
        len(page),
        hashlib.sha256(page).hexdigest(),
    )


def report_page(model: ReportModel) -> str:
    """Draw the page."""
    loaded = _environment()
    # Ours, and the only text that is not escaped.
    style = Markup(loaded.get_template("report.css").render())
    return loaded.get_template("report.html.j2").render(page=model, style=style)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("assets.site_map", "report_page"), autoescape=True, undefined=StrictUndefined
    )

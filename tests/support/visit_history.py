"""Made-up visits to a site, crawl after crawl, as the tables that crawls, extraction and sitemaps leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from assets import names
from assets.schemas import SITE_MAP, SITE_SCHEDULE, TABLES
from resources.ports import TableStore
from tests.support.hand_made_crawl import HOST, START, blank, url_of
from tests.support.memory import MemoryTables

SITEMAP = f"{HOST}/sitemap.xml"


def scheduled_sites(*sites: str, planned_at: datetime = START) -> MemoryTables:
    """Give tables in which sites have a schedule that knows of nothing."""
    tables = MemoryTables()
    rows = [blank(SITE_SCHEDULE, {"site": site, "planned_at": planned_at}) for site in sites]
    tables.append(names.T_SITE_SCHEDULE, pa.Table.from_pylist(rows, schema=SITE_SCHEDULE))
    return tables


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer of one page."""

    path: str
    outcome: str = "fetched"
    text: str = "text"
    furniture: str = ""  # bytes around the text
    etag: str | None = None
    to: str = ""  # of a redirect
    status: int | None = 200


@dataclass(frozen=True, slots=True)
class Dated:
    """One entry of a sitemap."""

    path: str
    days: float  # since the start


@dataclass(frozen=True, slots=True)
class Pinged:
    """One ping."""

    path: str
    hours: float  # since the crawl began, with which it is written


@dataclass(frozen=True, slots=True)
class Walk:
    """One crawl."""

    gap_days: float = 1.0  # since the crawl before
    asked: Sequence[Asked] = ()
    dated: Sequence[Dated] = ()
    pinged: Sequence[Pinged] = ()
    is_retired: bool = False  # the sitemap, from now on
    is_finished: bool = True
    found: Mapping[str, str] = field(default_factory=dict)  # by a refresh: path -> layer, or why it was refused
    in_links: Mapping[str, int] = field(default_factory=dict)


@dataclass
class VisitHistory:
    """Writes crawls, one after the other."""

    tables: TableStore
    site: str
    now: datetime = START
    payloads: dict[str, str] = field(default_factory=dict)  # what is current of each page

    def add(self, walk: Walk) -> None:
        """Write what a crawl would have left, and what the extraction of its pages would."""
        self.now += timedelta(days=walk.gap_days)
        crawl_id = f"{self.now:%Y%m%dT%H%M%S%f}Z"
        began, common = self.now, {"site": self.site, "crawl_id": crawl_id}
        self._write(names.T_CRAWLS, [{**common, "stage": "started", "at": self.now}])
        self.ping(*walk.pinged)
        if walk.dated:
            entries = [
                {
                    **common,
                    "sitemap_url": SITEMAP,
                    "lastmod": START + timedelta(days=entry.days),
                    **_address(entry.path),
                }
                for entry in walk.dated
            ]
            self._write(names.T_SITEMAP_ENTRIES, entries)
        for path, layer_or_reason in walk.found.items():
            if layer_or_reason.startswith("refresh"):
                self._write(names.T_FRONTIER, [{**common, "layer": layer_or_reason, **_address(path)}])
            else:
                layer = "refresh_1" if layer_or_reason == "page_budget" else "refresh_0"
                self._write(names.T_REFUSALS, [{**common, "layer": layer, "reason": layer_or_reason, **_address(path)}])
        fetches, versions = [], []
        for asked in walk.asked:
            self.now += timedelta(seconds=7)
            fetches.append({**common, **self._fetch(asked)})
            payload = fetches[-1]["payload_digest"]
            if asked.outcome == "fetched" and self.payloads.get(asked.path) != payload:
                self.payloads[asked.path] = payload
                version = {"payload_digest": payload, "text_digest": asked.text, "extractor_version": "1"}
                versions.append({**common, **version, **_address(asked.path)})
        self._write(names.T_FETCHES, fetches)
        if walk.dated or walk.is_retired:
            read_at = next((row["requested_at"] for row in fetches if row["url"] == SITEMAP), began)
            retired = "sitemap_stale" if walk.is_retired else ""
            file = {**common, "sitemap_url": SITEMAP, "read_at": read_at, "retired": retired}
            self._write(names.T_SITEMAP_FILES, [file])
        self._write(names.T_PAGES, versions)
        rows = [
            blank(SITE_MAP, {**common, "in_links": count, **_address(path)}) for path, count in walk.in_links.items()
        ]
        self.tables.replace(names.T_SITE_MAP, sites=[self.site], rows=pa.Table.from_pylist(rows, schema=SITE_MAP))
        if walk.is_finished:
            self._write(names.T_CRAWLS, [{**common, "stage": "crawl_report", "at": self.now}])

    def ping(self, *pinged: Pinged) -> None:
        """Write pings, each from a source of its own; their hours count from now."""
        self._write(
            names.T_PINGS,
            [
                {
                    "site": self.site,
                    "pinged_at": self.now + timedelta(hours=ping.hours),
                    "source": f"{self.now} {number}",
                    **_address(ping.path),
                }
                for number, ping in enumerate(pinged)
            ],
        )

    def _fetch(self, asked: Asked) -> dict[str, Any]:
        payload = f"sha1:{asked.text}{asked.furniture}" if asked.outcome == "fetched" else None
        if asked.outcome == "not_modified":
            payload = self.payloads.get(asked.path)
        return {
            "layer": "depth_1",
            "purpose": "sitemap" if asked.path.endswith(".xml") else "page",
            "origin_key": url_of(asked.path),
            "attempt": 1,
            "is_final": True,
            "outcome": asked.outcome,
            "status": asked.status,
            "requested_at": self.now,
            "payload_digest": payload,
            "etag": asked.etag,
            "redirect_url": url_of(asked.to) if asked.to else None,
            **_address(asked.path),
        }

    def _write(self, table: str, rows: list[dict[str, Any]]) -> None:
        schema = TABLES[table]
        self.tables.append(table, pa.Table.from_pylist([blank(schema, row) for row in rows], schema=schema))


def _address(path: str) -> dict[str, str]:
    return {"url": url_of(path), "url_key": url_of(path)}

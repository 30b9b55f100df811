"""Hand-made crawls: the tables of a crawl, written row by row, and the site map that comes of them."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from assets import names
from assets.schemas import CRAWLS, FETCHES, FRONTIER, LINKS, SITEMAP_ENTRIES
from assets.site_map.evidence import Evidence, read_standing
from assets.site_map.findings import QUERIES, Finding
from assets.site_map.mapped_crawl import map_crawl
from assets.site_map.site_map import SiteMapResult, site_map_of_site
from resources.duckdb_engine import DuckDBEngine
from resources.ports.catalog import MapLimits
from tests.support.memory import MemoryObjects, MemoryTables

SITE = "a.example"
START = datetime(2024, 5, 1, tzinfo=UTC)
HOST = "https://a.example"


def url_of(path: str) -> str:
    return path if "://" in path else HOST + path


def blank(schema: pa.Schema, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Give a whole row: what is not said is empty, zero, or missing where that is allowed."""
    empty: dict[str, Any] = {}
    for column in schema:
        if column.nullable:
            empty[column.name] = None
        elif pa.types.is_string(column.type):
            empty[column.name] = ""
        elif pa.types.is_list(column.type):
            empty[column.name] = []
        elif pa.types.is_timestamp(column.type):
            empty[column.name] = START
        else:
            empty[column.name] = False if pa.types.is_boolean(column.type) else 0
    return {**empty, "site": SITE, **facts}


@dataclass
class Crawl:
    """A crawl that a test writes by hand. Keys are URLs."""

    crawl_id: str = "20240501T000000Z"
    stage: str = "crawl_report"
    tables: MemoryTables = field(default_factory=MemoryTables)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    seconds: int = 0

    def add(self, table: str, schema: pa.Schema, **facts: Any) -> None:
        known = {"crawl_id": self.crawl_id} if "crawl_id" in schema.names else {}
        row = blank(schema, known | facts)
        self.tables.append(table, pa.Table.from_pylist([row], schema=schema))

    def asked(
        self, path: str, layer: str = "depth_1", found_by: str = "link", outcome: str = "fetched", status: int = 200
    ) -> None:
        """Note a page in the frontier with its answer."""
        self.frontier(path, layer, found_by)
        self.answer(path, layer=layer, outcome=outcome, status=status)

    def frontier(self, path: str, layer: str = "depth_1", found_by: str = "link") -> None:
        url = url_of(path)
        self.add(names.T_FRONTIER, FRONTIER, layer=layer, url=url, url_key=url, found_by=found_by)

    def answer(self, path: str, *, origin: str | None = None, to: str | None = None, **facts: Any) -> None:
        """Note an answer, a second after the one before."""
        self.seconds += 1
        url = url_of(path)
        row = {
            "layer": "depth_1",
            "purpose": "page",
            "url": url,
            "url_key": url,
            "origin_key": url_of(origin or path),
            "is_final": True,
            "outcome": "fetched",
            "attempt": 1,
            "requested_at": START + timedelta(seconds=self.seconds),
            "redirect_url": url_of(to) if to else None,
        }
        self.add(names.T_FETCHES, FETCHES, **(row | facts))

    def redirect(self, *paths: str, layer: str = "depth_1", **end: Any) -> None:
        """Note a chain of redirects from the first path, and the answer at the last."""
        for hop, (path, to) in enumerate(itertools.pairwise(paths)):
            self.answer(
                path, origin=paths[0], to=to, hop=hop, layer=layer, is_final=False, outcome="redirected", status=301
            )
        self.answer(paths[-1], origin=paths[0], hop=len(paths) - 1, layer=layer, **end)

    def page(self, path: str, *targets: str, resources: Sequence[str] = (), kind: str = "a", **facts: Any) -> None:
        """Note what a page links; ``target|anchor`` gives the link a text."""
        hyperlinks = []
        for target in targets:
            target_path, _, anchor = target.partition("|")
            url = url_of(target_path)
            hyperlinks.append({"url": url, "url_key": url, "kind": kind, "anchor": anchor, "rel": ""})
        row = {
            "url": url_of(path),
            "url_key": url_of(path),
            "hyperlinks": hyperlinks,
            "resources": [{"url": url_of(resource), "kind": "image", "count": 2} for resource in resources],
            "requested_at": START,
        }
        self.add(names.T_LINKS, LINKS, **(row | facts))

    def sitemap(self, path: str) -> None:
        url = url_of(path)
        self.add(names.T_SITEMAP_ENTRIES, SITEMAP_ENTRIES, sitemap_url=f"{HOST}/sitemap.xml", url=url, url_key=url)

    def mapped(self) -> SiteMapResult:
        self.add(names.T_CRAWLS, CRAWLS, stage=self.stage, at=START)
        return site_map_of_site(SITE, self.tables, self.objects, DuckDBEngine())

    def nodes(self) -> dict[str, dict[str, Any]]:
        self.mapped()
        rows = self.tables.read(names.T_SITE_MAP).to_pylist()
        return {row["url_key"].removeprefix(HOST): row for row in rows}

    def findings(self, kind: str) -> list[tuple[str, str, str]]:
        """Ask one finding; all of them would take a second."""
        self.add(names.T_CRAWLS, CRAWLS, stage=self.stage, at=START)
        engine = DuckDBEngine()
        mapped = map_crawl(SITE, self.tables, engine)
        standing = read_standing(SITE, self.crawl_id, self.tables)
        rows = QUERIES[Finding(kind)](Evidence(mapped, standing, MapLimits(), engine))
        short = ([row[name].replace(HOST, "") for name in ("url", "on_url", "detail")] for row in rows)
        return [(url, on_url, detail) for url, on_url, detail in short]

    def file(self, name: str) -> str:
        return self.objects.data[f"reports/{SITE}/{self.crawl_id}/{name}"].decode()

"""Open chains: redirects and retries of a layer whose first answers a killed run has stored."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.crawl.site_crawl import SiteCrawl
from assets.fetch.chains import carried_on
from assets.fetch.item import FetchItem, Purpose
from assets.url.key import url_key
from assets.warc.member import unpack_member

COLUMNS: Final = (
    "purpose",
    "url",
    "origin_key",
    "is_final",
    "outcome",
    "redirect_url",
    "requested_at",
    "warc_file",
    "warc_offset",
    "warc_bytes",
)


class OpenChains:
    """The stored answers of addresses without a final row, by origin_key."""

    def __init__(self, crawl: SiteCrawl, rows: pa.Table) -> None:
        """Find them; reads the records of redirects for their cookies.

        Args:
            crawl: the site's.
            rows: of ``fetches``, of one layer; at least ``COLUMNS``.
        """
        self._crawl = crawl
        self._answers: dict[str, list[dict[str, Any]]] = {}
        rows = rows.select(list(COLUMNS)).filter(pc.field("purpose") != Purpose.ROBOTS.value)
        ended = rows.filter(pc.field("is_final"))["origin_key"]
        left = rows.filter(pc.invert(pc.is_in(rows["origin_key"], ended.combine_chunks())))
        for row in left.sort_by("requested_at").to_pylist():
            row["set_cookie"] = list(self._set_cookie(row)) if row["redirect_url"] is not None else []
            self._answers.setdefault(row["origin_key"], []).append(row)

    def targets(self) -> set[str]:
        """Give what the chains lead to and nobody else may take: url_keys, of sitemaps the addresses."""
        return {
            row["redirect_url"]
            if row["purpose"] == Purpose.SITEMAP
            else url_key(row["redirect_url"], self._crawl.key_rules)
            for answers in self._answers.values()
            for row in answers
            if row["redirect_url"] is not None
        }

    def carry_on(self, item: FetchItem) -> FetchItem:
        """Give the request with which the story of an item goes on: the item itself when nothing is stored of it."""
        answers = self._answers.get(item.origin_key)
        if answers is None:
            return item
        return carried_on(item, answers, key_rules=self._crawl.key_rules, validators=self._crawl.validators)

    def _set_cookie(self, row: Mapping[str, Any]) -> Iterator[str]:
        if row["warc_file"] is None:
            return
        data = self._crawl.ports.objects.get(row["warc_file"], offset=row["warc_offset"], length=row["warc_bytes"])
        head = unpack_member(data).block.partition(b"\r\n\r\n")[0]
        for line in head.decode("iso-8859-1").split("\r\n")[1:]:
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                yield value.strip()

"""Layer batches: captures become WARC files, and their rows follow once a file is published.

Order of writes: WARC file (temporary name, verified), then its index, then its rows, then the links that were read of
its pages meanwhile. A crash before the file is published loses the batch; a crash after that loses nothing: ``recover``
finds the rows in the file itself, and pages without links are parsed by the links stage.
"""

import asyncio
import zlib
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from assets import names
from assets.crawl.layer_files import WARC_SUFFIX, index_key, take_up_files
from assets.crawl.links_ahead import LinksAhead
from assets.crawl.site_crawl import SiteCrawl
from assets.fetch.facts import RowBuffer, as_table
from assets.fetch.item import FetchItem
from assets.fetch.outcome import FetchOutcome
from assets.links.chunk import commits_of
from assets.schemas import FETCHES, ROBOTS
from assets.url.host import suffix_list_version
from assets.warc.cdxj import cdxj
from assets.warc.digest import payload_digest
from assets.warc.records import Place, StoredCopy, capture_members
from assets.warc.writing import WarcBatch
from resources.ports import FetchResponse

_EARLIEST: Final = 0.5  # of ``batch_max_s``: when the first batch of some site is old


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a capture and its payload lie."""

    place: Place
    body_place: Place
    digest: str
    member: bytes | None = None  # a gzip member with the payload; None: there is none, or nobody parses ahead


class LayerBatches:
    """The open batch of one layer of one site. Used from one event loop."""

    def __init__(self, crawl: SiteCrawl, layer: str, *, ahead: LinksAhead | None = None) -> None:
        """Open the desk of a layer.

        Args:
            crawl: the site's.
            layer: the one that is fetched.
            ahead: parses pages while others are fetched; None leaves that to the links stage.
        """
        self._crawl = crawl
        self._layer = layer
        self._ahead = ahead
        self._batch: WarcBatch | None = None
        self._rows = RowBuffer(FETCHES)
        self._robots: list[dict[str, Any]] = []
        self._payloads: dict[str, StoredCopy] = {}  # of the open batch
        self._opened_at_s = crawl.ports.clock.monotonic_s()
        # Hundreds of sites that begin together would all publish at one moment, and hold up each other's requests.
        early = (1 - _EARLIEST) * zlib.crc32(crawl.site.encode()) / 2**32
        self._max_age_s = crawl.settings.batch_max_s * (1 - early)
        self._serial = 0
        self._committing = asyncio.Lock()

    def store(self, item: FetchItem, response: FetchResponse, outcome: FetchOutcome) -> Stored:
        """Write the capture of an answer that has a status."""
        batch = self._open()
        if outcome is FetchOutcome.NOT_MODIFIED and item.validators is not None:
            copy = item.validators.copy
            place, _ = batch.add(response, digest=copy.payload_digest, original=copy)
            return Stored(place, copy.place, copy.payload_digest)
        digest = payload_digest(response.body)
        original = self._payloads.get(digest) or self._crawl.payloads.get(digest)
        if original is not None and response.body and response.truncated is None:
            place, _ = batch.add(response, digest=digest, original=original)
            # At this address the links of a stored payload may lead elsewhere.
            whole = capture_members(response, digest=digest, original=None)[0] if self._ahead is not None else None
            return Stored(place, original.place, digest, whole)
        place, member = batch.add(response, digest=digest)
        self._payloads.setdefault(digest, StoredCopy(response.request.url, response.started_at, digest, place))
        return Stored(place, place, digest, member)

    def add_row(self, row: dict[str, Any], stored: Stored | None = None) -> None:
        """Take a row of ``fetches``, and its capture if it has one; it is committed with the open batch."""
        row["crawl_id"] = self._crawl.crawl_id
        self._rows.add(row)
        if self._ahead is not None and stored is not None and stored.member is not None:
            self._ahead.offer(row, stored.member)

    def add_robots(self, row: dict[str, Any]) -> None:
        """Take a row of ``robots``; it is committed with the open batch."""
        self._robots.append(row)

    @property
    def is_due(self) -> bool:
        """Whether the open batch is large or old enough to be published."""
        too_old = self._crawl.ports.clock.monotonic_s() - self._opened_at_s >= self._max_age_s
        return bool(self._rows) and (
            too_old or (self._batch is not None and self._batch.size_bytes >= self._crawl.settings.batch_max_bytes)
        )

    async def commit(self) -> None:
        """Publish the open batch and commit its rows; what comes meanwhile goes into the next one."""
        async with self._committing:
            batch, rows, robots = self._batch, self._rows, self._robots
            links = self._ahead.cut() if self._ahead is not None else None
            self._batch, self._rows, self._robots, self._payloads = None, RowBuffer(FETCHES), [], {}
            self._opened_at_s = self._crawl.ports.clock.monotonic_s()
            self._max_age_s = self._crawl.settings.batch_max_s
            table = rows.table()
            await self._crawl.to_thread(self._publish, batch, table, robots)
            # Not before: a revisit may only point at what is published.
            self._crawl.payloads.add(table)
            if links is not None:
                for part in commits_of((await links).to_batches()):
                    await self._crawl.to_thread(self._crawl.ports.tables.append, names.T_LINKS, part)

    def recover(self) -> int:
        """Commit the rows of files that were published without them; give how many captures that were."""
        return take_up_files(self._crawl.ports, self._crawl.site, self._crawl.crawl_id, self._layer)

    @property
    def _prefix(self) -> str:
        return names.raw_prefix(self._crawl.site, self._crawl.crawl_id, self._layer)

    def _open(self) -> WarcBatch:
        if self._batch is None:
            now = self._crawl.ports.clock.now()
            self._serial += 1
            name = f"{self._crawl.site.replace(':', '_')}-{now:%Y%m%dT%H%M%S%f}-{self._serial:05d}{WARC_SUFFIX}"
            self._batch = WarcBatch(
                self._crawl.scratch / name,
                self._prefix + name,
                opened_at=now,
                info={
                    "software": self._crawl.ports.fetcher.user_agent,
                    "robots": "obeyed: RFC 9309",
                    "scope": f"registrable domain by the public suffix list of {suffix_list_version()}",
                    "isPartOf": f"{self._crawl.site} {self._crawl.crawl_id} {self._layer}",
                    "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
                },
            )
        return self._batch

    def _publish(self, batch: WarcBatch | None, rows: pa.Table, robots: list[dict[str, Any]]) -> None:
        ports = self._crawl.ports
        if batch is not None:
            batch.seal(rows, sealed_at=ports.clock.now())
            ports.objects.put_file(batch.key, batch.path)
            ports.objects.put(index_key(batch.key), cdxj(rows))
            batch.path.unlink()
        ports.tables.append(names.T_FETCHES, rows)
        ports.tables.append(names.T_ROBOTS, as_table(robots, ROBOTS))

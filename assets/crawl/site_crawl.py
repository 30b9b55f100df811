"""The crawl of one site in one run: its settings, its rules, and what every stage of it needs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl import crawl_log
from assets.crawl.blocking import in_thread
from assets.crawl.crawl_log import CrawlKind
from assets.crawl.link_readers import LinkReaders
from assets.crawl.ports import CrawlPorts
from assets.crawl.robots_book import RobotsBook
from assets.crawl.scheduler import FetchScheduler
from assets.crawl.watch import Watch
from assets.derived import CheckResult
from assets.fetch.copies import COPY_COLUMNS, PageCopies, StoredPayloads
from assets.fetch.item import Validators
from assets.frontier.traps import TrapBudgets
from assets.schemas import TABLES
from assets.url.key import KeyRules
from assets.url.scope import Scope
from resources.ports import SiteSettings

FIRST_PAGES: Final = 200
LINKS_A_READ: Final = 100_000

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage did for a site."""

    outcome: str = "ok"  # or why it did nothing
    reason: str = ""
    rows_in: int = 0
    rows_out: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    checks: tuple[CheckResult, ...] = ()


@dataclass(slots=True)
class SiteCrawl:
    """One site's walk. Its tables are read once a stage; what only this walk changes is kept here."""

    site: str
    crawl_id: str
    run_id: str
    settings: SiteSettings
    scope: Scope
    key_rules: KeyRules
    ports: CrawlPorts
    kind: CrawlKind
    scheduler: FetchScheduler
    watch: Watch
    scratch: Path  # local folder for WARC files under construction
    readers: LinkReaders | None = None  # parse pages ahead
    robots: RobotsBook | None = None  # once a stage has opened it
    traps: TrapBudgets | None = None  # once a stage has filled them with the frontier so far
    due: pa.Table | None = None  # what a refresh asks, once a stage has looked it up
    _done: set[str] | None = None  # stages; the lease keeps others from adding to them
    _empty_layers: frozenset[str] = frozenset()
    _known: set[str] | None = None
    _copies: PageCopies | None = None
    _payloads: StoredPayloads | None = None

    async def to_thread(
        self, function: Callable[Arguments, Answer], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Answer:
        """Run something that blocks without holding up the other sites."""
        return await in_thread(function, *args, **kwargs)

    def rows(
        self,
        table: str,
        columns: list[str] | None = None,
        *,
        layer: str | Sequence[str] | None = None,
        where: pc.Expression | None = None,
    ) -> pa.Table:
        """Read this crawl's rows of a table, of one layer, of some, or of all; ``where`` leaves out some of them."""
        own = pc.field("crawl_id") == self.crawl_id
        where = own if where is None else own & where
        if layer is not None:
            layers = [layer] if isinstance(layer, str) else list(layer)
            if self._empty_layers.issuperset(layers):
                schema = TABLES[table]
                return schema.empty_table().select(columns or schema.names)
            where &= pc.field("layer").isin(layers)
        return self.ports.tables.read(table, sites=[self.site], columns=columns, where=where)

    def link_pages(self, layer: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Read this crawl's rows of ``links`` of a layer, some pages at a time and each time later ones.

        Pages may have thousands of links: their number follows from those of the pages before.

        Args:
            layer: the name of the layer.
            columns: ``requested_at`` and ``hyperlinks`` among them.
        """
        times = self.rows(names.T_LINKS, ["requested_at"], layer=layer)["requested_at"].sort()
        start, count = 0, FIRST_PAGES
        while start < len(times):
            where = pc.field("requested_at") >= times[start]
            if start + count < len(times):
                # All that were asked at the moment at which these end: the next ones begin after it.
                where &= pc.field("requested_at") <= times[start + count - 1]
            pages = self.rows(names.T_LINKS, list(columns), layer=layer, where=where)
            yield pages
            start += pages.num_rows
            links = pc.sum(pc.list_value_length(pages["hyperlinks"])).as_py()
            count = max(1, LINKS_A_READ * pages.num_rows // max(1, links))
            del pages

    def own_or_all_rows(self, table: str, columns: list[str]) -> pa.Table:
        """Read a table as far as this crawl must know it: its own rows, or all of the site when it is a refresh."""
        if self.kind is CrawlKind.CRAWL:
            return self.rows(table, columns)
        return self.ports.tables.read(table, sites=[self.site], columns=columns)

    def is_done(self, key: dg.AssetKey) -> bool:
        """Tell whether this crawl has done a stage."""
        if self._done is None:
            self._done = set(self.rows(names.T_CRAWLS, ["stage"]).column("stage").to_pylist())
        return key.to_user_string() in self._done

    def mark(self, key: dg.AssetKey, *, rows_in: int, rows_out: int, outcome: str = "ok", reason: str = "") -> None:
        """Write down that this crawl has done a stage."""
        self._mark([key], rows_in=rows_in, rows_out=rows_out, outcome=outcome, reason=reason)

    def _mark(self, keys: Sequence[dg.AssetKey], *, rows_in: int, rows_out: int, outcome: str, reason: str) -> None:
        stages = [key.to_user_string() for key in keys]
        crawl_log.mark(
            self.ports.tables,
            site=self.site,
            crawl_id=self.crawl_id,
            stages=stages,
            at=self.ports.clock.now(),
            run_id=self.run_id,
            max_depth=self.settings.max_depth,
            outcome=outcome,
            reason=reason,
            rows_in=rows_in,
            rows_out=rows_out,
        )
        if self._done is not None:
            self._done.update(stages)

    def mark_empty(self, depth: int) -> None:
        """Write down that nothing is left to do from the raw batches of a depth on: its frontier is empty."""
        layers = [names.depth(deeper) for deeper in range(depth, self.settings.max_depth + 1)]
        rest = [key for layer in layers for key in layer.stages][1:]
        self._mark(rest, rows_in=0, rows_out=0, outcome="ok", reason="")
        # The layer itself may have refusals.
        self._empty_layers = frozenset(layer.name for layer in layers[1:])

    def known_keys(self) -> set[str]:
        """Give the url_keys that this crawl has decided about: to fetch, fetched, or refused; for a refresh, any crawl.

        One set for the whole walk: whoever decides about an address adds it.
        """
        if self._known is None:
            self._known = set()
            for table, columns in (
                (names.T_FRONTIER, ["url_key"]),
                (names.T_REFUSALS, ["url_key"]),
                (names.T_FETCHES, ["url_key", "origin_key"]),
            ):
                for column in self.own_or_all_rows(table, columns).columns:
                    self._known.update(column.to_pylist())
        return self._known

    def load_history(self) -> None:
        """Read what was stored of this site before, in this crawl and in earlier ones."""
        if self._copies is None:
            fetches = self.ports.tables.read(names.T_FETCHES, sites=[self.site], columns=list(COPY_COLUMNS))
            self._copies = PageCopies(fetches, now=self.ports.clock.now())
            self._payloads = StoredPayloads(fetches)

    @property
    def payloads(self) -> StoredPayloads:
        """Published payloads by digest; batches add theirs once they are published."""
        if self._payloads is None:
            raise RuntimeError("load_history comes first")
        return self._payloads

    def validators(self, url_key: str, url: str) -> Validators | None:
        """Give the stored copy that a conditional request may confirm; of exactly this address."""
        return self._copies.validators(url_key, url) if self._copies is not None else None

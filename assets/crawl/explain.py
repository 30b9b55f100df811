"""Explanations: what would happen to an address in a crawl of a site, and why. Sends nothing; reads tables only."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.robots_book import RobotsBook
from assets.fetch.request import PRODUCT
from assets.frontier.traps import trap
from assets.seeds.check import seed_groups
from assets.url.host import host_key, host_name, registrable_domain
from assets.url.key import KeyRules, url_key
from assets.url.parse import parse
from assets.url.scope import Scope
from resources.ports import SiteSettings, TableStore

NOT_ASKED: Final = "not known yet: it is asked when the host is asked for the first time"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a crawl does with one address. Empty strings and tuples mean "nothing to say"."""

    url: str  # as it would be requested; empty when it does not parse
    url_key: str
    host_key: str
    verdict: str  # one sentence
    scope: str
    trap: str
    robots: str
    alias: str  # the page that it is, and the evidence
    aliases: tuple[str, ...]  # addresses that are this page, and the evidence
    frontier: str
    refusal: str
    last_fetch: str
    page: str
    duplicate_of: str
    indexed: str


def explain(
    address: str, settings: SiteSettings, remembered_seeds: list[str], tables: TableStore, *, now: datetime
) -> Explanation:
    """Explain an address.

    Args:
        address: any spelling.
        settings: those of the site.
        remembered_seeds: usable seeds of its last seed check, for a site without listed ones.
        tables: the store.
        now: what is fresh.
    """
    rules = KeyRules.of(settings)
    key = url_key(address, rules)
    url = parse(address)
    if url is None:
        return Explanation(**{**_NOTHING, "url_key": key, "verdict": "It is not an address, so it is never asked."})
    known = _Known(tables, settings.site, key)
    groups = seed_groups(settings.site, settings.seeds, remembered_seeds)
    refusal = Scope.of(settings, [seed for group in groups for seed in group.urls]).refusal(url)
    caught = trap(url)
    robots_says, allowed = _robots(tables, settings, url, now)
    scope = f"refused, {refusal.reason}: {refusal.rule}" if refusal else f"in: {registrable_domain(host_name(url))}"
    caught_by = f"{caught.reason}: {caught.rule}" if caught else ""
    alias = known.row(names.T_ALIASES)
    return Explanation(
        url=url,
        url_key=key,
        host_key=host_key(url),
        verdict=_verdict(scope if refusal else "", caught_by, robots_says if allowed is False else ""),
        scope=scope,
        trap=caught_by,
        robots=robots_says,
        alias=f"{alias['alias_of']} ({alias['evidence']}: {alias['detail']})" if alias else "",
        aliases=known.aliases(),
        frontier=known.frontier(),
        refusal=known.refusal(),
        last_fetch=known.last_fetch(),
        page=known.page(),
        duplicate_of=known.duplicate_of(),
        indexed=known.indexed(),
    )


class _Known:
    """What the tables know of one url_key of one site."""

    def __init__(self, tables: TableStore, site: str, key: str) -> None:
        self._tables = tables
        self._site = site
        self._key = key

    def rows(self, table: str, column: str = "url_key") -> list[dict[str, Any]]:
        """Give the rows that are about the key."""
        found = self._tables.read(table, sites=[self._site], where=pc.field(column) == self._key)
        rows: list[dict[str, Any]] = found.to_pylist()
        return rows

    def row(self, table: str, order: str = "url_key") -> Mapping[str, Any] | None:
        """Give the last row that is about the key."""
        rows = sorted(self.rows(table), key=lambda row: row[order])
        return rows[-1] if rows else None

    def aliases(self) -> tuple[str, ...]:
        """Name the addresses that are this page."""
        return tuple(
            f"{row['url_key']} ({row['evidence']})"
            for row in sorted(self.rows(names.T_ALIASES, "alias_of"), key=lambda row: str(row["url_key"]))
        )

    def frontier(self) -> str:
        """Say when it was last meant to be fetched."""
        row = self.row(names.T_FRONTIER, "crawl_id")
        if row is None:
            return ""
        found = f"found by {row['found_by']}" + (f" on {row['found_on']}" if row["found_on"] else "")
        return f"{row['layer']} of crawl {row['crawl_id']}, priority {row['priority']:.1f}, {found}"

    def refusal(self) -> str:
        """Say when it was last refused."""
        row = self.row(names.T_REFUSALS, "crawl_id")
        if row is None:
            return ""
        return (
            f"{row['layer']} of crawl {row['crawl_id']}: {row['reason']} ({row['rule']}), linked on {row['found_on']}"
        )

    def last_fetch(self) -> str:
        """Say what its last request brought."""
        row = self.row(names.T_FETCHES, "requested_at")
        if row is None:
            return ""
        detail = ", ".join(str(part) for part in (row["status"], row["reason"]) if part)
        place = f"; stored in {row['warc_file']} at {row['warc_offset']}" if row["warc_file"] else ""
        return f"{row['outcome']} at {row['requested_at']:%Y-%m-%d %H:%M:%S} UTC ({detail}){place}"

    def page(self) -> str:
        """Say what its page is."""
        row = self.row(names.T_PAGE_STATE)
        if row is None:
            return ""
        flags = f", flags {', '.join(row['flags'])}" if row["flags"] else ""
        return f"{row['status']}, {row['characters']} characters of text{flags}"

    def duplicate_of(self) -> str:
        """Say which page stands for it."""
        for table in (names.T_EXACT_DUPLICATES, names.T_NEAR_DUPLICATES):
            row = self.row(table)
            if row is not None and row["representative_key"] != self._key:
                return f"{row['representative_key']} ({table.replace('_', ' ').removesuffix('s')})"
        return ""

    def indexed(self) -> str:
        """Say whether the index holds it."""
        row = self.row(names.T_FEED_STATE)
        return f"yes, since batch {row['sequence']}" if row else "no"


def _robots(tables: TableStore, settings: SiteSettings, url: str, now: datetime) -> tuple[str, bool | None]:
    fresh = pc.field("expires_at") > pa.scalar(now)
    book = RobotsBook(
        settings.site,
        tables.read(names.T_ROBOTS, sites=[settings.site], where=fresh),
        unreachable=settings.robots_unreachable,
    )
    rules = book.rules(host_key(url), now)
    if rules is None:
        return NOT_ASKED, None
    decision = rules.decision(url, PRODUCT)
    said = "allowed" if decision.allowed else "forbidden"
    by = f" by {decision.line!r} for {decision.group!r}" if decision.line else ""
    return f"{said}{by}" + (f" ({decision.reason})" if decision.reason else ""), decision.allowed


def _verdict(*reasons: str) -> str:
    reason = next((reason for reason in reasons if reason), "")
    if reason:
        return f"It is not asked: {reason}."
    return "It is asked in every crawl that finds it within its depth and page budget."


_NOTHING: Final[dict[str, Any]] = {
    **dict.fromkeys(Explanation.__dataclass_fields__, ""),
    "aliases": (),
}

"""The intake of pings: which site an address belongs to, and how files that were dropped into the store become rows."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.schemas import PINGS
from assets.schemas.recrawl import KIND_SITEMAP
from assets.url.host import host_key, host_name, registrable_domain
from assets.url.key import KeyRules, url_key
from assets.url.parse import encodable, parse, split_web_address
from assets.url.scope import Scope
from resources.errors import ObjectMissing
from resources.ports import ObjectStore, SiteCatalog, SiteSettings, TableStore

REFUSED_PREFIX: Final = f"{names.PINGS_PREFIX}refused/"  # what was wrong in which file
_SUFFIXES: Final = (".txt", ".json")
_SHOWN_CHARACTERS: Final = 200  # of an address that is refused


@dataclass(frozen=True, slots=True)
class RefusedPing:
    """An address that is no ping, and why."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class JudgedPings:
    """Addresses as pings of sites, and those that are none."""

    taken: Sequence[Mapping[str, str]] = ()  # site, url, url_key
    refused: Sequence[RefusedPing] = ()

    def rows(self, pinged_at: datetime, source: str) -> pa.Table:
        """Give the rows of ``pings``."""
        return pa.Table.from_pylist(
            [{**ping, "pinged_at": pinged_at, "source": source} for ping in self.taken], schema=PINGS
        )


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What the files brought."""

    files: int = 0
    pings: int = 0
    refused: int = 0


def addresses_in(text: str) -> list[str]:
    """Give the addresses of a text: one a line, blank lines and those with ``#`` aside, or IndexNow's JSON.

    Text that only looks like JSON is taken for lines, and so is refused line by line.

    >>> addresses_in("https://e.test/a\\n\\n# b\\nhttps://e.test/c")
    ['https://e.test/a', 'https://e.test/c']
    >>> addresses_in('{"host": "e.test", "urlList": ["https://e.test/a"]}')
    ['https://e.test/a']
    """
    text = text.removeprefix("\ufeff").strip()
    if text.startswith(("{", "[")):
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            told = None
        found = told.get("urlList", told.get("url")) if isinstance(told, dict) else told
        if isinstance(found, str):
            return [found]
        if isinstance(found, list):
            return [address if isinstance(address, str) else json.dumps(address) for address in found]
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@dataclass(slots=True)
class PingJudge:
    """Judges addresses for the sites that have a schedule; what it looks up of a site is looked up once."""

    tables: TableStore
    catalog: SiteCatalog
    _sites: dict[str, list[str]] | None = None  # registrable domain -> sites
    _rules: dict[str, tuple[KeyRules, Scope]] = field(default_factory=dict)
    _sitemaps: dict[str, frozenset[str]] = field(default_factory=dict)

    def judge(self, addresses: Iterable[str], site: str | None = None) -> JudgedPings:
        """Judge addresses, each page once.

        Args:
            addresses: in any spelling.
            site: whose pages they are; None: the site of their host, or else the only one that they are in scope of.
        """
        taken: dict[tuple[str, str], dict[str, str]] = {}
        refused: list[RefusedPing] = []
        for address in addresses:
            found = self._judged(address, site)
            if isinstance(found, str):
                refused.append(RefusedPing(encodable(address[:_SHOWN_CHARACTERS]), found))
            else:
                taken.setdefault((found["site"], found["url_key"]), found)
        return JudgedPings(list(taken.values()), refused)

    def _judged(self, address: str, site: str | None) -> dict[str, str] | str:
        """Give a ping, or why the address is none."""
        url = parse(address)
        if url is None or split_web_address(url) is None:
            return "not an http or https address"
        sites = self._candidates(url) if site is None else self._scheduled(site)
        if not sites:
            return f"no site has a schedule that could hold it: crawl {site or host_key(url).partition('://')[2]} first"
        reasons = []
        found = []
        for one in sites:
            rules, scope = self._rules_of(one)
            key = url_key(url, rules)
            refusal = scope.refusal(url)
            if refusal is None or key in self._sitemaps_of(one):
                found.append({"site": one, "url": url, "url_key": key})
            else:
                reasons.append(f"not in the scope of {one}: {refusal.reason} ({refusal.rule})")
        if len(found) > 1:
            return f"{', '.join(ping['site'] for ping in found)} may all hold it: say which site is meant"
        return found[0] if found else reasons[0]

    def _candidates(self, url: str) -> list[str]:
        own = self._scheduled(host_key(url).partition("://")[2])
        return own or self._by_domain().get(registrable_domain(host_name(url)), [])

    def _scheduled(self, site: str) -> list[str]:
        return [site] if site in self._by_domain().get(_domain_of(site), []) else []

    def _by_domain(self) -> dict[str, list[str]]:
        if self._sites is None:
            self._sites = defaultdict(list)
            for site in sorted(self.tables.read(names.T_SITE_SCHEDULE, columns=["site"])["site"].to_pylist()):
                self._sites[_domain_of(site)].append(site)
        return self._sites

    def _rules_of(self, site: str) -> tuple[KeyRules, Scope]:
        if site not in self._rules:
            settings = self.catalog.settings(site)
            self._rules[site] = KeyRules.of(settings), Scope.of(settings, self._seeds_of(settings))
        return self._rules[site]

    def _seeds_of(self, settings: SiteSettings) -> list[str]:
        # A site that nobody listed has the seeds that it was crawled from.
        usable = self.tables.read(names.T_SEEDS, sites=[settings.site], columns=["seed_url"], where=pc.field("usable"))
        return [*settings.seeds, *(sorted(set(usable["seed_url"].to_pylist())) if not settings.seeds else [])]

    def _sitemaps_of(self, site: str) -> frozenset[str]:
        """Give the sitemaps and feeds of a site: their publishers ping them, though they are no pages."""
        if site not in self._sitemaps:
            rows = self.tables.read(
                names.T_PAGE_SCHEDULE, sites=[site], columns=["url_key"], where=pc.field("kind") == KIND_SITEMAP
            )
            self._sitemaps[site] = frozenset(rows["url_key"].to_pylist())
        return self._sitemaps[site]


def take_in_pings(tables: TableStore, objects: ObjectStore, catalog: SiteCatalog, now: datetime) -> TakenIn:
    """Read the files in the drop folder into the table, and remove them.

    The rows of a file are one commit that carries its name and digest, so it is never read again, even if it cannot be
    removed. What is refused of it is written down beside it, under ``pings/refused/``.
    """
    dropped = [
        info.key
        for info in objects.list(names.PINGS_PREFIX)
        if info.key.endswith(_SUFFIXES) and "/" not in info.key.removeprefix(names.PINGS_PREFIX)
    ]
    if not dropped:
        return TakenIn()
    judge = PingJudge(tables, catalog)
    known = set(tables.read(names.T_PINGS, columns=["source"])["source"].to_pylist())
    taken = TakenIn()
    for key in dropped:
        try:
            data = objects.get(key)
        except ObjectMissing:  # another run was faster
            continue
        source = f"{key} sha256:{hashlib.sha256(data).hexdigest()[:16]}"
        judged = judge.judge(addresses_in(data.decode("utf-8", "replace")))
        if source not in known:
            tables.append(names.T_PINGS, judged.rows(now, source))
            taken = TakenIn(taken.files + 1, taken.pings + len(judged.taken), taken.refused + len(judged.refused))
        if judged.refused:
            lines = "".join(f"{refused.address}\t{refused.reason}\n" for refused in judged.refused)
            objects.put(f"{REFUSED_PREFIX}{key.removeprefix(names.PINGS_PREFIX)}.log", lines.encode("utf-8", "replace"))
        objects.delete(key)
    return taken


def _domain_of(site: str) -> str:
    return registrable_domain(host_name(f"http://{site}/"))

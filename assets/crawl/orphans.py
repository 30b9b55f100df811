"""Orphans: WARC files that were published without their rows, of crawls that nobody goes on with, found and removed.

A file of the newest crawl of a site, or of its newest refresh, is none: a run may still take it up. Neither is a file
of a crawl that the log does not know: its rows were forgotten, or lost, and the file is all that is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.crawl.crawl_log import CrawlKind, latest_crawl
from assets.crawl.layer_files import WARC_SUFFIX, index_key
from assets.crawl.sweep import Sweeper
from resources.errors import SiteBusy
from resources.ports import ObjectInfo, ObjectStore, SiteLeases, TableStore
from resources.ports.objects import Swept

ORPHAN_AFTER: Final = timedelta(days=1)
_INDEX_SUFFIX: Final = index_key(WARC_SUFFIX)


@dataclass(frozen=True, slots=True)
class OrphansSwept:
    """What was removed of all sites, and where nobody looked."""

    orphans: Swept
    leftovers: Swept
    sites: int
    busy: Sequence[str]  # sites whose lease another run held


def sweep_orphans(
    tables: TableStore, objects: ObjectStore, leases: SiteLeases, *, owner: str, now: datetime, temporary: Path
) -> OrphansSwept:
    """Remove the orphans and the leftovers of killed runs, of each site under its lease.

    Args:
        tables: of the store.
        objects: of the store.
        leases: of the sites; one that is held is passed over.
        owner: who holds the leases meanwhile.
        now: the present.
        temporary: the folder in which runs have their scratch folders.
    """
    sweeper = Sweeper(objects, temporary)
    orphans = leftovers = Swept()
    busy: list[str] = []
    sites = sorted(pc.unique(tables.read(names.T_CRAWLS, columns=["site"])["site"]).to_pylist())
    for site in sites:
        if leases.holder(site) is not None:
            busy.append(site)
            continue
        try:
            with leases.hold(site, owner):
                leftovers += sweeper.sweep_leftovers(site)
                for orphan in orphans_of_site(site, tables, objects, now=now):
                    objects.delete(orphan.key)
                    orphans += Swept(1, orphan.size_bytes)
        except SiteBusy:
            busy.append(site)
    return OrphansSwept(orphans, leftovers, len(sites), busy)


def orphans_of_site(site: str, tables: TableStore, objects: ObjectStore, *, now: datetime) -> list[ObjectInfo]:
    """Find a site's orphans: WARC files that no row names, and indexes without a WARC file, older than a day."""
    stored = list(objects.list(f"raw/site={site}/"))
    known = set(pc.unique(tables.read(names.T_CRAWLS, sites=[site], columns=["crawl_id"])["crawl_id"]).to_pylist())
    newest = {crawl.crawl_id for kind in CrawlKind if (crawl := latest_crawl(tables, site, kind)) is not None}
    closed = {f"crawl={crawl_id}" for crawl_id in known - newest}
    candidates = [
        one
        for one in stored
        if one.modified_at is not None and now - one.modified_at >= ORPHAN_AFTER and one.key.split("/")[2] in closed
    ]
    if not candidates:
        return []
    named = _named_files(site, tables)
    stay = {one.key for one in stored if one.key.endswith(WARC_SUFFIX)} - {
        one.key for one in candidates if one.key not in named
    }
    indexes = {index_key(key) for key in stay}
    return [
        one
        for one in candidates
        if (one.key.endswith(WARC_SUFFIX) and one.key not in stay)
        or (one.key.endswith(_INDEX_SUFFIX) and one.key not in indexes)
    ]


def _named_files(site: str, tables: TableStore) -> set[str]:
    rows = tables.read(names.T_FETCHES, sites=[site], columns=["warc_file", "body_warc_file"])
    files = pa.chunked_array(rows["warc_file"].chunks + rows["body_warc_file"].chunks, pa.string())
    return set(pc.unique(files).to_pylist())

"""Forgetting a site: its documents, its rows, its reports, its partition, and, if that is asked for, its archive.

Every step finds by itself what is left to do, so a run that was killed is finished by the next one. Documents go first,
while it is known which there are; facts go after what is derived of them, and the log of the crawls last.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg
import pyarrow.compute as pc
from pydantic import Field

from assets import names
from assets.feed.index_feed import withdraw_site
from assets.partitions import sites
from assets.schemas import TABLES
from resources.errors import BadSettings, TransientError
from resources.ports import IndexSink, ObjectStore, SiteCatalog, SiteLeases, TableStore
from resources.ports.objects import Swept

FORGET_SITE: Final = "forget_site"
FORGET: Final = "forget"
_DUPLICATES: Final = (names.T_EXACT_DUPLICATES, names.T_NEAR_DUPLICATES)


class ForgetConfig(dg.Config):
    """Which site, and how much of it."""

    site: str = Field(description="The partition to forget.")
    confirm: str = Field(description="The same once more: this cannot be undone.")
    raw: bool = Field(default=False, description="Remove what was received, the WARC files, as well.")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed of a site by this run; an earlier one that was killed may have removed the rest."""

    tombstones: int
    rows: Mapping[str, int]  # by table
    reports: Swept
    raw: Swept
    stood_for_sites: Sequence[str]  # with pages that one of the site's stood for
    partition: str  # what became of it, in one sentence


def forget_site(
    site: str,
    *,
    raw: bool,
    tables: TableStore,
    objects: ObjectStore,
    sinks: Sequence[IndexSink],
    catalog: SiteCatalog,
    instance: dg.DagsterInstance,
) -> Forgotten:
    """Remove what is stored of a site. The caller holds its lease.

    Raises:
        TransientError: an index does not take the tombstones; nothing else was removed.
    """
    fed = withdraw_site(site, tables, objects, sinks)
    if fed.sink_errors:
        said = "; ".join(f"{name}: {error}" for name, error in sorted(fed.sink_errors.items()))
        raise TransientError(f"{site} is still in an index, so its rows stay until the next try: {said}")
    stood_for = _stood_for_sites(site, tables)
    rows = {table: _emptied(table, site, tables) for table in reversed(TABLES)}
    return Forgotten(
        tombstones=fed.metadata["tombstones"],
        rows={table: count for table, count in rows.items() if count},
        reports=_removed(f"reports/{site}/", objects),
        raw=_removed(f"raw/site={site}/", objects) if raw else Swept(),
        stood_for_sites=stood_for,
        partition=_partition_removed(site, catalog, instance),
    )


@dg.op(name=FORGET, out=dg.Out(dg.Nothing))
def forget(
    context: dg.OpExecutionContext,
    config: ForgetConfig,
    tables: dg.ResourceParam[TableStore],
    objects: dg.ResourceParam[ObjectStore],
    sinks: dg.ResourceParam[Sequence[IndexSink]],
    leases: dg.ResourceParam[SiteLeases],
    catalog: dg.ResourceParam[SiteCatalog],
) -> Iterator[dg.Output[None]]:
    """Forget a site under its lease.

    Raises:
        Failure: the two names differ.
    """
    site = config.site
    if not site or config.confirm != site:
        raise dg.Failure(
            f"Nothing was removed: site is {site!r} and confirm is {config.confirm!r}; type the same site twice.",
            allow_retries=False,
        )
    with leases.hold(site, context.run_id):
        done = forget_site(
            site,
            raw=config.raw,
            tables=tables,
            objects=objects,
            sinks=sinks,
            catalog=catalog,
            instance=context.instance,
        )
    context.log.info("%s", done.partition)
    if done.stood_for_sites:
        context.log.info("%s", stood_for_sentence(done.stood_for_sites))
    yield dg.Output(None, metadata=_metadata(done))


@dg.job(
    name=FORGET_SITE,
    description="Removes a site: tombstones in the index feed, then its rows in all tables, its reports, and its "
    "partition unless sites.yaml lists it; with raw also its WARC files. Cannot be undone; a run that was killed is "
    "finished by running it again.",
    executor_def=dg.in_process_executor,
)
def forget_site_job() -> None:
    """Forget the site of the config."""
    forget()


def forget_run_config(site: str, *, raw: bool) -> dict[str, Any]:
    """Give the run config that forgets a site."""
    return {"ops": {FORGET: {"config": {"site": site, "confirm": site, "raw": raw}}}}


def stood_for_sentence(stood_for_sites: Sequence[str]) -> str:
    """Say what follows for the sites whose pages a forgotten site's stood for."""
    return (
        "Its pages stood for pages of other sites, which get documents of their own when their duplicates and feed are "
        f"materialized next: {', '.join(stood_for_sites)}."
    )


def _metadata(done: Forgotten) -> dict[str, Any]:
    return {
        "tombstones": done.tombstones,
        "rows": sum(done.rows.values()),
        "rows_by_table": dict(done.rows),
        "reports": done.reports.count,
        "raw_files": done.raw.count,
        "raw_bytes": done.raw.size_bytes,
        "partition": done.partition,
        "sites_to_derive_again": list(done.stood_for_sites),
    }


def _stood_for_sites(site: str, tables: TableStore) -> list[str]:
    """Name the other sites with pages that one of this site's stands for."""
    found: set[str] = set()
    for table in _DUPLICATES:
        led_here = (pc.field("representative_site") == site) & (pc.field("site") != site)
        found.update(tables.read(table, columns=["site"], where=led_here)["site"].to_pylist())
    return sorted(found)


def _emptied(table: str, site: str, tables: TableStore) -> int:
    """Remove the site's rows of a table; give how many there were."""
    rows: int = tables.read(table, sites=[site], columns=["site"]).num_rows
    if rows:
        tables.replace(table, sites=[site], rows=TABLES[table].empty_table())
    return rows


def _removed(prefix: str, objects: ObjectStore) -> Swept:
    """Remove the objects under a prefix."""
    removed = objects.sweep(prefix)
    for stored in list(objects.list(prefix)):
        objects.delete(stored.key)
        removed += Swept(1, stored.size_bytes)
    return removed


def _partition_removed(site: str, catalog: SiteCatalog, instance: dg.DagsterInstance) -> str:
    try:
        is_listed = site in catalog.listed()
    except BadSettings as error:
        return f"The partition {site!r} stays, since sites.yaml cannot be read: {error}"
    if is_listed:
        return f"The partition {site!r} stays, since sites.yaml lists it: take it out of there, or it is crawled again."
    if not instance.has_dynamic_partition(str(sites.name), site):
        return f"There is no partition {site!r}."
    instance.delete_dynamic_partition(str(sites.name), site)
    return f"The partition {site!r} was removed."

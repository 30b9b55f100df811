"""The rig: a whole Isobath on a store of its own, with an ephemeral Dagster instance, for tests that crawl."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.links.chunk import LinkChunk
from pipelines.build import build
from pipelines.deployments import Deployment, settings_from
from resources.clock import SystemClock
from resources.duckdb_engine import DuckDBEngine
from resources.http_fetcher import HttpFetcher
from resources.ports import (
    Clock,
    DocumentWorkers,
    Fetcher,
    IndexSink,
    ObjectStore,
    RunNote,
    SiteSettings,
    TableStore,
    WorkFailure,
)
from resources.site_leases import SiteLeaseStore

AGENT = "Isobath/test (+https://example.org/bot)"


class DictCatalog:
    """A ``SiteCatalog`` of the test's own settings; loopback is allowed and there is no delay."""

    def __init__(self, entries: Mapping[str, SiteSettings]) -> None:
        self._entries = dict(entries)

    def settings(self, site: str) -> SiteSettings:
        """Give a site's settings."""
        return self._entries.get(site, SiteSettings(site, min_delay_s=0, allow_private_networks=True))

    def listed(self) -> Sequence[str]:
        """Give the sites with an entry."""
        return tuple(self._entries)


class SameProcessWorkers:
    """``DocumentWorkers`` without processes: fast, and without their limits."""

    def map(self, function: Callable[[Any], Any], documents: Iterable[Any]) -> Iterator[Any | WorkFailure]:
        """Run a function over documents."""
        return map(function, documents)

    def close(self) -> None:
        """Do nothing."""


class ParserBug(Exception):
    """The bug that a test plants."""


class BuggyWorkers(SameProcessWorkers):
    """Workers whose parser has a bug that one host brings out."""

    def __init__(self, host: str) -> None:
        self._host = host

    def map(self, function: Callable[[Any], Any], documents: Iterable[Any]) -> Iterator[Any]:
        """Run a function over documents; crash on the host's."""
        for document in documents:
            if isinstance(document, LinkChunk) and self._host in document.site and document.pages:
                raise ParserBug(f"planted for {document.site}")
            yield function(document)


class SilentProgress:
    """A ``Progress`` that remembers."""

    def __init__(self) -> None:
        self.notes: list[RunNote] = []

    def note(self, note: RunNote) -> None:
        """Remember a note."""
        self.notes.append(note)


@dataclass
class Rig:
    """Crawls through the job that users run."""

    objects: ObjectStore
    tables: TableStore
    store: str
    instance: dg.DagsterInstance
    catalog: DictCatalog = field(default_factory=lambda: DictCatalog({}))
    workers: DocumentWorkers = field(default_factory=SameProcessWorkers)
    sinks: list[IndexSink] = field(default_factory=list)
    fetcher: Fetcher | None = None
    max_depth: int = 3
    lease_s: float = 120.0
    progress: SilentProgress = field(default_factory=SilentProgress)
    clock: Clock = field(default_factory=SystemClock)

    def definitions(self) -> dg.Definitions:
        """Build the definitions on this rig's parts."""
        clock = self.clock
        settings = replace(settings_from({"ISOBATH_STORE": self.store}), max_depth=self.max_depth)
        parts = {
            "tables": self.tables,
            "objects": self.objects,
            "engine": DuckDBEngine(),
            "fetcher": self.fetcher or HttpFetcher(clock, user_agent=AGENT, max_open=16),
            "workers": self.workers,
            "clock": clock,
            "catalog": self.catalog,
            "leases": SiteLeaseStore(self.objects, clock, duration_s=self.lease_s),
            "progress": self.progress,
            "reports_url": "http://reports.test",
            "sinks": self.sinks,
        }
        return build(Deployment(settings, self.tables, self.objects, None, parts))  # type: ignore[arg-type]

    def crawl(
        self,
        site: str,
        *,
        seeds: Sequence[str] = (),
        select: Sequence[dg.AssetKey] | None = None,
        **config: Any,
    ) -> dg.ExecuteInProcessResult:
        """Materialize one site, all of it or some assets."""
        self.instance.add_dynamic_partitions("sites", [site])
        config = {**config, **({"seeds": list(seeds)} if seeds else {})}
        chosen = select is None or any(key not in _DERIVED for key in select)
        return (
            self.definitions()
            .resolve_job_def("crawl_site")
            .execute_in_process(
                instance=self.instance,
                partition_key=site,
                asset_selection=list(select) if select is not None else None,
                run_config=_run_config(config if chosen else None),
                raise_on_error=False,
            )
        )

    def refresh(self, site: str, **config: Any) -> dg.ExecuteInProcessResult:
        """Ask a site for what is due, and derive what changed."""
        return (
            self.definitions()
            .resolve_job_def("refresh_site")
            .execute_in_process(
                instance=self.instance,
                partition_key=site,
                run_config={
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                    "ops": {"refresh": {"config": config}},
                },
                raise_on_error=False,
            )
        )

    def crawl_range(
        self, sites: Sequence[str], select: Sequence[dg.AssetKey] | None = None, **config: Any
    ) -> dg.ExecuteInProcessResult:
        """Materialize many sites in one run, all of them or some assets."""
        self.instance.add_dynamic_partitions("sites", list(sites))
        derived_only = select is not None and all(key in _DERIVED for key in select)
        return (
            self.definitions()
            .resolve_job_def("crawl_site")
            .execute_in_process(
                instance=self.instance,
                asset_selection=list(select) if select is not None else None,
                tags={
                    "dagster/asset_partition_range_start": sites[0],
                    "dagster/asset_partition_range_end": sites[-1],
                },
                run_config=_run_config(None if derived_only else config),
                raise_on_error=False,
            )
        )

    def rows(self, table: str, site: str, **equals: Any) -> list[dict[str, Any]]:
        """Read rows of a site that have these values."""
        where = None
        for name, value in equals.items():
            clause = pc.field(name) == pa.scalar(value)
            where = clause if where is None else where & clause
        rows: list[dict[str, Any]] = self.tables.read(table, sites=[site], where=where).to_pylist()
        return rows


_DERIVED = {
    names.PAGES,
    names.EXACT_DUPLICATES,
    names.NEAR_DUPLICATES,
    names.INDEX_FEED,
    names.SITE_MAP,
    names.MAP_CHANGES,
    names.MAP_REPORT,
    names.PAGE_SCHEDULE,
}


def _run_config(crawl: Mapping[str, Any] | None) -> dict[str, Any]:
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    return quiet if crawl is None else {**quiet, "ops": {"crawl": {"config": dict(crawl)}}}


def failure_sentence(result: dg.ExecuteInProcessResult) -> str:
    """Give what the failed steps said."""
    said = []
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            told = data.user_failure_data.description if data.user_failure_data else None
            said.append(told or str(data.error and data.error.to_string()))
    return "\n".join(said)


def site_of(server: AbstractContextManager[Any]) -> str:
    """Give the site key of a loopback server."""
    return str(server.host)  # type: ignore[attr-defined]

"""Deployments: the only place that reads the environment and picks the parts behind the ports.

The variables are those of ``VARIABLES``; the README shows them in one table.
"""

import hashlib
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from assets.feed.chunking import ChunkSize, Unit
from assets.fetch.request import user_agent
from assets.schemas import TABLES
from pipelines.alert_settings import ALERT_VARIABLES, AlertSettings, alert_settings_from, alert_sinks
from pipelines.project import PROJECT
from pipelines.sinks import SINK_VARIABLES, server_sinks, sink_addresses
from resources.clock import SystemClock
from resources.delta_tables import DeltaTables
from resources.document_workers import ProcessWorkers
from resources.duckdb_engine import DuckDBEngine
from resources.errors import BadSettings
from resources.folder_objects import FolderObjects
from resources.http_dialing import trusting_context
from resources.http_fetcher import HttpFetcher
from resources.http_proxy import Proxy
from resources.logged_progress import LoggedProgress
from resources.ports import AlertSink, ObjectStore, Progress
from resources.ports.catalog import MAX_DEPTH_LIMIT
from resources.s3_objects import S3Objects
from resources.site_catalog import YamlCatalog
from resources.site_leases import SiteLeaseStore
from resources.spark_engine import SparkEngine
from resources.tantivy_index import TantivyIndex

WORKER_PRELOAD: Final = ("assets.links.chunk", "assets.extract.extractor", "assets.extract.language_model")

VARIABLES: Final[Mapping[str, str]] = {
    "ISOBATH_STORE": "where everything is kept: a folder or s3://bucket/prefix (default: data in the project)",
    "ISOBATH_SITES": "the site catalog (default: sites.yaml in the project)",
    "ISOBATH_MAX_DEPTH": f"layers of the asset graph beyond the seeds, 0 to {MAX_DEPTH_LIMIT} (default: 3)",
    "ISOBATH_CONTACT_URL": "page or mailto: that User-Agent names, so that webmasters can reach you",
    "ISOBATH_OPEN_REQUESTS": "requests that may be open at once, over all hosts (default: 512)",
    "ISOBATH_PROXY": "http://[user:password@]host[:port], through which all pages are fetched (default: none)",
    "ISOBATH_REQUESTS_PER_DAY": "requests for recrawls of all sites together; a site without a budget or target of its "
    "own has its share by worth (default: no such limit; such a site then has one request a page in 30 days)",
    "ISOBATH_ENGINE": "what joins and compares pages: duckdb, in the process, or spark (default: duckdb)",
    "ISOBATH_WORKERS": "worker processes for parsing and extraction (default: one a core)",
    "ISOBATH_LEASE_S": "seconds for which a killed run keeps its sites busy (default: 60)",
    "ISOBATH_KEEP_VERSIONS_DAYS": "days for which maintenance keeps old versions of tables readable (default: 7)",
    "ISOBATH_KEEP_RUNS_DAYS": "days for which maintenance keeps ended runs in Dagster's history (default: 90)",
    "ISOBATH_INDEX": "local folder of the full-text index (default: index in the store, or data/index for S3)",
    "ISOBATH_EMBEDDED_INDEX": "off switches the embedded full-text index off (default: on)",
    **ALERT_VARIABLES,
    "ISOBATH_CHUNKS": "longest chunk for retrieval, as 2000 or 400 tokens: adds the asset feed/chunks (default: off)",
    **SINK_VARIABLES,
    "ISOBATH_REPORTS_URL": "where links in the Dagster UI find reports (default: http://127.0.0.1:3001, as isobath ui)",
    "ISOBATH_BROKER": "of several machines: URL of the Redis through which workers get runs (docs: deploy/README.md)",
    "ISOBATH_DAGSTER_POSTGRES": "of several machines: SQLAlchemy's URL of Dagster's database (docs: deploy/README.md)",
}
REPORTS_PORT: Final = 3001
DEFAULT_CONTACT_URL: Final = "https://example.org/isobath"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says."""

    store: str
    sites_file: Path
    max_depth: int
    contact_url: str
    open_requests: int
    worker_processes: int | None
    lease_s: int
    index_folder: Path | None  # None: no embedded index
    proxy: Proxy | None = None
    requests_per_day: int | None = None  # of all sites together; None: each has only its own budget
    keep_versions_days: int = 7
    keep_runs_days: int = 90
    engine: str = "duckdb"
    reports_url: str = f"http://127.0.0.1:{REPORTS_PORT}"
    chunks: ChunkSize | None = None  # None: no such asset
    sinks: Mapping[str, str] = field(default_factory=dict)  # addresses by variable
    authorities: str = ""  # file of the certificates that TLS trusts; empty: those of certifi
    alerts: AlertSettings = field(default_factory=AlertSettings)


@dataclass(frozen=True, slots=True)
class Deployment:
    """The parts of one deployment. Making them asks nothing of the world."""

    settings: Settings
    tables: DeltaTables
    objects: ObjectStore
    index: TantivyIndex | None
    resources: Mapping[str, Any]  # Dagster resource key -> part
    alerts: tuple[AlertSink, ...] = ()


def settings_from(environment: Mapping[str, str]) -> Settings:
    """Read the settings.

    Raises:
        BadSettings: names the variable, its value and what it may be.
    """
    store = environment.get("ISOBATH_STORE") or str(PROJECT / "data")
    if "://" in store and not store.startswith("s3://"):
        raise BadSettings(f"ISOBATH_STORE={store}: use a folder or s3://bucket/prefix")
    if store.startswith("s3://") and not store.removeprefix("s3://").strip("/"):
        raise BadSettings(f"ISOBATH_STORE={store} names no bucket: use s3://bucket/prefix")
    index: Path | None = None
    if environment.get("ISOBATH_EMBEDDED_INDEX", "on").lower() not in ("off", "0", "false", "no"):
        index = Path(environment.get("ISOBATH_INDEX") or _default_index(store))
    workers = environment.get("ISOBATH_WORKERS")
    budget = environment.get("ISOBATH_REQUESTS_PER_DAY")
    return Settings(
        store=store,
        sites_file=Path(environment.get("ISOBATH_SITES") or PROJECT / "sites.yaml"),
        max_depth=_number(environment, "ISOBATH_MAX_DEPTH", 3, 0, MAX_DEPTH_LIMIT),
        contact_url=environment.get("ISOBATH_CONTACT_URL") or DEFAULT_CONTACT_URL,
        open_requests=_number(environment, "ISOBATH_OPEN_REQUESTS", 512, 1, 10_000),
        worker_processes=_number(environment, "ISOBATH_WORKERS", 1, 1, 256) if workers else None,
        lease_s=_number(environment, "ISOBATH_LEASE_S", 60, 1, 86_400),
        index_folder=index,
        proxy=_proxy(environment.get("ISOBATH_PROXY")),
        requests_per_day=_number(environment, "ISOBATH_REQUESTS_PER_DAY", 0, 0, 10**9) if budget else None,
        keep_versions_days=_number(environment, "ISOBATH_KEEP_VERSIONS_DAYS", 7, 0, 36_500),
        keep_runs_days=_number(environment, "ISOBATH_KEEP_RUNS_DAYS", 90, 1, 36_500),
        engine=_engine_name(environment),
        reports_url=(environment.get("ISOBATH_REPORTS_URL") or f"http://127.0.0.1:{REPORTS_PORT}").rstrip("/"),
        chunks=_chunk_size(environment.get("ISOBATH_CHUNKS", "")),
        sinks=sink_addresses(environment),
        authorities=environment.get("SSL_CERT_FILE", ""),
        alerts=alert_settings_from(environment),
    )


def environment_settings(*, store: str | None = None) -> Settings:
    """Read the settings of this process; ``store`` wins over the variable.

    Raises:
        BadSettings: names the variable, its value and what it may be.
    """
    if store is None:
        return settings_from(os.environ)
    named = store if "://" in store else str(Path(store).absolute())
    # The index of another store is another index.
    inherited = {name: value for name, value in os.environ.items() if name != "ISOBATH_INDEX"}
    return settings_from({**inherited, "ISOBATH_STORE": named})


def deploy(settings: Settings, *, progress: Progress | None = None) -> Deployment:
    """Pick the parts for settings."""
    clock = SystemClock()
    objects = _objects(settings.store)
    tables = DeltaTables(f"{settings.store.rstrip('/')}/tables", TABLES, storage_options=_delta_options(settings.store))
    index = TantivyIndex(settings.index_folder) if settings.index_folder else None
    agent = user_agent(version("isobath"), settings.contact_url)
    return Deployment(
        settings=settings,
        tables=tables,
        objects=objects,
        index=index,
        resources={
            "tables": tables,
            "objects": objects,
            "engine": SparkEngine() if settings.engine == "spark" else DuckDBEngine(),
            "fetcher": HttpFetcher(
                clock,
                user_agent=agent,
                max_open=settings.open_requests,
                tls=_tls(settings.authorities),
                proxy=settings.proxy,
            ),
            "workers": ProcessWorkers(settings.worker_processes, preload=WORKER_PRELOAD),
            "clock": clock,
            "catalog": YamlCatalog(settings.sites_file),
            "leases": SiteLeaseStore(objects, clock, duration_s=settings.lease_s),
            "reports_url": settings.reports_url,
            "progress": progress or LoggedProgress(clock),
            "sinks": [*([index] if index else []), *server_sinks(settings.sinks, objects)],
        },
        alerts=alert_sinks(settings.alerts, authorities=settings.authorities),
    )


def split_s3(store: str) -> tuple[str, str]:
    """Split ``s3://bucket/prefix``.

    >>> split_s3("s3://crawls/eu/")
    ('crawls', 'eu')
    """
    bucket, _, prefix = store.removeprefix("s3://").partition("/")
    return bucket, prefix.strip("/")


def _objects(store: str) -> ObjectStore:
    if store.startswith("s3://"):
        return S3Objects(*split_s3(store))
    return FolderObjects(Path(store))


def _delta_options(store: str) -> dict[str, str]:
    if not store.startswith("s3://"):
        return {}
    # boto3 finds the endpoint by itself; delta-rs wants to be told that plain HTTP is meant.
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    options = {"aws_conditional_put": "etag"}
    if endpoint:
        options |= {"AWS_ENDPOINT_URL": endpoint}
    if endpoint.startswith("http://"):
        options |= {"AWS_ALLOW_HTTP": "true"}
    return options


def _default_index(store: str) -> Path:
    if not store.startswith("s3://"):
        return Path(store) / "index"
    # The index of an S3 store is a local copy, one a store; it rebuilds itself from the feed.
    return PROJECT / "data" / f"index-{hashlib.sha256(store.rstrip('/').encode()).hexdigest()[:12]}"


def _proxy(url: str | None) -> Proxy | None:
    try:
        return Proxy.of(url) if url else None
    except ValueError:
        # Neither the value nor the cause is shown: there may be a password in it.
        raise BadSettings("ISOBATH_PROXY names no proxy: use http://[user:password@]host[:port]") from None


def _engine_name(environment: Mapping[str, str]) -> str:
    name = environment.get("ISOBATH_ENGINE") or "duckdb"
    if name not in ("duckdb", "spark"):
        raise BadSettings(f"ISOBATH_ENGINE={name}: use duckdb or spark")
    return name


def _chunk_size(text: str) -> ChunkSize | None:
    if text.strip().lower() in ("", "off"):
        return None
    most, _, unit = text.strip().partition(" ")
    try:
        return ChunkSize(int(most), Unit(unit.strip() or Unit.CHARACTERS))
    except ValueError as error:
        raise BadSettings(f"ISOBATH_CHUNKS={text}: use a number from 16 on, of characters or tokens, or off") from error


def _tls(authorities: str) -> ssl.SSLContext:
    try:
        return trusting_context(authorities)
    except OSError as error:
        raise BadSettings(f"SSL_CERT_FILE={authorities}: no certificates can be read there: {error}") from error


def _number(environment: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = environment.get(name)
    if not text:
        return default
    if not text.strip().isdecimal() or not least <= int(text) <= most:
        raise BadSettings(f"{name}={text}: use a whole number from {least} to {most}")
    return int(text)

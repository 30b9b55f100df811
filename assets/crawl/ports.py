"""The ports that a crawl needs, as one value."""

from dataclasses import dataclass

from resources.ports import (
    Clock,
    DocumentWorkers,
    Fetcher,
    ObjectStore,
    Progress,
    QueryEngine,
    SiteCatalog,
    SiteLeases,
    TableStore,
)


@dataclass(frozen=True, slots=True)
class CrawlPorts:
    """All that touches the world during a crawl."""

    tables: TableStore
    objects: ObjectStore
    engine: QueryEngine
    fetcher: Fetcher
    workers: DocumentWorkers
    clock: Clock
    catalog: SiteCatalog
    leases: SiteLeases
    progress: Progress

"""Ports: what assets may ask of the world. Protocols and the values that cross them, nothing that runs.

``resources/`` holds the parts that fit them; ``pipelines/deployments.py`` picks the parts.
"""

from resources.ports.alerts import Alert, AlertSink, FailedPlace
from resources.ports.catalog import SiteCatalog, SiteSettings
from resources.ports.clock import Clock
from resources.ports.engine import QueryEngine
from resources.ports.fetching import Fetcher, FetchFailure, FetchRequest, FetchResponse, Truncation
from resources.ports.leases import Lease, SiteLeases
from resources.ports.objects import ObjectInfo, ObjectStore
from resources.ports.progress import Ending, HostWait, Progress, RunNote, SiteNote, WaitReason
from resources.ports.sinks import FeedBatch, IndexDocument, IndexSink, SearchFilter, SearchHit, SearchIndex
from resources.ports.tables import Compacted, TableStore, Vacuumed
from resources.ports.workers import DocumentWorkers, WorkFailure

__all__ = [
    "Alert",
    "AlertSink",
    "Clock",
    "Compacted",
    "DocumentWorkers",
    "Ending",
    "FailedPlace",
    "FeedBatch",
    "FetchFailure",
    "FetchRequest",
    "FetchResponse",
    "Fetcher",
    "HostWait",
    "IndexDocument",
    "IndexSink",
    "Lease",
    "ObjectInfo",
    "ObjectStore",
    "Progress",
    "QueryEngine",
    "RunNote",
    "SearchFilter",
    "SearchHit",
    "SearchIndex",
    "SiteCatalog",
    "SiteLeases",
    "SiteNote",
    "SiteSettings",
    "TableStore",
    "Truncation",
    "Vacuumed",
    "WaitReason",
    "WorkFailure",
]

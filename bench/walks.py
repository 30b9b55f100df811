"""Walks of benchmarks: the stages of crawls in this process, without Dagster, and with nobody who watches."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from assets import names
from assets.crawl.background import Background
from assets.crawl.config import CrawlConfig
from assets.crawl.ports import CrawlPorts
from assets.crawl.walk import WalkEvent, WalkPlan, walk_sites
from pipelines.deployments import deploy, settings_from
from resources.ports import RunNote


class Silent:
    """A progress that nobody watches."""

    def note(self, note: RunNote) -> None:
        """Do nothing."""


@contextlib.contextmanager
def ports_of(environment: Mapping[str, str], **instead: Any) -> Iterator[CrawlPorts]:
    """Give the ports of a deployment, and stop its workers at the end.

    Args:
        environment: ``ISOBATH_*`` settings, and no others.
        instead: ports to take in place of the deployment's.
    """
    parts = deploy(settings_from(environment), progress=Silent()).resources
    ports = CrawlPorts(**{field.name: parts[field.name] for field in fields(CrawlPorts)})
    try:
        yield replace(ports, **instead)
    finally:
        parts["workers"].close()


def walk(
    ports: CrawlPorts, sites: Sequence[str], config: CrawlConfig, *, depth: int, reports: bool = True
) -> Iterator[WalkEvent]:
    """Crawl sites from the seed check to the links of a depth.

    Args:
        reports: whether the crawls are ended by their reports.
    """
    keys = [names.SEED_CHECK, *(key for step in range(depth + 1) for key in names.depth(step).stages)]
    plan = WalkPlan(sites, [*keys, names.CRAWL_REPORT] if reports else keys, config, depth, "bench")
    yield from Background().run(lambda: walk_sites(plan, ports))

"""Isobath in the crawl speed benchmark: frontier, raw batches and links of one site, on a fresh store in a folder.

Prints one JSON line: pages, seconds, and the most memory that this process and its workers held.
"""

import json
import resource
import sys
import time
from pathlib import Path

from assets import names
from assets.crawl.background import Background
from assets.crawl.config import CrawlConfig
from assets.crawl.frontier_stage import start_engine
from assets.crawl.links_stage import start_workers
from assets.crawl.ports import CrawlPorts
from assets.crawl.walk import SiteFailed, WalkPlan, walk_sites
from assets.url.host import host_key
from pipelines.deployments import deploy, settings_from
from resources.ports import RunNote

DEPTH = 6  # as deep as the sites that are measured


class _Silent:
    def note(self, note: RunNote) -> None:
        return


def main() -> None:
    """Crawl one site."""
    url, store = sys.argv[1], Path(sys.argv[2])
    deployment = deploy(settings_from({"ISOBATH_STORE": str(store)}), progress=_Silent())
    parts = {name: part for name, part in deployment.resources.items() if name != "sinks"}
    keys = [key for depth in range(DEPTH + 1) for key in names.depth(depth).stages]
    config = CrawlConfig(max_depth=DEPTH, max_pages=1_000_000, min_delay_s=0, allow_private_networks=True, seeds=[url])
    site = host_key(url).partition("://")[2]
    plan = WalkPlan([site], [names.SEED_CHECK, *keys, names.CRAWL_REPORT], config, DEPTH, "bench")
    # As the peer has imported all it needs when its clock starts, so have worker processes and query engine.
    start_workers(deployment.resources["workers"])
    start_engine(deployment.resources["engine"])
    began = time.perf_counter()
    pages = 0
    for event in Background().run(lambda: walk_sites(plan, CrawlPorts(**parts))):
        if isinstance(event, RunNote):
            continue
        if isinstance(event, SiteFailed):
            raise SystemExit(event.trace)
        if event.key == names.CRAWL_REPORT:
            pages = event.result.rows_out
    seconds = time.perf_counter() - began
    deployment.resources["workers"].close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps({"pages": pages, "seconds": seconds, "peak_kib": peak}))


if __name__ == "__main__":
    main()

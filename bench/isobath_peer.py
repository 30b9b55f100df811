"""Isobath in the crawl speed benchmark: frontier, raw batches and links of one site, on a fresh store in a folder.

Prints one JSON line: pages, seconds, and the most memory that this process and its workers held.
"""

import json
import resource
import sys
import time
from pathlib import Path

from assets import names
from assets.crawl.config import CrawlConfig
from assets.crawl.frontier_stage import start_engine
from assets.crawl.links_stage import start_workers
from assets.crawl.walk import SiteFailed, StageDone
from assets.url.host import host_key
from bench.walks import ports_of, walk

DEPTH = 6  # as deep as the sites that are measured


def main() -> None:
    """Crawl one site."""
    url, store = sys.argv[1], Path(sys.argv[2])
    config = CrawlConfig(max_depth=DEPTH, max_pages=1_000_000, min_delay_s=0, allow_private_networks=True, seeds=[url])
    pages = 0
    with ports_of({"ISOBATH_STORE": str(store)}) as ports:
        # As the peer has imported all it needs when its clock starts, so have worker processes and query engine.
        start_workers(ports.workers)
        start_engine(ports.engine)
        began = time.perf_counter()
        for event in walk(ports, [host_key(url).partition("://")[2]], config, depth=DEPTH):
            if isinstance(event, SiteFailed):
                raise SystemExit(event.trace)
            if isinstance(event, StageDone) and event.key == names.CRAWL_REPORT:
                pages = event.result.rows_out
        seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps({"pages": pages, "seconds": seconds, "peak_kib": peak}))


if __name__ == "__main__":
    main()

"""Frontier memory: what a crawl holds while a million pages wait to be fetched.

``python -m bench.frontier_memory [--hubs 1000] [--pages 1000] [--fetch 20000] [--at-most-mib 1536]`` crawls a made-up
site whose start page leads to hubs, and each hub to pages of its own, without a network. It goes on until so many of
those pages are fetched, and prints the peak memory of the process after each stage. It ends with exit code 1 when that
is more than it may be.
"""

import argparse
import re
import resource
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from assets.crawl.config import CrawlConfig
from assets.crawl.walk import SiteFailed, StageDone
from bench.walks import ports_of, walk
from resources.ports import FetchRequest, FetchResponse

SITE: Final = "wide.example.org"
HOSTS: Final = 100
DEPTH: Final = 2
_HUB: Final = re.compile(r"/hub-(\d+)$")


class Enough(Exception):
    """As many pages as were wanted have been fetched."""


class MadeUpSite:
    """A ``Fetcher`` of a site that is made up as it is asked."""

    user_agent = "Isobath/bench (+https://example.org/bench)"
    max_open = 64

    def __init__(self, hubs: int, pages: int, enough: int) -> None:
        self._hubs = hubs
        self._pages = pages
        self._left = enough

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Answer with a hub, or a page."""
        url = request.url
        body = "<p>A page."
        if url.endswith(("/robots.txt", "/sitemap.xml")):
            return self._answer(request, 404, "")
        if url == f"http://{SITE}/":
            body = "".join(f'<a href="/hub-{hub}">hub</a>' for hub in range(self._hubs))
        elif hub := _HUB.search(url):
            host = f"h{int(hub[1]) % HOSTS}.{SITE}"
            body = "".join(
                f'<a href="http://{host}/section-{hub[1]}/a-page-with-a-name-{page}.html">page</a>'
                for page in range(self._pages)
            )
        else:
            self._left -= 1
            if self._left < 0:
                raise Enough
        return self._answer(request, 200, f"<title>{url}</title>{body}")

    def _answer(self, request: FetchRequest, status: int, body: str) -> FetchResponse:
        head = f"GET {request.url} HTTP/1.1\r\n\r\n".encode()
        headers = (("Content-Type", "text/html"), ("Content-Length", str(len(body))))
        return FetchResponse(
            request, datetime.now(UTC), 1, head, status=status, reason="OK", headers=headers, body=body.encode()
        )

    async def close(self) -> None:
        """Do nothing."""


def main() -> None:
    """Crawl until enough is fetched."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hubs", type=int, default=1_000)
    parser.add_argument("--pages", type=int, default=1_000, help="of a hub")
    parser.add_argument("--fetch", type=int, default=20_000, help="pages to fetch before the end")
    parser.add_argument("--at-most-mib", type=int, default=1_536, help="the peak may be so high")
    arguments = parser.parse_args()
    table = Table("stage", "rows", "seconds", "peak MiB so far", title_justify="left")
    fetcher = MadeUpSite(arguments.hubs, arguments.pages, arguments.fetch)
    config = CrawlConfig(max_depth=DEPTH, max_pages=10_000_000, min_delay_s=0, seeds=[f"http://{SITE}/"])
    with (
        tempfile.TemporaryDirectory() as store,
        ports_of({"ISOBATH_STORE": str(Path(store, "store"))}, fetcher=fetcher) as ports,
    ):
        began = time.perf_counter()
        table.add_row("start", "", "", _peak())
        for event in walk(ports, [SITE], config, depth=DEPTH, reports=False):
            if isinstance(event, SiteFailed):
                if not isinstance(event.error, Enough):
                    raise SystemExit(event.trace)
                table.add_row(f"{arguments.fetch} pages of the last layer", "", _since(began), _peak())
            elif isinstance(event, StageDone):
                table.add_row(event.key.to_user_string(), str(event.result.rows_out), _since(began), _peak())
    Console(soft_wrap=True).print(table)
    if _peak_mib() > arguments.at_most_mib:
        raise SystemExit(f"the peak is {_peak()} MiB, and may be {arguments.at_most_mib} MiB")


def _since(began: float) -> str:
    return f"{time.perf_counter() - began:.1f}"


def _peak() -> str:
    return f"{_peak_mib():.0f}"


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()

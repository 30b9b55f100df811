"""The demo: a small site of our own, served on loopback by this process and crawled."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from pipelines.cli.crawl import CrawlRequest, crawl_site
from pipelines.served import Served

SITE: Final = Path(__file__).resolve().parent.parent / "demo_site"
# One port, so that the demo is the same site each time; another if it is taken.
USUAL_PORT: Final = 8017


class _QuietHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def demo_server() -> Iterator[str]:
    """Serve the demo site on 127.0.0.1; give its address."""
    handler = partial(_QuietHandler, directory=str(SITE))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", USUAL_PORT), handler)
    except OSError:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with Served(server):
        yield f"http://127.0.0.1:{server.server_port}/"


def crawl_demo_site(*, store: str | None) -> int:
    """Crawl the demo site; give the exit code."""
    with demo_server() as url:
        request = CrawlRequest(url=url, max_depth=3, min_delay_s=0, allow_private_networks=True)
        return crawl_site(request, store=store, as_json=False)

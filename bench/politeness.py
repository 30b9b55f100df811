"""Politeness: many hosts at once in one run, each asked as often as it may be and never sooner.

``python -m bench.politeness [--hosts 500] [--pages 300] [--latency-ms 300]`` starts a server on loopback that answers
for that many hosts (127.x.y.z) after the latency, crawls them all in one run with a delay of one second, and holds the
server's own log against the rule. Prints the rate beside the ideal one, hosts / (delay + latency), and the requests
that came too early; exits 1 when there are any, or when the rate is below 90 %.

The rate is that of the time in which all hosts have pages to be asked for: from the moment when the last site's first
layer is being fetched until the first site is done. Before that, sites wait for their tables, which is told beside it.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from assets import names
from assets.crawl.config import CrawlConfig
from assets.crawl.walk import SiteFailed, StageDone
from bench.walks import ports_of, walk

DELAY_S: Final = 1.0
LEAST_SHARE: Final = 0.9
CLOCK_SLACK_S: Final = 0.002  # between two clocks' readings of one moment
DEPTH: Final = 1
BEFORE_PAGES: Final = 3  # requests of a host before those of its first layer: robots.txt, sitemap.xml, the start page


def main() -> None:
    """Crawl all hosts, and judge by the server's log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--pages", type=int, default=300, help="of a host, its start page not counted")
    parser.add_argument("--latency-ms", type=int, default=300)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve(arguments.pages, arguments.latency_ms / 1000, arguments.serve))
        return
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch, "log.json")
        command = [sys.executable, "-m", "bench.politeness", "--serve", str(log)]
        command += ["--pages", str(arguments.pages), "--latency-ms", str(arguments.latency_ms)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            port = int(server.stdout.readline())
            sites = [f"127.{1 + n // 62500}.{n // 250 % 250}.{1 + n % 250}:{port}" for n in range(arguments.hosts)]
            began = time.perf_counter()
            pages, failures = crawl(sites, Path(scratch, "store"))
            seconds = time.perf_counter() - began
            server.stdin.close()
            server.wait(30)
        asked = json.loads(log.read_text(encoding="utf-8"))
    early, share, rate, ideal = judged(asked, arguments.latency_ms / 1000)
    begun_s = busy_since(asked) - min(times[0][0] for times in asked.values())
    table = Table("measure", "value", title=f"{arguments.hosts} hosts, {DELAY_S:g} s delay", title_justify="left")
    for name, value in (
        ("pages", f"{pages} of {arguments.hosts * (arguments.pages + 1)}"),
        ("sites failed", failures),
        ("requests a second while all hosts have pages", f"{rate:.1f}"),
        ("ideal", f"{ideal:.1f}"),
        ("share of the ideal", f"{share:.1%}"),
        ("until all hosts had pages", f"{begun_s:.1f} s, {begun_s / arguments.hosts:.2f} s a site"),
        ("requests too early", early),
        ("whole run", f"{seconds:.1f} s"),
        ("CPU of the main process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_utime:.1f} s"),
        ("peak memory of the main process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"),
    ):
        table.add_row(name, str(value))
    Console(soft_wrap=True).print(table)
    if early or failures or share < LEAST_SHARE:
        raise SystemExit(1)


def crawl(sites: Sequence[str], store: Path) -> tuple[int, int]:
    """Crawl sites in one run; give pages read and sites failed."""
    store.mkdir()
    catalog = store / "sites.yaml"
    manners = {"min_delay_s": DELAY_S, "max_delay_s": DELAY_S, "allow_private_networks": True}
    listed = {site: {"seeds": [f"http://{site}/"], **manners} for site in sites}
    catalog.write_text(json.dumps({"sites": listed}), encoding="utf-8")
    pages = failures = 0
    with ports_of({"ISOBATH_STORE": str(store), "ISOBATH_SITES": str(catalog)}) as ports:
        for event in walk(ports, sites, CrawlConfig(max_depth=DEPTH), depth=DEPTH):
            if isinstance(event, SiteFailed):
                failures += 1
                print(f"{event.site}: {event.reason}", file=sys.stderr)
            elif isinstance(event, StageDone) and event.key == names.CRAWL_REPORT:
                pages += event.result.rows_out
    return pages, failures


def judged(asked: dict[str, list[list[float]]], latency_s: float) -> tuple[int, float, float, float]:
    """Hold the server's log against the rule.

    Args:
        asked: by host, when each request came and when its answer was gone, in order.
        latency_s: of each answer.

    Returns:
        requests that came too early, share of the ideal rate, that rate and the ideal, in requests a second.
    """
    early = sum(
        later[0] - earlier[1] < DELAY_S - CLOCK_SLACK_S
        for times in asked.values()
        for earlier, later in pairwise(times)
    )
    start = busy_since(asked)
    end = min(times[-1][0] for times in asked.values())
    if end <= start:
        raise SystemExit(f"the first host was done {start - end:.0f} s before the last began: use more --pages")
    count = sum(start <= time[0] < end for times in asked.values() for time in times)
    rate, ideal = count / (end - start), len(asked) / (DELAY_S + latency_s)
    return early, rate / ideal, rate, ideal


def busy_since(asked: dict[str, list[list[float]]]) -> float:
    """Give the moment from which on all hosts have pages to be asked for."""
    return max(times[BEFORE_PAGES][0] for times in asked.values())


async def serve(pages: int, latency_s: float, log: Path) -> None:
    """Answer for every address of this machine until standard input ends; then write when each host was asked."""
    asked: dict[str, list[tuple[float, float]]] = {}
    start = "".join(f'<a href="/p{n}">{n}</a>' for n in range(pages))
    page = "A page of some size, with text. " * 100

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                came = time.monotonic()
                path = head.split(b" ", 2)[1].decode()
                host = head.lower().partition(b"\r\nhost: ")[2].partition(b"\r\n")[0].decode()
                await asyncio.sleep(latency_s)
                missing = path in ("/robots.txt", "/sitemap.xml")
                body = b"" if missing else f"<title>{host}{path}</title>{start if path == '/' else page}".encode()
                status = "404 Not Found" if missing else "200 OK"
                lines = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
                # Before it is sent: the other side may read its clock before this process gets on.
                asked.setdefault(host, []).append((came, time.monotonic()))
                writer.write(lines.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "0.0.0.0", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()
    log.write_text(json.dumps(asked), encoding="utf-8")


if __name__ == "__main__":
    main()

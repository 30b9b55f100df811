"""The peer of the crawl speed benchmark: Scrapy as its users run it, its responses written to WARC by warcio.

Runs in a Python of its own (``bench/crawl_speed.py --scrapy PYTHON``): Scrapy is no dependency of Isobath. Prints one
JSON line: pages, seconds, and the most memory that the process held.
"""

import json
import resource
import sys
import time
from io import BytesIO

import scrapy  # type: ignore[import-not-found]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found]
from scrapy.spiders import CrawlSpider, Rule  # type: ignore[import-not-found]
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


class Peer(CrawlSpider):  # type: ignore[misc]
    """Follows every link of one site and keeps every answer."""

    name = "peer"
    rules = (Rule(LinkExtractor(), callback="keep", follow=True),)

    def __init__(self, start: str, warc: str) -> None:
        super().__init__()
        self.start_urls = [start]
        self.allowed_domains = [start.split("/")[2].split(":")[0]]
        self._stream = open(warc, "wb")  # noqa: SIM115, PTH123
        self._writer = WARCWriter(self._stream, gzip=True)
        self.pages = 0

    def parse_start_url(self, response: "scrapy.http.Response", **_: object) -> None:
        """Keep the first page too."""
        self.keep(response)

    def keep(self, response: "scrapy.http.Response") -> None:
        """Write an answer and what makes a row of it."""
        headers = [(k.decode(), v.decode("latin-1")) for k, vs in response.headers.items() for v in vs]
        record = self._writer.create_warc_record(
            response.url,
            "response",
            payload=BytesIO(response.body),
            http_headers=StatusAndHeaders(f"{response.status} OK", headers, protocol="HTTP/1.1"),
        )
        self._writer.write_record(record)
        self.pages += 1


def main() -> None:
    """Crawl one site."""
    start, warc = sys.argv[1:3]
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": True,
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "AUTOTHROTTLE_ENABLED": False,
        }
    )
    began = time.perf_counter()
    crawler = process.create_crawler(Peer)
    process.crawl(crawler, start, warc)
    process.start()
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"pages": crawler.spider.pages, "seconds": seconds, "peak_kib": peak}))


if __name__ == "__main__":
    main()

"""Crawls in situations that other crawlers are known to have got wrong: bodies that break off, loops, guards, 304."""

import gzip
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from assets import names
from resources.clock import SystemClock
from resources.http_fetcher import HttpFetcher
from resources.ports import FetchRequest, FetchResponse, SiteSettings
from tests.support.loopback import LoopbackSite, Page
from tests.support.rig import AGENT, DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

# What they try is the same whatever the store; those of stores run on both.
pytestmark = [pytest.mark.slow, in_a_folder]


def settings(site: LoopbackSite, *, max_depth: int = 1) -> DictCatalog:
    entry = SiteSettings(
        site.host, seeds=(site.url("/"),), min_delay_s=0, allow_private_networks=True, max_depth=max_depth
    )
    return DictCatalog({site.host: entry})


class BreakingSite(LoopbackSite):
    """A site whose page /story can be made to break off in the middle."""

    is_broken = False

    def page(self, path: str) -> Page:
        page = super().page(path)
        if path != "/story" or not self.is_broken:
            return page
        chunks = f"28\r\n{str(page.body)[:0x28]}\r\nno chunk at all\r\n"
        return replace(page, body=chunks, headers=(("Transfer-Encoding", "chunked"),))


def test_a_body_that_breaks_off_is_asked_once_more_and_kept_as_cut(rig: Rig) -> None:
    story = "<title>Story</title><article><p>" + "A long story of the sea and its many tides. " * 20 + "</article>"
    with BreakingSite({"/": Page('<a href="/story">story</a>'), "/story": Page(story)}) as site:
        rig.catalog = settings(site)
        assert rig.crawl(site.host).success
        site.is_broken = True
        result = rig.crawl(site.host)
        assert result.success, failure_sentence(result)
        asked = site.paths_seen().count("/story")
    cut = rig.rows(names.T_FETCHES, site.host, outcome="truncated")
    assert [(row["truncated"], row["attempt"], row["record_type"]) for row in cut] == [
        ("disconnect", 1, "response"),
        ("disconnect", 2, "response"),
    ]
    assert asked == 3
    file = rig.objects.get(cut[0]["warc_file"])
    start, length = cut[0]["warc_offset"], cut[0]["warc_bytes"]
    assert b"WARC-Truncated: disconnect\r\n" in gzip.decompress(file[start : start + length])


def test_a_page_that_redirects_to_itself_until_it_has_its_cookie_is_fetched_and_one_without_end_is_a_loop(
    rig: Rig,
) -> None:
    endless = Page("", 302, (("Location", "/endless"), ("Set-Cookie", "seen=1; Path=/")))
    home = Page('<a href="/_/cookie-wall">wall</a><a href="/endless">endless</a>')
    with LoopbackSite({"/": home, "/endless": endless}) as site:
        rig.catalog = settings(site)
        assert rig.crawl(site.host).success
    rows = rig.rows(names.T_FETCHES, site.host, layer="depth_1", purpose="page")
    rows.sort(key=lambda row: (row["url"], row["hop"]))
    chain = [(row["url"].removeprefix(site.url("")), row["hop"], row["outcome"], row["reason"]) for row in rows]
    assert chain == [
        ("/_/cookie-wall", 0, "redirected", ""),
        ("/_/cookie-wall", 1, "fetched", ""),
        ("/endless", 0, "redirected", ""),
        ("/endless", 1, "redirected", "redirect_loop"),
    ]


class OneHostOpen:
    """A ``Fetcher`` in whose world one host of this machine is public and all others are guarded."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._inner = HttpFetcher(SystemClock(), user_agent=AGENT, resolve=lambda host: ["127.0.0.1"])
        self.user_agent = AGENT
        self.max_open = 4

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        is_open = urlsplit(request.url).hostname == self._host
        return await self._inner.fetch(replace(request, allow_private_networks=is_open))

    async def close(self) -> None:
        await self._inner.close()


@pytest.mark.parametrize("way", ["redirect", "refresh", "link"])
def test_whatever_leads_to_a_host_that_resolves_to_a_private_address_it_is_not_asked(rig: Rig, way: str) -> None:
    with LoopbackSite() as site:
        port = site.host.rpartition(":")[2]
        inside = f"http://inside.example.org:{port}/secret"
        site.pages = {
            "/": Page('<a href="/way">on</a>'),
            "/secret": Page("<p>Secret."),
            "/way": {
                "redirect": Page("", 302, (("Location", inside),)),
                "refresh": Page(f'<meta http-equiv="refresh" content="0;url={inside}">'),
                "link": Page(f'<a href="{inside}">in</a>'),
            }[way],
        }
        name = f"www.example.org:{port}"
        rig.fetcher = OneHostOpen("www.example.org")
        rig.catalog = DictCatalog(
            {name: SiteSettings(name, seeds=(f"http://{name}/",), min_delay_s=0, max_depth=2)},
        )
        result = rig.crawl(name)
        assert result.success, failure_sentence(result)
        assert "/secret" not in site.paths_seen()
        assert "/way" in site.paths_seen()
    refused = rig.rows(names.T_FETCHES, name, url=inside)
    assert [(row["outcome"], row["is_final"]) for row in refused] == [("private_address", True)]
    assert "127.0.0.1 (loopback)" in refused[0]["reason"]


def test_a_hub_that_is_not_modified_keeps_its_pages_in_frontier_and_index(rig: Rig) -> None:
    hub = Page('<p>Two pages.<a href="/p1">one</a><a href="/p2">two</a>', headers=(("ETag", 'W/"hub-1"'),))
    pages = {f"/p{n}": Page(f"<title>Page {n}</title><p>" + f"Page {n} tells of the tides. " * 9) for n in (1, 2)}
    with LoopbackSite({"/": hub, **pages}) as site:
        rig.catalog = settings(site)
        assert rig.crawl(site.host).success
        fed = {row["url_key"] for row in rig.rows(names.T_FEED_STATE, site.host)}
        before = len(site.requests)
        assert rig.crawl(site.host).success
        paths = site.paths_seen(before)
        second = {seen.path: seen.header("If-None-Match") for seen in site.requests[before:] if seen.path in paths}
    assert second == {"/": 'W/"hub-1"', "/sitemap.xml": None, "/p1": None, "/p2": None}
    confirmed = rig.rows(names.T_FETCHES, site.host, outcome="not_modified")
    assert [(row["url"], row["status"], row["record_type"]) for row in confirmed] == [(site.url("/"), 304, "revisit")]
    newest = confirmed[0]["crawl_id"]
    assert {row["url"] for row in rig.rows(names.T_FRONTIER, site.host, crawl_id=newest, layer="depth_1")} == {
        site.url(path) for path in pages
    }
    assert {site.url(path) for path in pages} <= fed
    assert {row["url_key"] for row in rig.rows(names.T_FEED_STATE, site.host)} == fed

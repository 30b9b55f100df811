"""Sitemaps in a crawl: asked politely and once, followed to the end, and every entry in the frontier of depth 1."""

import gzip
import zlib
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from assets import names
from assets.schemas import TABLES
from resources.ports import SiteSettings
from tests.support.clocks import ShiftedClock
from tests.support.loopback import LoopbackSite, Page
from tests.support.rig import DictCatalog, Rig, failure_sentence
from tests.support.s3 import StoreKind

pytestmark = pytest.mark.slow

XML = "application/xml"
STAGES = [
    names.SEED_CHECK,
    names.depth(0).frontier,
    names.depth(0).raw_batches,
    names.depth(0).links,
    names.depth(1).frontier,
    names.depth(1).raw_batches,
]
ONE = b"<urlset><url><loc>/found</loc></url></urlset>"


@pytest.fixture
def store_kind() -> StoreKind:
    """Keep to the folder: nothing here depends on the kind of store."""
    return "folder"


def listing(kind: str, *paths: str) -> str:
    inner = "url" if kind == "urlset" else "sitemap"
    return f"<{kind}>{''.join(f'<{inner}><loc>{path}</loc></{inner}>' for path in paths)}</{kind}>"


def moved(path: str) -> Page:
    return Page("", 301, (("Location", path),))


def crawl(rig: Rig, site: LoopbackSite, **changes: Any) -> dict[str, Any]:
    """Crawl to depth 1; give the metadata of the seed check."""
    common = SiteSettings(site.host, seeds=(site.url("/"),), min_delay_s=0, max_depth=1, allow_private_networks=True)
    rig.catalog = DictCatalog({site.host: replace(common, **changes)})
    result = rig.crawl(site.host, select=STAGES, new_crawl=True)
    assert result.success, failure_sentence(result)
    event = rig.instance.get_latest_materialization_event(names.SEED_CHECK)
    assert event is not None
    assert event.asset_materialization is not None
    return {key: value.value for key, value in event.asset_materialization.metadata.items()}


def by_sitemap(rig: Rig, site: LoopbackSite) -> list[str]:
    """Give the paths that depth 1 owes to sitemaps."""
    rows = rig.rows(names.T_FRONTIER, site.host, layer=names.depth(1).name, found_by="sitemap")
    return sorted(row["url"].removeprefix(site.url("")) for row in rows)


def problems(metadata: dict[str, Any], site: LoopbackSite) -> list[str]:
    return [problem.replace(site.url(""), "") for problem in metadata["sitemap_problems"]]


def test_a_relative_line_an_index_and_a_gzip_child_lead_to_every_entry_once(rig: Rig) -> None:
    pages = {
        "/": Page("<title>Home</title><p>Nothing is linked here."),
        "/maps/index.xml": Page(
            listing("sitemapindex", "index.xml", "packed.xml", "/maps/back.xml", "packed.xml"), content_type=XML
        ),
        "/maps/packed.xml": Page(
            gzip.compress(
                b"<urlset xmlns:xhtml='http://www.w3.org/1999/xhtml'><url><loc>/one</loc><lastmod>2024-05-06</lastmod>"
                b"<changefreq>daily</changefreq><priority>0.9</priority>"
                b"<xhtml:link rel='alternate' hreflang='de' href='/eins'/></url>"
                b"<url><loc>two?a=1&b=2</loc><lastmod>2999-01-01</lastmod></url>"
                b"<url><loc>/three</loc><lastmod>soon</lastmod></url></urlset>"
            ),
            content_type=XML,
        ),
        "/maps/back.xml": moved("/maps/index.xml"),
    }
    with LoopbackSite(
        pages, robots="User-agent: *\nDisallow:\nSitemap: /maps/index.xml\nSitemap: /robots.txt\n"
    ) as site:
        metadata = crawl(rig, site)
        asked = Counter(site.paths_seen())
    assert by_sitemap(rig, site) == ["/eins", "/maps/two?a=1&b=2", "/one", "/three"]
    sitemaps = ["/maps/index.xml", "/maps/packed.xml", "/maps/back.xml", "/robots.txt"]
    assert {path: asked[path] for path in sitemaps} == dict.fromkeys(sitemaps, 1)
    assert problems(metadata, site) == ["/robots.txt: not_a_sitemap"]
    assert (metadata["sitemap_files"], metadata["sitemap_entries"]) == (3, 4)
    assert metadata["sitemap_lastmod_trust"] == "unreliable"
    assert metadata["sitemap_lastmod_counts"]["invalid"] == 1

    entries = {row["url"].removeprefix(site.url("")): row for row in rig.rows(names.T_SITEMAP_ENTRIES, site.host)}
    one = entries["/one"]
    assert one["lastmod"].isoformat() == "2024-05-06T00:00:00+00:00"
    assert (one["changefreq"], one["sitemap_priority"]) == ("daily", 0.9)
    assert entries["/maps/two?a=1&b=2"]["lastmod"] is None
    files = {row["sitemap_url"].removeprefix(site.url("")): row for row in rig.rows(names.T_SITEMAP_FILES, site.host)}
    assert {path: (row["level"], row["named_by"], row["outcome"], row["entries"]) for path, row in files.items()} == {
        "/maps/index.xml": (1, "robots", "fetched", 0),
        "/maps/packed.xml": (2, "index", "fetched", 3),
        "/maps/back.xml": (2, "index", "redirected", 0),
    }
    packed = files["/maps/packed.xml"]
    assert (packed["lastmods"], packed["invalid_lastmods"], packed["future_lastmods"]) == (3, 1, 1)


@pytest.mark.parametrize(
    ("path", "headers", "body"),
    [
        ("/s.xml.gz", (), ONE),
        ("/s.xml", (), gzip.compress(ONE)),
        ("/s.xml.gz", (("Content-Type", "application/octet-stream"),), gzip.compress(ONE)),
        ("/s.xml.gz", (("Content-Encoding", "gzip"),), gzip.compress(gzip.compress(ONE))),
        ("/s.xml", (("Content-Encoding", "gzip"),), ONE),
        ("/s.xml", (("Content-Encoding", "deflate"),), zlib.compress(ONE)),
    ],
    ids=["plain .gz", "gzip .xml", "octet-stream", "gzip on gzip", "lying coding", "deflate"],
)
def test_compression_is_seen_by_its_bytes(
    rig: Rig, path: str, headers: tuple[tuple[str, str], ...], body: bytes
) -> None:
    pages = {"/": Page("<p>Home."), path: Page(body, 200, headers, XML)}
    with LoopbackSite(pages, robots=f"Sitemap: {path}\n") as site:
        metadata = crawl(rig, site)
    assert by_sitemap(rig, site) == ["/found"]
    assert problems(metadata, site) == []


def test_two_names_of_one_file_cost_one_request(rig: Rig) -> None:
    pages = {
        "/": Page("<p>Home."),
        "/a.xml": moved("/real.xml"),
        "/b.xml": moved("/real.xml"),
        "/c.xml": moved("/a.xml"),
        "/real.xml": Page(listing("sitemapindex", "/late.xml", "/real.xml"), content_type=XML),
        "/late.xml": Page(ONE, content_type=XML),
    }
    with LoopbackSite(pages, robots="Sitemap: /a.xml\nSitemap: /b.xml\nSitemap: /c.xml\n") as site:
        metadata = crawl(rig, site)
        asked = Counter(path for path in site.paths_seen() if path.endswith(".xml"))
    assert asked == dict.fromkeys(pages.keys() - {"/"}, 1)
    assert by_sitemap(rig, site) == ["/found"]
    assert problems(metadata, site) == []


def test_a_sitemap_behind_a_cookie_is_read(rig: Rig) -> None:
    class Guarded(LoopbackSite):
        def page(self, path: str) -> Page:
            if path == "/s.xml" and self.requests[-1].header("Cookie") != "seen=1":
                return Page("", 302, (("Location", "/s.xml"), ("Set-Cookie", "seen=1; Path=/")))
            return super().page(path)

    with Guarded({"/": Page("<p>Home."), "/s.xml": Page(ONE)}, robots="Sitemap: /s.xml\n") as site:
        crawl(rig, site)
    assert by_sitemap(rig, site) == ["/found"]


def test_a_chain_of_indexes_ends_at_three_levels_and_says_so(rig: Rig) -> None:
    chain = {f"/{n}.xml": Page(listing("sitemapindex", f"/{n + 1}.xml"), content_type=XML) for n in range(5)}
    with LoopbackSite({"/": Page("<p>Home."), **chain}, robots="Sitemap: /0.xml\n") as site:
        metadata = crawl(rig, site)
        assert "/2.xml" in site.paths_seen()
        assert "/3.xml" not in site.paths_seen()
    assert problems(metadata, site) == ["too_deep: 1"]


def test_robots_rules_hold_for_sitemaps_and_what_is_broken_is_told(rig: Rig) -> None:
    pages = {
        "/": Page("<p>Home."),
        "/cut.xml": Page("<urlset><url><loc>/found</loc></url><url><loc>/lo", content_type=XML),
        "/secret.xml": Page(ONE, content_type=XML),
    }
    rules = "User-agent: *\nDisallow: /secret\nSitemap: /cut.xml\nSitemap: /secret.xml\nSitemap: /gone.xml\n"
    with LoopbackSite(pages, robots=rules) as site:
        metadata = crawl(rig, site)
        assert "/secret.xml" not in site.paths_seen()
    assert by_sitemap(rig, site) == ["/found"]
    assert sorted(problems(metadata, site)) == ["/cut.xml: truncated", "/gone.xml: gone", "/secret.xml: robots_denied"]


def test_the_usual_place_speaks_for_its_own_host_only(rig: Rig) -> None:
    with LoopbackSite({}) as other:
        pages = {
            "/": Page("<p>Home."),
            "/sitemap.xml": Page(listing("urlset", "/found", other.url("/theirs")), content_type=XML),
        }
        with LoopbackSite(pages, robots=404) as site:
            metadata = crawl(rig, site)
        assert by_sitemap(rig, site) == ["/found"]
        assert problems(metadata, site) == ["other_host: 1"]
        # Named by a robots.txt it may, and the scope decides: the same address on another port is the same site.
        with LoopbackSite(pages, robots="Sitemap: /sitemap.xml\n") as site:
            crawl(rig, site)
        assert by_sitemap(rig, site) == ["/found", other.url("/theirs")]


def test_a_site_whose_dates_move_while_its_pages_rest_is_marked(rig: Rig) -> None:
    paths = [f"/{number}" for number in range(6)]
    pages = {"/": Page("<p>Home."), **{path: Page(f"<p>Page {path} rests.") for path in paths}}
    with LoopbackSite(pages, robots="Sitemap: /s.xml\n") as site:
        for day, trust in ((1, "unknown"), (2, "unknown"), (3, "unreliable")):
            urls = "".join(f"<url><loc>{path}</loc><lastmod>2024-05-0{day}</lastmod></url>" for path in paths)
            site.pages["/s.xml"] = Page(f"<urlset>{urls}</urlset>", content_type=XML)
            metadata = crawl(rig, site)
            assert metadata["sitemap_lastmod_trust"] == trust
    assert metadata["sitemap_lastmod_counts"]["unchanged"] == 6
    assert len(rig.rows(names.T_SITEMAP_FILES, site.host)) == 3
    assert rig.tables.read(names.T_SITEMAP_FILES).schema.names == TABLES[names.T_SITEMAP_FILES].names


def test_a_dated_sitemap_that_stands_still_is_retired_and_its_pages_stay(rig: Rig) -> None:
    clock = ShiftedClock()
    rig.clock = clock
    old, new = "/maps/2019-01.xml", "/maps/new.xml"

    def index(lastmod: str = "2019-02-01") -> Page:
        maps = f"<sitemap><loc>{old}</loc><lastmod>{lastmod}</lastmod></sitemap><sitemap><loc>{new}</loc></sitemap>"
        return Page(f"<sitemapindex>{maps}</sitemapindex>", content_type=XML)

    pages = {
        "/": Page("<title>Home</title><p>Nothing is linked here."),
        "/maps/index.xml": index(),
        old: Page(listing("urlset", "/a", "/b"), content_type=XML),
        new: Page(listing("urlset", "/c"), content_type=XML),
    }
    retired: list[list[str]] = []
    asked: list[bool] = []
    with LoopbackSite(pages, robots="User-agent: *\nDisallow:\nSitemap: /maps/index.xml\n") as site:
        for days in (0, 200, 1, 1, 1):
            clock.advance(days=days)
            if len(asked) == 3:
                site.pages["/maps/index.xml"] = index(clock.now().isoformat())
            if len(asked) == 4:
                site.pages["/maps/index.xml"] = index()
            before = len(site.requests)
            metadata = crawl(rig, site)
            retired.append([url.removeprefix(site.url("")) for url in metadata["sitemaps_retired"]])
            asked.append(old in {request.path for request in site.requests[before:]})
            assert metadata["sitemap_entries"] == 3
    # Found to stand still, left out, asked because its index says so, left out.
    assert retired == [[], [old], [old], [old], [old]]
    assert asked == [True, True, False, True, False]
    crawls = Counter(row["crawl_id"] for row in rig.rows(names.T_FRONTIER, site.host, layer=names.depth(1).name))
    assert sorted(crawls.values()) == [3] * 5

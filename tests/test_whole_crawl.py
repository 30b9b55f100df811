"""A whole site, crawled by the job that users run, with real requests, on both kinds of store."""

from collections import Counter
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from assets import names
from resources.ports import SiteSettings
from tests.support.loopback import SMALL_SITE_DEPTHS, LoopbackSite, Page, small_site
from tests.support.pdf import pdf
from tests.support.rig import DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

pytestmark = pytest.mark.slow


def crawl(rig: Rig, site: LoopbackSite, **config: Any) -> None:
    result = rig.crawl(site.host, seeds=[site.url("/")], **config)
    assert result.success, failure_sentence(result)


def test_every_page_is_fetched_once_at_its_depth_and_everything_is_derived(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        crawl(rig, site)
        asked = Counter(site.paths_seen())
        assert max(asked.values()) == 1
        assert "/private/ledger" not in asked
        assert not {"/logo.png", "/files/tides.pdf"} & set(asked)

    frontier = rig.rows(names.T_FRONTIER, site.host)
    layer_of = {row["url_key"]: row["layer"] for row in frontier}
    fetched = rig.rows(names.T_FETCHES, site.host, outcome="fetched", purpose="page")
    by_depth = {
        depth: sorted(
            row["url"].removeprefix(site.url(""))
            for row in fetched
            if layer_of[row["origin_key"]] == names.depth(depth).name
        )
        for depth in SMALL_SITE_DEPTHS
    }
    assert by_depth == {depth: sorted(paths) for depth, paths in SMALL_SITE_DEPTHS.items()}

    ends = rig.rows(names.T_FETCHES, site.host, is_final=True, purpose="page")
    assert Counter(row["outcome"] for row in ends) == {"fetched": 12, "gone": 1, "robots_denied": 1}
    assert Counter(row["origin_key"] for row in ends).keys() == layer_of.keys()
    assert len(ends) == len(frontier)

    refused = {row["url"]: row["reason"] for row in rig.rows(names.T_REFUSALS, site.host)}
    assert refused[site.url("/files/tides.pdf")] == "resource_suffix"
    assert refused["http://offsite.example/"] == "out_of_scope"

    pages = {row["url"].removeprefix(site.url("")): row for row in rig.rows(names.T_PAGES, site.host)}
    assert len(pages) == 12
    assert all(row["text"] and row["text_digest"] for row in pages.values())
    duplicates = {
        row["url"].removeprefix(site.url("")): row["representative_key"]
        for row in rig.rows(names.T_EXACT_DUPLICATES, site.host)
    }
    assert duplicates == {"/about": site.url("/about"), "/about-us": site.url("/about")}
    fed = {row["url_key"] for row in rig.rows(names.T_FEED_STATE, site.host)}
    assert len(fed) == 11
    assert site.url("/about-us") not in fed
    findings = Counter(row["finding"] for row in rig.rows(names.T_FINDINGS, site.host))
    assert findings["dead_link"] >= 1
    assert findings["orphan"] >= 1


def test_warc_files_tables_and_metadata_agree(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        crawl(rig, site)
    kinds: Counter[str] = Counter()
    for stored in rig.objects.list(f"raw/site={site.host}/"):
        if not stored.key.endswith(".warc.gz"):
            continue

        for record in ArchiveIterator(BytesIO(rig.objects.get(stored.key)), check_digests="raise"):
            record.content_stream().read()
            kinds[record.rec_type] += 1
    answered = [row for row in rig.rows(names.T_FETCHES, site.host) if row["status"] is not None]
    assert kinds["response"] + kinds["revisit"] == kinds["request"] == len(answered)
    assert kinds["revisit"] == sum(row["record_type"] == "revisit" for row in answered) >= 1
    event = rig.instance.get_latest_materialization_event(names.CRAWL_REPORT)
    assert event is not None
    assert event.asset_materialization is not None
    metadata = event.asset_materialization.metadata
    assert metadata["pages_readable"].value == sum(
        row["outcome"] == "fetched" and row["purpose"] == "page" and row["is_final"] for row in answered
    )
    assert event.asset_materialization.partition == site.host


def test_a_second_crawl_asks_conditionally_and_feeds_nothing_new(rig: Rig) -> None:
    site_pages = {
        path: Page(page.body, page.status, (*page.headers, ("ETag", f'"{path}"')), page.content_type)
        for path, page in small_site().items()
    }
    with LoopbackSite(site_pages) as site:
        crawl(rig, site)
        before = len(site.requests)
        batches = len(list(rig.objects.list(names.feed_prefix(site.host))))
        crawl(rig, site)
        second = site.requests[before:]
        crawls = sorted({row["crawl_id"] for row in rig.rows(names.T_CRAWLS, site.host)})
    assert len(crawls) == 2
    outcomes = Counter(
        row["outcome"]
        for row in rig.rows(names.T_FETCHES, site.host, crawl_id=crawls[1], is_final=True, purpose="page")
    )
    assert outcomes == {"not_modified": 12, "gone": 1, "robots_denied": 1}
    assert sum(seen.header("If-None-Match") is not None for seen in second) == 12
    assert len(list(rig.objects.list(names.feed_prefix(site.host)))) == batches
    assert len(rig.rows(names.T_PAGES, site.host)) == 12
    assert len(rig.rows(names.T_LINKS, site.host, crawl_id=crawls[1])) == 12


@in_a_folder
def test_a_changed_page_is_extracted_and_fed_again(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        crawl(rig, site)
        changed = small_site()["/news"]
        assert isinstance(changed.body, str)
        site.pages["/news"] = Page(changed.body.replace("</article>", "<p>A bell has been found.</p></article>"))
        body = site.pages["/news"].body  # type: ignore[union-attr]
        assert body != changed.body
        crawl(rig, site)
        assert len(rig.rows(names.T_PAGES, site.host)) == 13
        newest = max(rig.rows(names.T_FEED_STATE, site.host), key=lambda row: row["sequence"])
        assert newest["url_key"] == site.url("/news")


@in_a_folder
def test_budgets_cut_from_the_bottom_and_say_so(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        crawl(rig, site, max_pages=4, max_depth=1)
    assert len(rig.rows(names.T_FRONTIER, site.host)) == 4
    cut = rig.rows(names.T_REFUSALS, site.host, reason="page_budget")
    assert len(cut) == 4
    assert all("max_pages" in row["rule"] for row in cut)


@in_a_folder
def test_an_only_page_crawl_stops_at_the_seed(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        crawl(rig, site, max_depth=0)
        assert set(site.paths_seen()) == {"/", "/robots.txt"}


@in_a_folder
def test_another_spelling_of_an_address_is_asked_when_the_first_is_gone(rig: Rig) -> None:
    links = '<a href="/guide/77">first</a><a href="/guide/77/">second</a><a href="/guide/78">only</a>'
    with LoopbackSite({"/": links, "/guide/77/": "<p>With a slash.", "/guide/78/": "<p>Never linked."}) as site:
        crawl(rig, site)
        asked = [path for path in site.paths_seen() if path.startswith("/guide/")]
    assert sorted(asked) == ["/guide/77", "/guide/77/", "/guide/78"]
    ends = rig.rows(names.T_FETCHES, site.host, is_final=True, layer="depth_1")
    assert {row["origin_key"].removeprefix(site.url("")): row["outcome"] for row in ends} == {
        "/guide/77": "fetched",
        "/guide/78": "gone",
    }


@in_a_folder
def test_what_a_site_shows_where_there_is_no_page_is_no_page(rig: Rig) -> None:
    sorry = Page("<title>Oh no</title><p>Sorry, there is nothing of that name here. Go back to where you came from.")
    with LoopbackSite({"/": '<p>Two pages.<a href="/p1">one</a><a href="/p2">two</a>', "/p1": sorry}) as site:
        site.otherwise = sorry
        crawl(rig, site)
        (probe,) = rig.rows(names.T_FETCHES, site.host, purpose="probe")
    assert (probe["outcome"], probe["layer"], probe["status"]) == ("fetched", "seeds", 200)
    flags = {row["url_key"].removeprefix(site.url("")): row["flags"] for row in rig.rows(names.T_PAGE_STATE, site.host)}
    assert [path for path, found in flags.items() if "soft_404" in found] == ["/p1", "/p2"]
    assert {row["url_key"] for row in rig.rows(names.T_FEED_STATE, site.host)} <= {site.url("/")}
    found = rig.rows(names.T_FINDINGS, site.host, finding="soft_404")
    assert sorted(row["url"] for row in found) == [site.url("/p1"), site.url("/p2")]


@in_a_folder
def test_texts_and_pdf_files_are_pages_where_a_site_wants_them(rig: Rig) -> None:
    paper = pdf(["High water comes twice a day in this harbour."], {"Title": "The tides"})
    pages: dict[str, Page | str | bytes] = {
        "/": '<p>Read these.<a href="/tides.pdf">paper</a><a href="/notes.txt">notes</a><a href="/notes">raw</a>',
        "/tides.pdf": Page(paper, content_type="application/pdf"),
        "/notes.txt": Page("Low water\nat noon.", content_type="text/plain; charset=utf-8"),
        "/notes": Page("Low water\nat six.", content_type="text/plain"),
    }
    with LoopbackSite(pages) as site:
        listed = SiteSettings(site.host, min_delay_s=0, allow_private_networks=True)
        rig.catalog = DictCatalog({site.host: listed})
        crawl(rig, site)
        asked_before = site.paths_seen()
        rig.catalog = DictCatalog({site.host: replace(listed, document_types=("text", "pdf"))})
        crawl(rig, site)
        paths = {row["url_key"].removeprefix(site.url("")): row for row in rig.rows(names.T_PAGES, site.host)}
    assert "/tides.pdf" not in asked_before
    outcomes = {row["crawl_id"]: row["outcome"] for row in rig.rows(names.T_FETCHES, site.host, url=site.url("/notes"))}
    assert [outcomes[crawl_id] for crawl_id in sorted(outcomes)] == ["wrong_type", "fetched"]
    assert paths["/tides.pdf"]["title"] == "The tides"
    assert paths["/notes.txt"]["text"] == "Low water\nat noon."
    fed = {row["url_key"] for row in rig.rows(names.T_FEED_STATE, site.host)}
    assert {site.url("/tides.pdf"), site.url("/notes.txt"), site.url("/notes")} <= fed

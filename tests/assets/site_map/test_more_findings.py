"""The other findings of hand-made crawls, a table of pages and what is found on them."""

from datetime import timedelta
from typing import Any

import pytest

from assets import names
from assets.schemas import EXACT_DUPLICATES, NEAR_DUPLICATES, PAGE_STATE, PAGES, SEEDS
from assets.site_map.findings import QUERIES, Finding, meaning_of
from tests.support.hand_made_crawl import HOST, START, Crawl

Found = tuple[str, str, str]


@pytest.fixture
def crawl() -> Crawl:
    made = Crawl()
    made.add(names.T_SEEDS, SEEDS, seed_url=f"{HOST}/", usable=True)
    made.asked("/", "depth_0", "seed")
    return made


def shown(crawl: Crawl, path: str, *targets: str, text: dict[str, Any] | None = None, **facts: Any) -> None:
    """Note a live page with its links, and its extracted text if there is one."""
    digest = f"sha1:{path}"
    crawl.frontier(path)
    answer = {name: facts.pop(name) for name in ("body_bytes", "last_modified") if name in facts}
    crawl.answer(path, status=200, payload_digest=digest, **answer)
    crawl.page(path, *targets, **facts)
    if text is not None:
        url = HOST + path
        crawl.add(names.T_PAGES, PAGES, url=url, url_key=url, payload_digest=digest, **text)


def test_every_finding_has_a_query_and_says_what_it_is() -> None:
    assert list(QUERIES) == list(Finding)
    assert all(len(meaning_of(kind)) > 20 for kind in Finding)


def test_titles_and_descriptions_that_are_missing_or_repeated(crawl: Crawl) -> None:
    shown(crawl, "/a", title="Tides", text={"description": "All tides"})
    shown(crawl, "/b", title="Tides", text={"description": "All tides"})
    shown(crawl, "/c", title=" ", text={"description": ""})
    shown(crawl, "/d", title="Tides", declared_canonical=f"{HOST}/a")
    shown(crawl, "/pdf", reason="not_html")
    repeated = [("/a", "/a", "Tides"), ("/b", "/a", "Tides")]
    assert crawl.findings("missing_title") == [("/c", "", "")]
    assert crawl.findings("repeated_title") == repeated
    assert crawl.findings("missing_description") == [("/c", "", "")]
    assert crawl.findings("repeated_description") == [(url, on, "All tides") for url, on, _ in repeated]


def test_pages_that_say_nothing_is_there_and_answer_200(crawl: Crawl) -> None:
    shown(crawl, "/a", title="404 - Page not found")
    shown(crawl, "/b", title="The 404 errors of 1998 explained")
    shown(crawl, "/c", title="Shop", text={"flags": ["soft_404"]})
    assert crawl.findings("soft_404") == [("/a", "", "404 - Page not found"), ("/c", "", "Shop")]


def test_redirects_to_home(crawl: Crawl) -> None:
    crawl.redirect("/product", "/")
    crawl.redirect("/index.html", "/")
    crawl.page("/", "/product")
    assert crawl.findings("redirect_to_home") == [("/product", "/", "/")]
    assert crawl.findings("redirect_chain") == []


def test_canonicals_that_cannot_stand(crawl: Crawl) -> None:
    crawl.asked("/gone", outcome="gone", status=404)
    crawl.redirect("/old", "/new")
    shown(crawl, "/closed", robots_meta="noindex")
    shown(crawl, "/relay", declared_canonical=f"{HOST}/fine")
    shown(crawl, "/fine")
    for place, target in enumerate(["gone", "old", "closed", "relay", "fine", "elsewhere"]):
        shown(crawl, f"/{place}", declared_canonical=f"{HOST}/{target}")
    shown(crawl, "/ring/a", declared_canonical=f"{HOST}/ring/b")
    shown(crawl, "/ring/b", declared_canonical=f"{HOST}/ring/a")
    assert crawl.findings("canonical_conflict") == [
        ("/0", "/gone", "it is dead (404)"),
        ("/1", "/old", "it redirects"),
        ("/2", "/closed", "it is noindex"),
        ("/3", "/relay", "it names another canonical"),
        ("/ring/a", "/ring/b", "it names this page in turn"),
        ("/ring/b", "/ring/a", "it names this page in turn"),
    ]


def test_pages_that_searching_cannot_find(crawl: Crawl) -> None:
    shown(crawl, "/closed", robots_meta="nofollow,noindex")
    shown(crawl, "/alias", declared_canonical=f"{HOST}/")
    crawl.asked("/secret", outcome="robots_denied")
    crawl.page("/", "/closed", "/alias", "/secret")
    crawl.sitemap("/closed")
    assert crawl.findings("noindex_in_sitemap") == [("/closed", "/sitemap.xml", "noindex")]
    assert crawl.findings("linked_not_indexable") == [
        ("/alias", "", "canonical is /; linked by 1 pages"),
        ("/closed", "", "noindex; linked by 1 pages"),
        ("/secret", "", "robots.txt; linked by 1 pages"),
    ]


def test_alternates_that_do_not_name_each_other(crawl: Crawl) -> None:
    shown(crawl, "/en", "/de", "/fr", kind="alternate")
    shown(crawl, "/de", "/en", kind="alternate")
    shown(crawl, "/fr", "/en")
    assert crawl.findings("hreflang_without_return") == [("/fr", "/en", "names no alternate back")]


def test_http_on_https(crawl: Crawl) -> None:
    crawl.page("/", "http://video.example/|", kind="iframe", resources=["http://a.example/x.png", "/y.png"])
    assert crawl.findings("mixed_content") == [
        ("http://a.example/x.png", "/", "image"),
        ("http://video.example/", "/", "iframe"),
    ]


def test_pages_beyond_a_limit(crawl: Crawl) -> None:
    shown(crawl, "/big", body_bytes=1_000_001)
    shown(crawl, "/fits", body_bytes=1_000_000, scripts=41)
    for number in range(1, 9):
        crawl.asked(f"/{number}", f"depth_{number}")
        crawl.page(f"/{number - 1}" if number > 1 else "/", f"/{number}")
    assert crawl.findings("heavy_page") == [("/big", "", "1000001")]
    assert crawl.findings("many_scripts") == [("/fits", "", "41")]
    assert crawl.findings("deep_page") == [("/8", "/7", "8"), ("/7", "/6", "7")]


def test_leftovers_of_older_versions(crawl: Crawl) -> None:
    for path in ("/v1/a", "/v1/b", "/v2/a", "/lib/1.9/x", "/lib/1.10/x", "/2019/x", "/2020/x", "/only/v3/x"):
        shown(crawl, path)
    assert crawl.findings("old_version") == [
        ("/lib/1.9/x", "/lib/1.10/x", "1.10 is newer"),
        ("/v1/a", "/v2/a", "v2 is newer"),
        ("/v1/b", "", "v2 is newer"),
    ]


def test_sections_that_stopped_changing(crawl: Crawl) -> None:
    for number in range(3):
        shown(crawl, f"/news/{number}", text={"modified_on": "2024-04-30"})
        shown(crawl, f"/old/{number}", last_modified="Sat, 01 Apr 2017 10:00:00 GMT")
        shown(crawl, f"/old/deep/{number}", text={"modified_on": "2016-01-01"})
    assert crawl.findings("stale_section") == [("/old/", "", "6 pages, last change 2017-04-01")]


def test_duplicates_of_pages_that_the_crawl_met(crawl: Crawl) -> None:
    shown(crawl, "/a")
    shown(crawl, "/b")
    for url in (f"{HOST}/b", f"{HOST}/forgotten"):
        copy = {"url": url, "url_key": url, "representative_site": "a.example", "representative_key": f"{HOST}/a"}
        for table, schema, fact in (
            (names.T_EXACT_DUPLICATES, EXACT_DUPLICATES, {"cluster_pages": 2}),
            (names.T_NEAR_DUPLICATES, NEAR_DUPLICATES, {"similarity": 0.9}),
        ):
            row = {**copy, **fact}
            crawl.add(table, schema, **row)
    assert crawl.findings("exact_duplicate") == [("/b", "/a", "2 pages")]
    assert crawl.findings("near_duplicate") == [("/b", "/a", "0.90 alike")]


def test_a_page_of_an_earlier_crawl_that_nothing_links_is_an_orphan(crawl: Crawl) -> None:
    shown(crawl, "/here")
    crawl.page("/", "/here", "/linked")
    for path, status in (("/here", "live"), ("/linked", "live"), ("/lost", "live"), ("/gone", "gone")):
        url = HOST + path
        crawl.add(names.T_PAGE_STATE, PAGE_STATE, url=url, url_key=url, status=status, first_seen_at=START)
    assert crawl.findings("orphan") == [("/lost", "", "known from an earlier crawl")]


def test_a_text_of_other_bytes_says_nothing_of_this_crawl(crawl: Crawl) -> None:
    shown(crawl, "/a", text={"description": "now", "text_digest": "new"})
    late = START + timedelta(days=1)
    crawl.add(names.T_PAGES, PAGES, url_key=f"{HOST}/a", payload_digest="sha1:other", text_digest="?", fetched_at=late)
    assert crawl.nodes()["/a"]["text_digest"] == "new"

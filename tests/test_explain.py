"""What a crawl does with an address, explained from the tables of a real crawl."""

import pytest

from assets import names
from assets.crawl.explain import Explanation, explain
from assets.crawl.history import history_of
from resources.clock import SystemClock
from tests.support.loopback import LoopbackSite, small_site
from tests.support.rig import Rig, failure_sentence
from tests.support.s3 import in_a_folder

pytestmark = [pytest.mark.slow, in_a_folder]


def test_each_address_is_explained(rig: Rig) -> None:
    with LoopbackSite(small_site()) as site:
        result = rig.crawl(site.host, seeds=[site.url("/")])
        assert result.success, failure_sentence(result)
        asked = len(site.requests)

        def about(address: str) -> Explanation:
            settings = rig.catalog.settings(site.host)
            return explain(address, settings, [site.url("/")], rig.tables, now=SystemClock().now())

        fetched = about(site.url("/about/?utm_source=x#top"))
        assert fetched.url_key == site.url("/about")
        assert fetched.verdict.startswith("It is asked")
        assert fetched.last_fetch.startswith("fetched at")
        assert fetched.frontier.startswith("depth_1 of crawl")
        assert fetched.page.startswith("live")
        assert fetched.indexed == "yes, since batch 1"

        forbidden = about(site.url("/private/ledger"))
        assert forbidden.verdict == f"It is not asked: {forbidden.robots}."
        assert "'Disallow: /private/'" in forbidden.robots
        assert forbidden.last_fetch.startswith("robots_denied")

        paper = about(site.url("/files/tides.pdf"))
        assert "resource_suffix" in paper.verdict
        assert "resource_suffix" in paper.refusal
        assert "out_of_scope" in about("http://offsite.example/").verdict
        assert "path_repeat" in about(site.url("/a/b/a/b/a/b/a/b")).verdict
        assert about("http://[::bad").verdict == "It is not an address, so it is never asked."
        assert about(site.url("/never/seen")).last_fetch == ""

        assert about(site.url("/about-us")).duplicate_of.startswith(site.url("/about"))
        old = about(site.url("/old"))
        assert old.alias.startswith(f"{site.url('/new')} (redirect: ")
        assert about(site.url("/new")).aliases == (f"{site.url('/old')} (redirect)",)
        assert len(site.requests) == asked
        history = history_of(site.url("/old"), site.host, rig.tables)
        assert [event.what for event in history] == ["found", "asked", "asked"]
        assert "redirected; 301" in history[1].detail
        assert f"to {site.url('/new')}" in history[1].detail
        told = history_of(site.url("/about-us"), site.host, rig.tables)
        assert [event.what for event in told] == ["found", "asked", "text"]
        assert f"by link on {site.url('/news')}" in told[0].detail
        assert "revisit in raw/" in told[1].detail
        assert "About the sounding museum" in told[2].detail
        assert [event.what for event in history_of("http://offsite.example/", site.host, rig.tables)] == ["refused"]
        assert history_of(site.url("/never"), site.host, rig.tables) == []
    assert {row["evidence"] for row in rig.rows(names.T_ALIASES, site.host)} == {"redirect"}

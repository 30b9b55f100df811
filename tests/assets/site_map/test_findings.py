"""The findings of hand-made crawls: dead links, redirect chains, orphans, extremes."""

import pytest

from assets import names
from assets.schemas import SEEDS
from tests.support.hand_made_crawl import HOST, Crawl


@pytest.fixture
def crawl() -> Crawl:
    made = Crawl()
    made.add(names.T_SEEDS, SEEDS, seed_url=f"{HOST}/", usable=True)
    made.asked("/", "depth_0", "seed")
    return made


def test_a_dead_link_is_shown_with_every_page_that_holds_it(crawl: Crawl) -> None:
    crawl.asked("/b")
    crawl.asked("/gone", outcome="gone", status=404)
    crawl.asked("/login", outcome="client_error", status=403)
    crawl.asked("/slow", outcome="timeout")
    crawl.frontier("/moved")
    crawl.redirect("/moved", "/nowhere", outcome="gone", status=410)
    crawl.page("/", "/gone|first", "/gone|second", "/login", "/slow", "/b")
    crawl.page("/b", "/moved|was here", "/gone|third")
    assert crawl.findings("dead_link") == [
        ("/gone", "/", "first"),
        ("/gone", "/b", "third"),
        ("/moved", "/b", "was here"),
    ]


def test_chains_of_two_redirects_and_loops_are_findings(crawl: Crawl) -> None:
    crawl.redirect("/once", "/end")
    crawl.redirect("/1", "/2", "/3")
    crawl.redirect("/cookie", "/set", "/cookie")
    crawl.answer("/self", to="/self", outcome="redirected", status=302, reason="redirect_loop")
    crawl.answer("/x", to="/y", is_final=False, outcome="redirected", status=302)
    crawl.answer("/y", origin="/x", hop=1, to="/x", outcome="redirected", status=302, reason="redirect_loop")
    crawl.page("/", "/x", "/1")
    assert crawl.findings("redirect_chain") == [
        ("/1", "/", "/1 -> /2 -> /3"),
        ("/cookie", "", "/cookie -> /set -> /cookie"),
        ("/self", "", "/self -> /self (loop)"),
        ("/x", "/", "/x -> /y -> /x (loop)"),
    ]
    nodes = crawl.nodes()
    assert [nodes[path]["outcome"] for path in ("/self", "/x")] == ["redirected"] * 2
    assert "/y" not in nodes


def test_a_retried_hop_is_one_hop(crawl: Crawl) -> None:
    crawl.answer("/r", is_final=False, outcome="timeout")
    crawl.redirect("/r", "/s")
    assert crawl.findings("redirect_chain") == []


def test_an_orphan_is_in_a_sitemap_and_nowhere_linked(crawl: Crawl) -> None:
    crawl.asked("/alone", found_by="sitemap")
    crawl.asked("/linked")
    crawl.redirect("/listed-old", "/linked")
    for path in ("/", "/alone", "/linked", "/listed-old", "/never"):
        crawl.sitemap(path)
    crawl.page("/", "/linked")
    crawl.page("/alone", "/alone")
    assert crawl.findings("orphan") == [
        ("/alone", "/sitemap.xml", "fetched"),
        ("/never", "/sitemap.xml", "not fetched"),
    ]


def test_the_deepest_pages_and_the_most_used_resources_come_first(crawl: Crawl) -> None:
    for number in range(1, 13):
        crawl.asked(f"/{number:02}", f"depth_{number}")
    crawl.page("/", "/01", resources=["/logo.png", "/once.png"])
    for number in range(1, 12):
        crawl.page(f"/{number:02}", f"/{number + 1:02}", resources=["/logo.png", f"/{number}.png"])
    deepest = crawl.findings("deepest_page")
    assert (deepest[0], deepest[-1], len(deepest)) == (("/12", "/11", "12"), ("/03", "/02", "3"), 10)
    used = crawl.findings("most_used_resource")
    assert (used[0], len(used)) == (("/logo.png", "", "12"), 10)

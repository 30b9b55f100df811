"""The report page: hostile texts stay texts, numbers are right, and nothing is fetched from anywhere."""

import re
from html.parser import HTMLParser

import pytest

from assets import names
from assets.schemas import SEEDS
from assets.site_map.report import report_of_site
from assets.site_map.site_changes import changes_of_site
from assets.site_map.tree_steps import OWN_PAGES_MAX
from resources.duckdb_engine import DuckDBEngine
from resources.errors import StageMissing
from tests.support.hand_made_crawl import HOST, SITE, Crawl
from tests.support.memory import MemoryObjects, MemoryTables

pytestmark = pytest.mark.slow
HOSTILE = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """Reads what a browser would: elements with their attributes, and whether each one that needs it is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def reported(crawl: Crawl) -> Page:
    """Map the crawl, compare it with the one before, and read the report."""
    crawl.mapped()
    engine = DuckDBEngine()
    changes_of_site(SITE, crawl.tables, crawl.objects, engine)
    report_of_site(SITE, crawl.tables, crawl.objects, engine)
    return Page(crawl.file("report.html"))


@pytest.fixture
def crawl() -> Crawl:
    made = Crawl()
    made.add(names.T_SEEDS, SEEDS, seed_url=f"{HOST}/", usable=True)
    made.asked("/", "depth_0", "seed")
    return made


def test_hostile_titles_and_addresses_stay_text(crawl: Crawl) -> None:
    path = '/a"onmouseover=alert(1)/<script>alert(2)</script>/x'
    crawl.asked(path)
    crawl.asked("/gone", outcome="gone", status=404)
    crawl.page("/", path, f"/gone|{HOSTILE}", title=HOSTILE)
    crawl.page(path, f"javascript:alert(1)|{HOSTILE}", title=HOSTILE)
    page = reported(crawl)
    assert page.open == []
    assert {tag for tag, _ in page.elements} & {"script", "img", "iframe", "object", "link", "base"} == set()
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    hrefs = [attributes["href"] or "" for _, attributes in page.elements if "href" in attributes]
    assert [href for href in hrefs if not re.match(r"https?://|#|[\w/]+\.(csv|json)$", href)] == []
    assert HOSTILE in page.text


def test_the_page_needs_no_network_and_allows_no_script(crawl: Crawl) -> None:
    crawl.page("/", title="Home")
    page = reported(crawl)
    policies = [attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert [attributes for _, attributes in page.elements if "src" in attributes] == []
    assert "url(" not in page.text
    assert "@import" not in page.text


def test_findings_are_cut_and_their_files_are_whole(crawl: Crawl) -> None:
    for number in range(25):
        crawl.asked(f"/gone/{number:02}", outcome="gone", status=404)
    crawl.page("/", *(f"/gone/{number:02}" for number in range(25)))
    page = reported(crawl)
    assert "The first 20 of 25." in page.text
    assert "findings/dead_link.csv" in [attributes.get("href") for _, attributes in page.elements]
    assert len(crawl.file("findings/dead_link.csv").splitlines()) == 26


def test_the_tree_counts_what_is_below_and_lists_the_first_pages(crawl: Crawl) -> None:
    for number in range(OWN_PAGES_MAX + 3):
        crawl.asked(f"/docs/deep/{number}")
    crawl.asked("/docs/gone", outcome="gone", status=404)
    text = " ".join(reported(crawl).text.split())
    assert "and 3 more, in pages.csv" in text
    assert "docs/ 104, under 1% dead deep/ 103" in text


def test_paths_may_be_deeper_than_templates_can_recurse(crawl: Crawl) -> None:
    crawl.asked("/" + "d/" * 1_500)
    assert reported(crawl).open == []


def test_a_second_crawl_shows_what_changed_and_how_the_site_grew() -> None:
    tables, objects = MemoryTables(), MemoryObjects()
    for crawl_id, paths in (("1", ["/", "/b"]), ("2", ["/", "/c", "/d"])):
        crawl = Crawl(crawl_id, tables=tables, objects=objects)
        for path in paths:
            crawl.asked(path, "depth_0", "seed")
        page = reported(crawl)
    text = " ".join(page.text.split())
    assert "Since crawl 1." in text
    assert "Added 2" in text
    assert "Removed 1" in text
    growth = text[text.index("Live pages, crawl by crawl") :]
    assert re.search(r":\d\d ?2.*:\d\d ?3", growth)


def test_a_site_that_was_not_mapped_has_no_report() -> None:
    with pytest.raises(StageMissing, match="materialize map/site_map first"):
        report_of_site(SITE, MemoryTables(), MemoryObjects(), DuckDBEngine())

"""Refreshes end to end: what is due is asked, within the budget, and what changed is derived."""

from dataclasses import replace

import pytest

from assets import names
from pipelines.jobs import plan_site
from resources.ports import SiteSettings
from tests.support.clocks import ShiftedClock
from tests.support.loopback import LoopbackSite, Page
from tests.support.rig import DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

pytestmark = pytest.mark.slow

PAGES = 12


def page(number: int, text: str, *links: str) -> Page:
    words = f"Page {number} tells of the tides at station {number}. {text} " * 8
    anchors = "".join(f'<a href="{link}">more</a>' for link in links)
    tag = f'"{number}-{len(text)}-{len(links)}"'
    return Page(f"<title>Page {number}</title><p>{words}</p>{anchors}", headers=(("ETag", tag),))


def small_pages() -> dict[str, Page]:
    home = Page("<title>Home</title>" + "".join(f'<a href="/p{n}">{n}</a>' for n in range(PAGES)))
    return {"/": home, **{f"/p{n}": page(n, "Low water.") for n in range(PAGES)}}


@pytest.fixture
def clock(rig: Rig) -> ShiftedClock:
    turned = ShiftedClock()
    rig.clock = turned
    return turned


def settings(site: LoopbackSite, **changes: object) -> DictCatalog:
    own = SiteSettings(
        site.host,
        seeds=(site.url("/"),),
        min_delay_s=0,
        allow_private_networks=True,
        max_depth=2,
        requests_per_day=1000,
    )
    return DictCatalog({site.host: replace(own, **changes)})  # type: ignore[arg-type]


def test_what_is_due_is_asked_and_what_changed_is_derived(rig: Rig, clock: ShiftedClock) -> None:
    with LoopbackSite(small_pages()) as site:
        rig.catalog = settings(site)
        assert rig.crawl(site.host).success
        fed = {row["url_key"]: row["document_digest"] for row in rig.rows(names.T_FEED_STATE, site.host)}
        clock.advance(days=30)
        site.pages["/p3"] = page(3, "High water, and a storm.")
        site.pages["/p5"] = page(5, "Low water.", "/new")
        site.pages["/new"] = page(99, "Spring tide.")
        asked_before = len(site.requests)
        result = rig.refresh(site.host)
        assert result.success, failure_sentence(result)
        asked = [request for request in site.requests[asked_before:] if request.path.startswith(("/p", "/new"))]
    assert sorted(request.path for request in asked) == sorted([*(f"/p{n}" for n in range(PAGES)), "/new"])
    assert all(request.header("If-None-Match") for request in asked if request.path != "/new")
    refreshed = {row["crawl_id"] for row in rig.rows(names.T_FETCHES, site.host, layer="refresh_0")}
    assert len(refreshed) == 1
    rows = rig.rows(names.T_FETCHES, site.host, layer="refresh_0", purpose="page")
    changed = {row["url"].rpartition("/")[2] for row in rows if row["record_type"] == "response"}
    assert changed == {"p3", "p5"}
    assert [row["url"] for row in rig.rows(names.T_FETCHES, site.host, layer="refresh_1", purpose="page")] == [
        site.url("/new")
    ]
    # Only what changed was extracted, parsed and fed.
    versions = [row["url"].rpartition("/")[2] for row in rig.rows(names.T_PAGES, site.host, crawl_id=refreshed.pop())]
    assert sorted(versions) == ["new", "p3", "p5"]
    now_fed = {row["url_key"]: row["document_digest"] for row in rig.rows(names.T_FEED_STATE, site.host)}
    assert {key.rpartition("/")[2] for key in now_fed if now_fed[key] != fed.get(key)} >= {"p3", "new"}
    assert {key.rpartition("/")[2] for key in now_fed if now_fed[key] == fed.get(key)} >= {"p1", "p2", "p4"}
    schedule = {row["url"].rpartition("/")[2]: row for row in rig.rows(names.T_PAGE_SCHEDULE, site.host)}
    assert (schedule["p3"]["visits"], schedule["p3"]["changes"]) == (1, 1)
    assert (schedule["p4"]["visits"], schedule["p4"]["changes"]) == (1, 0)
    assert schedule["p3"]["due_at"] < schedule["p4"]["due_at"]
    assert min(row["due_at"] for row in schedule.values() if row["due_at"]) > clock.now()


@in_a_folder
def test_a_refresh_stays_within_the_budget_and_goes_on_with_what_is_left(rig: Rig, clock: ShiftedClock) -> None:
    with LoopbackSite(small_pages()) as site:
        rig.catalog = settings(site, requests_per_day=5)
        assert rig.crawl(site.host).success
        asked: list[list[str]] = []
        for days in (400, 0, 2):
            clock.advance(days=days)
            before = len(site.requests)
            result = rig.refresh(site.host)
            assert result.success, failure_sentence(result)
            asked.append([request.path for request in site.requests[before:] if request.path != "/robots.txt"])
    assert [len(paths) for paths in asked] == [5, 0, 5]
    assert not set(asked[0]) & set(asked[2])


def sitemap(*urls: str) -> Page:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Page(f"<urlset>{entries}</urlset>", headers=(("Content-Type", "application/xml"),))


@in_a_folder
def test_what_a_refresh_finds_beyond_its_share_is_asked_by_the_next_one(rig: Rig, clock: ShiftedClock) -> None:
    with LoopbackSite(small_pages()) as site:
        site.pages["/sitemap.xml"] = sitemap(site.url("/p1"))
        rig.catalog = settings(site, requests_per_day=20)
        assert rig.crawl(site.host).success
        linked, listed = [f"/linked/{n}" for n in range(4)], [f"/listed/{n}" for n in range(4)]
        site.pages["/p5"] = page(5, "Low water.", *linked)
        site.pages["/sitemap.xml"] = sitemap(site.url("/p1"), *map(site.url, listed))
        site.pages |= {path: page(50 + n, "Spring tide.") for n, path in enumerate([*linked, *listed])}
        asked: list[set[str]] = []
        for days in (60, 2):
            clock.advance(days=days)
            before = len(site.requests)
            result = rig.refresh(site.host)
            assert result.success, failure_sentence(result)
            asked.append({request.path for request in site.requests[before:]} & {*linked, *listed})
            if not asked[1:]:
                rows = {row["url"]: row for row in rig.rows(names.T_PAGE_SCHEDULE, site.host, status="new")}
                assert sorted(rows) == sorted(site.url(path) for path in {*linked, *listed} - asked[0])
                assert max(row["due_at"] for row in rows.values()) <= clock.now()
    assert 0 < len(asked[0]) < 8
    assert set.union(*asked) == {*linked, *listed}


@in_a_folder
def test_what_a_dropped_file_names_is_planned_and_asked(rig: Rig, clock: ShiftedClock) -> None:
    with LoopbackSite(small_pages()) as site:
        rig.catalog = settings(site, requests_per_day=2)
        assert rig.crawl(site.host).success
        site.pages["/fresh"] = page(60, "Spring tide.")
        clock.advance(days=1)
        assert rig.refresh(site.host).success
        rig.objects.put("pings/drop.txt", f"{site.url('/p3?utm_source=x')}\n{site.url('/fresh')}\n".encode())
        clock.advance(days=1)
        job = rig.definitions().resolve_job_def(plan_site.name)
        assert job.execute_in_process(instance=rig.instance, partition_key=site.host).success
        assert not list(rig.objects.list(names.PINGS_PREFIX))
        before = len(site.requests)
        result = rig.refresh(site.host)
        assert result.success, failure_sentence(result)
        asked = [request.path for request in site.requests[before:]]
    assert sorted(path for path in asked if path != "/robots.txt") == ["/fresh", "/p3"]
    rows = {row["url"]: row for row in rig.rows(names.T_PAGE_SCHEDULE, site.host)}
    assert (rows[site.url("/fresh")]["status"], rows[site.url("/fresh")]["pings"]) == ("live", 0)
    assert rig.rows(names.T_SITE_SCHEDULE, site.host)[0]["pings_folded"] == 2


@in_a_folder
def test_a_site_that_was_never_crawled_has_nothing_to_refresh(rig: Rig) -> None:
    with LoopbackSite(small_pages()) as site:
        rig.catalog = settings(site)
        rig.instance.add_dynamic_partitions("sites", [site.host])
        result = rig.refresh(site.host)
        assert result.success, failure_sentence(result)
        assert site.requests == []
    report = result.asset_materializations_for_node("refresh")[-1]
    assert report.metadata["outcome"].value == "no_schedule"

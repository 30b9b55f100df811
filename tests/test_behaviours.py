"""A crawl of everything that servers do wrong: each address ends with one outcome, and nothing else is lost."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from assets import names
from resources.ports import Compacted, SiteSettings, TableStore, Vacuumed
from tests.support.loopback import LoopbackSite, Page
from tests.support.rig import DictCatalog, Rig, failure_sentence
from tests.support.s3 import in_a_folder

pytestmark = pytest.mark.slow

OUTCOMES = {
    "/_/chunked": "fetched",
    "/_/gzip": "fetched",
    "/_/lying-gzip": "fetched",
    "/_/bomb": "too_large",
    "/_/charset/euc-kr": "fetched",
    "/_/folded-header": "fetched",
    "/_/cookie-wall": "fetched",
    "/_/etag": "fetched",
    "/_/endless": "too_large",
    "/_/drop": "truncated",
    "/_/broken-chunks": "truncated",
    "/_/drop-before": "network_error",
    "/_/not-http": "network_error",
    "/_/headers-bomb": "network_error",
    "/_/ring/a": "redirected",
    "/_/hops/12": "redirected",
    "/_/status/403": "client_error",
    "/_/status/404": "gone",
    "/_/status/410": "gone",
    "/_/status/500": "server_error",
    "/paper": "wrong_type",
    "/away": "out_of_scope",
}


def bad_site() -> LoopbackSite:
    links = "".join(f'<a href="{path}">{path}</a> ' for path in OUTCOMES)
    return LoopbackSite(
        {
            "/": Page(f"<title>Trouble</title><p>Here is trouble of every kind.</p>{links}"),
            "/paper": Page(b"%PDF-1.4", content_type="application/pdf"),
            "/away": Page("", 302, (("Location", "http://elsewhere.example/"),)),
        }
    )


def settings(site: LoopbackSite, **changes: int) -> DictCatalog:
    common = SiteSettings(site.host, seeds=(site.url("/"),), min_delay_s=0, allow_private_networks=True)
    return DictCatalog({site.host: replace(common, **changes)})  # type: ignore[arg-type]


@in_a_folder
def test_each_address_ends_with_one_outcome(rig: Rig) -> None:
    with bad_site() as site:
        rig.catalog = settings(site, max_body_bytes=400_000, max_depth=1)
        result = rig.crawl(site.host)
        assert result.success, failure_sentence(result)
        asked = site.paths_seen()
    ends = rig.rows(names.T_FETCHES, site.host, is_final=True, purpose="page")
    found = {row["origin_key"].removeprefix(site.url("")): row["outcome"] for row in ends}
    assert {path: found.pop(path) for path in OUTCOMES} == OUTCOMES
    assert found == {"/": "fetched"}
    assert asked.count("/_/status/500") == 3
    assert asked.count("/_/status/403") == 1
    assert asked.count("/_/drop") == 2
    assert asked.count("/_/cookie-wall") == 2
    assert len([path for path in asked if path.startswith("/_/hops/")]) == 11
    reasons = {row["origin_key"].removeprefix(site.url("")): row["reason"] for row in ends}
    assert reasons["/_/ring/a"] == "redirect_loop"
    assert "10 hops" in reasons["/_/hops/12"]
    korean = next(row for row in rig.rows(names.T_PAGES, site.host) if row["url"].endswith("/euc-kr"))
    assert korean["charset"] == "euc-kr"
    assert "\ufffd" not in korean["text"]


@in_a_folder
def test_a_host_that_asks_to_wait_is_asked_later(rig: Rig) -> None:
    refusals = iter([Page("", 503, (("Retry-After", "1"),))])

    class ShySite(LoopbackSite):
        def page(self, path: str) -> Page:
            return next(refusals, Page("<p>Back again.")) if path == "/shy" else super().page(path)

    with ShySite({"/": Page('<a href="/shy">shy</a><a href="/other">other</a>'), "/other": Page("<p>Other.")}) as site:
        rig.catalog = settings(site, max_depth=1)
        assert rig.crawl(site.host).success
        times = [seen.monotonic_s for seen in site.requests if seen.path in ("/shy", "/other")]
    assert [row["outcome"] for row in rig.rows(names.T_FETCHES, site.host, is_final=True, layer="depth_1")] == [
        "fetched",
        "fetched",
    ]
    # Whatever is asked after the refusal waits for it.
    shy = [seen.monotonic_s for seen in site.requests if seen.path == "/shy"]
    assert min(time for time in times if time > shy[0]) - shy[0] >= 1.0


@in_a_folder
def test_a_host_that_wants_a_long_rest_is_set_aside(rig: Rig) -> None:
    pages = {f"/{n}": Page("<p>Never read.") for n in range(5)}
    links = '<a href="/busy">busy</a>' * 9 + "".join(f'<a href="{path}">x</a>' for path in pages)
    busy = Page("", 429, (("Retry-After", "7200"),))
    with LoopbackSite({"/": Page(links), "/busy": busy, **pages}) as site:
        rig.catalog = settings(site, max_depth=1)
        assert rig.crawl(site.host).success
    rows = rig.rows(names.T_FETCHES, site.host, is_final=True, layer="depth_1")
    assert len(rows) == 6
    deferred = [row for row in rows if row["outcome"] == "deferred"]
    assert len(deferred) >= 1
    assert all(row["retry_at"] > row["requested_at"] for row in deferred)
    assert len(site.paths_seen()) == len(set(site.paths_seen()))


@in_a_folder
@pytest.mark.parametrize("robots", [500, "drop"])
def test_a_robots_file_that_cannot_be_had_forbids_everything_until_it_can(rig: Rig, robots: int | str) -> None:
    with LoopbackSite({"/": Page("<p>Read me.")}, robots=robots) as site:
        rig.catalog = settings(site)
        assert rig.crawl(site.host).success
        assert set(site.paths_seen()) <= {"/robots.txt"}
        seeds = rig.rows(names.T_SEEDS, site.host)
        assert [(row["usable"], row["robots"]) for row in seeds] == [(False, "unreachable")]
        site.robots = "User-agent: *\nDisallow:\n"
        assert rig.crawl(site.host).success
    assert len(rig.rows(names.T_FETCHES, site.host, outcome="fetched", purpose="page")) == 1


@in_a_folder
def test_robots_rules_are_asked_once_and_kept(rig: Rig) -> None:
    with LoopbackSite({"/": Page('<a href="/no/x">no</a>')}, robots="User-agent: *\nDisallow: /no/\n") as site:
        rig.catalog = settings(site)
        for _ in range(2):
            assert rig.crawl(site.host).success
        assert site.paths_seen().count("/robots.txt") == 1
        assert "/no/x" not in site.paths_seen()
    denied = rig.rows(names.T_FETCHES, site.host, outcome="robots_denied")
    assert len(denied) == 2
    assert {row["reason"] for row in denied} == {f"http://{site.host}/robots.txt: Disallow: /no/"}


class StoreFailure(Exception):
    """The failure that a test plants."""


class FailingTables:
    """A ``TableStore`` whose appends to ``fetches`` fail after the first few."""

    def __init__(self, inner: TableStore, *, good_appends: int) -> None:
        self._inner = inner
        self._left = good_appends

    def append(self, table: str, rows: pa.Table) -> None:
        if table == names.T_FETCHES and rows.num_rows:
            if self._left == 0:
                raise StoreFailure("no commit today")
            self._left -= 1
        self._inner.append(table, rows)

    def replace(self, table: str, *, sites: Sequence[str], rows: pa.Table) -> None:
        self._inner.replace(table, sites=sites, rows=rows)

    def read(
        self,
        table: str,
        *,
        sites: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        where: ds.Expression | None = None,
        as_of: datetime | None = None,
    ) -> pa.Table:
        return self._inner.read(table, sites=sites, columns=columns, where=where, as_of=as_of)

    def files(self, table: str, *, sites: Sequence[str] | None = None) -> list[str]:
        return self._inner.files(table, sites=sites)

    def compact(self, table: str) -> Compacted:
        return self._inner.compact(table)

    def vacuum(self, table: str, *, keep_days: int, now: datetime) -> Vacuumed:
        return self._inner.vacuum(table, keep_days=keep_days, now=now)

    def location(self, table: str) -> str:
        return self._inner.location(table)


def test_a_batch_that_was_published_but_not_committed_is_taken_up(rig: Rig) -> None:
    pages = {f"/{n}": Page(f"<title>{n}</title><p>Page {n} of a small and patient site.") for n in range(8)}
    links = "".join(f'<a href="{path}">x</a>' for path in pages)
    with LoopbackSite({"/": Page(links), **pages}) as site:
        rig.catalog = settings(site, max_depth=1)
        whole = rig.tables
        rig.tables = FailingTables(whole, good_appends=3)
        failed = rig.crawl(site.host)
        assert not failed.success
        assert "no commit today" in failure_sentence(failed)
        asked_before = len(site.requests)
        rig.tables = whole
        assert rig.crawl(site.host).success
        assert site.paths_seen(asked_before) == []
    rows = rig.rows(names.T_FETCHES, site.host, is_final=True, purpose="page")
    assert len(rows) == len({row["origin_key"] for row in rows}) == 9
    event = rig.instance.get_latest_materialization_event(names.depth(1).raw_batches)
    assert event is not None
    assert event.asset_materialization is not None
    assert event.asset_materialization.metadata["recovered_captures"].value == 8


def refresh(content: str, text: str = "Moved.") -> Page:
    return Page(f'<meta http-equiv="refresh" content="{content}"><p>{text}')


@in_a_folder
def test_a_short_refresh_is_a_redirect_and_a_long_one_a_link(rig: Rig) -> None:
    pages = {
        "/": Page("".join(f'<a href="{path}">x</a>' for path in ("/old", "/ring/a", "/away", "/slow"))),
        "/old": refresh("0; URL='new/'"),
        "/new/": Page("<p>Here it is now."),
        "/ring/a": refresh("0;url=b"),
        "/ring/b": refresh("0;url=a"),
        "/away": refresh("1;url=http://elsewhere.example/"),
        "/slow": refresh("30;url=/later", "Read me first."),
        "/later": Page("<p>Later."),
    }
    with LoopbackSite(pages) as site:
        rig.catalog = settings(site, max_depth=2)
        assert rig.crawl(site.host).success
        asked = site.paths_seen()
    rows = rig.rows(names.T_FETCHES, site.host, purpose="page")
    found = {row["url"].removeprefix(site.url("")): (row["outcome"], row["reason"], row["hop"]) for row in rows}
    assert found["/old"] == ("redirected", "meta_refresh", 0)
    assert found["/new/"] == ("fetched", "", 1)
    assert found["/ring/a"] == ("redirected", "meta_refresh", 0)
    assert found["/ring/b"] == ("redirected", "redirect_loop", 1)
    assert found["http://elsewhere.example/"][0] == "out_of_scope"
    assert found["/slow"] == ("fetched", "", 0)
    assert found["/later"] == ("fetched", "", 0)
    assert sorted(asked) == sorted([*pages, "/robots.txt", "/sitemap.xml"])
    moved = next(row for row in rows if row["url"] == site.url("/old"))
    assert (moved["status"], moved["record_type"], moved["redirect_url"]) == (200, "response", site.url("/new/"))


@in_a_folder
def test_a_page_that_failed_in_three_crawls_running_is_left_alone(rig: Rig) -> None:
    with LoopbackSite({"/": Page('<a href="/bad">bad</a><a href="/gone">gone</a>'), "/bad": Page("", 403)}) as site:
        rig.catalog = settings(site, max_depth=1)
        for _ in range(5):
            assert rig.crawl(site.host).success
        asked = site.paths_seen()
    ends = rig.rows(names.T_FETCHES, site.host, is_final=True, origin_key=site.url("/bad"))
    ends.sort(key=lambda row: row["requested_at"])
    assert [row["outcome"] for row in ends] == ["client_error"] * 3 + ["deferred"] * 2
    assert all(row["retry_at"] == ends[2]["requested_at"] + timedelta(days=7) for row in ends[3:])
    assert ends[4]["reason"] == f"failed in 3 crawls running; asked again after {ends[4]['retry_at']:%Y-%m-%d}"
    assert (asked.count("/bad"), asked.count("/gone")) == (3, 5)


@in_a_folder
def test_what_the_last_crawl_had_to_leave_comes_first_in_the_next(rig: Rig) -> None:
    left = {f"/left/{number}": Page("<p>At last.") for number in range(3)}
    new = [f"/fresh/{number}" for number in range(3)]
    busy = Page("", 429, (("Retry-After", "7200"),))
    with LoopbackSite(
        {"/": Page("".join(f'<a href="{path}">x</a>' for path in left)), **dict.fromkeys(left, busy)}
    ) as site:
        rig.catalog = settings(site, max_depth=1)
        assert rig.crawl(site.host).success
        assert len(rig.rows(names.T_FETCHES, site.host, is_final=True, outcome="deferred")) == 3
        before = len(site.requests)
        site.pages |= left | dict.fromkeys(new, Page("<p>New."))
        site.pages["/"] = Page("".join(f'<a href="{path}">x</a>' for path in (*new, *left)))
        assert rig.crawl(site.host).success
        asked = site.paths_seen(before)
    assert asked[:2] == ["/", "/sitemap.xml"]
    assert set(asked[2:5]) == left.keys()
    assert set(asked[5:]) == set(new)

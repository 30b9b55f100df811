"""The schedule of a site: from the tables that crawls leave to rows that say when each page is due."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assets import names
from assets.recrawl.history import crawls_to_fold
from assets.recrawl.serving import due_counts, due_pages, explanation_of
from resources.ports import SiteSettings
from tests.assets.recrawl.scheduling import OTHER, SETTINGS, pages_of, planned, schedule_after
from tests.support.hand_made_crawl import HOST, SITE, START
from tests.support.memory import MemoryTables
from tests.support.visit_history import Asked, Dated, Pinged, VisitHistory, Walk

PATHS = ("/docs/a", "/docs/b", "/blog/c", "/sitemap.xml")


asked = st.builds(
    Asked,
    path=st.sampled_from(PATHS),
    outcome=st.sampled_from(
        [
            *["fetched"] * 5,
            *["not_modified"] * 2,
            *["redirected", "gone", "timeout", "server_error", "robots_denied", "deferred"],
        ]
    ),
    text=st.sampled_from(["one", "two"]),
    furniture=st.sampled_from(["", "+"]),
    etag=st.sampled_from([None, "v1", "v2"]),
    to=st.sampled_from(["/x", "/y"]),
    status=st.sampled_from([200, 404, 410, 503]),
)
walks = st.builds(
    Walk,
    gap_days=st.sampled_from([0.2, 1.0, 40.0]),
    asked=st.lists(asked, max_size=5),
    dated=st.lists(
        st.builds(Dated, path=st.sampled_from(PATHS), days=st.sampled_from([0.5, 3.0, 50.0])),
        max_size=3,
        unique_by=lambda entry: entry.path,
    ),
    pinged=st.lists(
        st.builds(
            Pinged,
            path=st.sampled_from([*PATHS, "/never/asked"]),
            # Stored long after, before, during and after the crawl.
            hours=st.sampled_from([-2000.0, -1.0, 0.0025, 0.5]),
        ),
        max_size=3,
    ),
    found=st.dictionaries(
        st.sampled_from([*PATHS[:3], "/found"]), st.sampled_from(["refresh_1", "page_budget", "excluded"]), max_size=2
    ),
    is_retired=st.booleans(),
    is_finished=st.sampled_from([True, True, False]),
    in_links=st.dictionaries(st.sampled_from(PATHS), st.integers(0, 9), max_size=2),
)


class ReversedTables(MemoryTables):
    """Tables that give their rows in another order than they got them, as a store may."""

    def read(self, table: str, **how: Any) -> pa.Table:
        """Read rows."""
        found = super().read(table, **how)
        return found.take(pa.array(range(found.num_rows - 1, -1, -1), pa.int64()))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(walks, st.booleans()), min_size=1, max_size=6), st.sampled_from([None, 5.0]))
def test_a_schedule_made_crawl_by_crawl_is_the_one_made_of_all_history(
    history: Sequence[tuple[Walk, bool]], requests_per_day: float | None
) -> None:
    tables = ReversedTables()
    other = VisitHistory(tables, OTHER)
    other.add(Walk(asked=[Asked("/docs/a"), Asked("/docs/b")]))
    planned(tables, other, replace(SETTINGS, site=OTHER), requests_per_day=requests_per_day)
    visits = VisitHistory(tables, SITE)
    for walk, plan_now in history:
        visits.add(walk)
        if plan_now:
            planned(tables, visits, requests_per_day=requests_per_day)
    step_by_step = planned(tables, visits, requests_per_day=requests_per_day)
    at_once = planned(tables, visits, requests_per_day=requests_per_day, full_refresh=True)
    assert at_once.pages.equals(step_by_step.pages)
    assert at_once.site == step_by_step.site
    assert at_once.digest == step_by_step.digest


def test_texts_not_bytes_decide_whether_a_page_changed() -> None:
    looks = [("one", ""), ("one", "+"), ("two", ""), ("one", "+"), ("one", "+")]
    crawls = [Walk(10.0, [Asked("/docs/b", text=text, furniture=furniture)]) for text, furniture in looks]
    _, result = schedule_after(*crawls)
    row = pages_of(result)["/docs/b"]
    assert (row["visits"], row["changes"], row["status"]) == (4, 2, "live")
    assert result.counts["cosmetic"] == 1
    assert result.site["fresh_at_visit"] == pytest.approx(0.5)


def test_the_last_answer_to_a_frontier_row_is_the_visit() -> None:
    tries = [Asked("/docs/b", "timeout", status=None), Asked("/docs/b", "redirected", to="/docs/b/", status=301)]
    _, result = schedule_after(Walk(asked=[*tries, Asked("/docs/b")]), Walk(asked=[*tries, Asked("/docs/b")]))
    row = pages_of(result)["/docs/b"]
    assert (row["visits"], row["changes"], row["fails"]) == (1, 0, 0)


def test_a_date_that_moved_brings_a_page_forward() -> None:
    first = Walk(1.0, [Asked(f"/docs/{n}") for n in range(8)], [Dated(f"/docs/{n}", 0.5) for n in range(8)])
    moved = Walk(9.0, (), [Dated(f"/docs/{n}", 9.5 if n == 3 else 0.5) for n in range(8)])
    _, result = schedule_after(first, moved)
    rows = pages_of(result)
    assert [rows[f"/docs/{n}"]["signals"] for n in range(8)] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert rows["/docs/3"]["due_at"] < min(rows[f"/docs/{n}"]["due_at"] for n in range(8) if n != 3)
    assert result.site["signals"] == 1


def test_only_crawls_that_cannot_grow_are_folded() -> None:
    rows = [("1", "started"), ("2", "crawl_report"), ("3", "refresh_report"), ("4", "depth_0/links")]
    crawls = pa.table({"crawl_id": [row[0] for row in rows], "stage": [row[1] for row in rows]})
    assert crawls_to_fold(crawls, "") == ["1", "2", "3"]
    assert crawls_to_fold(crawls, "2") == ["3"]


class TornTables(MemoryTables):
    """Tables whose writer dies before it writes the row of a site."""

    def replace(self, table: str, *, sites: Sequence[str], rows: pa.Table) -> None:
        """Put rows in the place of those of the sites."""
        if table == names.T_SITE_SCHEDULE:
            raise ConnectionError("the store went away")
        super().replace(table, sites=sites, rows=rows)


def test_a_run_that_dies_between_its_two_writes_counts_nothing_twice() -> None:
    crawls = [Walk(10.0, [Asked("/docs/b", text=text)]) for text in ("one", "two", "one")]
    tables = MemoryTables()
    history = VisitHistory(tables, SITE)
    for crawl in crawls[:2]:
        history.add(crawl)
    planned(tables, history)
    history.add(crawls[2])
    with pytest.raises(ConnectionError):
        planned(TornTables(tables.rows), history)
    again = planned(tables, history)
    in_one_go = schedule_after(*crawls)[1]
    assert again.pages.equals(in_one_go.pages)
    assert again.site == in_one_go.site


@pytest.mark.parametrize(
    ("settings_of_site", "requests_per_day", "expected"),
    [
        ({}, None, 4.0),
        ({"requests_per_day": 7.0}, None, 7.0),
        ({"requests_per_day": 7.0}, 3.0, 3.0),
        ({}, 12.0, 12.0),
    ],
    ids=["default", "its own", "its own beyond the global one", "all of the global one"],
)
def test_the_pages_of_a_site_want_what_it_has(
    settings_of_site: dict[str, float], requests_per_day: float | None, expected: float
) -> None:
    crawl = Walk(1.0, [Asked(f"/docs/{n}") for n in range(120)])
    site = SiteSettings(SITE, **settings_of_site)  # type: ignore[arg-type]
    _, result = schedule_after(crawl, site=site, requests_per_day=requests_per_day)
    assert result.site["demand_per_day"] == pytest.approx(expected, rel=1e-6)
    due = [(row["due_at"] - row["read_at"]) / timedelta(days=1) for row in result.pages.to_pylist()]
    assert sum(1 / days for days in due) == pytest.approx(expected, rel=1e-4)


def test_sites_share_one_budget_by_worth() -> None:
    tables = MemoryTables()
    histories = {site: VisitHistory(tables, site) for site in (SITE, OTHER, "removed.example")}
    for site, history in histories.items():
        for turn in range(6):
            text = f"{turn}" if site == OTHER else "always the same"
            history.add(Walk(5.0, [Asked(f"/docs/{n}", text=text) for n in range(40)]))
    rows = {}
    for site in ["removed.example", OTHER, SITE, OTHER, SITE, OTHER, SITE]:
        how = SiteSettings(site)
        rows[site] = planned(tables, histories[site], how, requests_per_day=10.0).site
    assert rows[SITE]["demand_per_day"] + rows[OTHER]["demand_per_day"] == pytest.approx(10.0, rel=0.01)
    assert rows[OTHER]["demand_per_day"] > 2 * rows[SITE]["demand_per_day"]
    assert rows[SITE]["theta_days"] == pytest.approx(rows[OTHER]["theta_days"], rel=0.01)


def test_importance_is_links_sections_and_what_is_said_of_pages() -> None:
    paths = ("/docs/a", "/docs/b", "/docs/deep/c", "/blog/d", "/old/e")
    site = SiteSettings(
        SITE,
        section_weights=(("/docs/", 3.0), ("/docs/deep/", 5.0)),
        page_weights=((f"{HOST}/docs/b?utm_source=x", 40.0), ("/old/", 0.25), ("/docs/b", 9.0)),
    )
    _, result = schedule_after(Walk(1.0, [Asked(path) for path in paths], in_links={"/docs/a": 3}), site=site)
    assert [pages_of(result)[path]["weight"] for path in paths] == [9.0, 40.0, 5.0, 1.0, 0.25]


def test_due_pages_and_counts_come_from_the_rows() -> None:
    crawl = Walk(1.0, [Asked("/docs/a"), *(Asked(f"/docs/{n}") for n in range(9)), Asked("/new", "deferred")])
    tables, result = schedule_after(crawl)
    site_rows = tables.read(names.T_SITE_SCHEDULE)
    page_rows = tables.read(names.T_PAGE_SCHEDULE)
    soon, later = START + timedelta(days=2.5), START + timedelta(days=400)
    assert due_pages(page_rows, site_rows, soon, 100)["url_key"].to_pylist() == [f"{HOST}/docs/a", f"{HOST}/new"]
    assert [site.due for site in due_counts(site_rows, soon)] == [2]
    assert due_pages(page_rows, site_rows, later, 4).num_rows == 4
    everything = due_pages(page_rows, site_rows, later, 100)
    assert everything.num_rows == 11
    assert everything["priority"].to_pylist() == sorted(everything["priority"].to_pylist(), reverse=True)
    assert result.site["due_by_hour"][0] == 1  # the page that was put off
    said = explanation_of(tables, SITE, f"{HOST}/docs/3", soon)
    assert said is not None
    assert said.sentence.startswith("not visited again yet, section changes every ")
    assert explanation_of(tables, SITE, f"{HOST}/never", soon) is None

"""What a schedule hears besides visits: pings, pages that refreshes found, sitemaps that are retired."""

from dataclasses import replace
from datetime import timedelta

from assets.recrawl.serving import explanation_of
from tests.assets.recrawl.scheduling import pages_of, planned, schedule_after
from tests.support.hand_made_crawl import HOST, SITE, START
from tests.support.memory import MemoryTables
from tests.support.visit_history import Asked, Dated, Pinged, VisitHistory, Walk


def test_a_ping_moves_due_times_at_once_and_is_folded_with_the_next_crawl() -> None:
    tables = MemoryTables()
    history = VisitHistory(tables, SITE)
    crawl = Walk(1.0, [Asked(f"/docs/{n}") for n in range(5)])
    history.add(crawl)
    before = pages_of(planned(tables, history))
    history.ping(Pinged("/docs/1", 0.5), Pinged("/docs/1", 0.6), Pinged("/docs/2", -0.008), Pinged("/new", 0.5))
    result = planned(tables, history)
    rows = pages_of(result)
    pinged_at = history.now + timedelta(hours=0.5)
    assert {path: row["pings"] for path, row in rows.items() if row["pings"]} == {"/docs/1": 2, "/new": 1}
    assert rows["/docs/1"]["due_at"] < before["/docs/1"]["due_at"]
    intervals = [rows[f"/docs/{n}"]["due_at"] - rows[f"/docs/{n}"]["read_at"] for n in (2, 3)]
    assert intervals[0] == intervals[1]  # it was visited after its ping
    assert (rows["/new"]["status"], rows["/new"]["due_at"], rows["/new"]["known_at"]) == ("new", pinged_at, pinged_at)
    # Nothing of it is state yet.
    assert (result.site["signals"], result.site["pings_heard"], result.site["pings_folded"]) == (0, 4, 0)
    assert planned(tables, history).pages.equals(result.pages)
    said = explanation_of(tables, SITE, f"{HOST}/docs/1", history.now + timedelta(hours=1))
    assert said is not None
    assert "2 change signals since" in said.sentence
    assert said.due_at == rows["/docs/1"]["due_at"]
    history.add(Walk(1.0, [Asked("/docs/1", text="other")]))
    after = planned(tables, history)
    rows = pages_of(after)
    assert (rows["/docs/1"]["signals"], rows["/docs/1"]["pings"], rows["/docs/1"]["changes"]) == (0, 0, 1)
    assert (rows["/new"]["signals"], rows["/new"]["only_pinged"]) == (1, False)
    assert (after.site["hits"], after.site["pings_folded"]) == (1, 4)


def test_what_a_refresh_found_and_could_not_ask_is_due_and_what_it_may_not_ask_rests() -> None:
    first = Walk(1.0, [Asked(f"/docs/{n}") for n in range(3)])
    found = {"/cut": "page_budget", "/died": "refresh_1", "/asked": "refresh_1", "/docs/0": "excluded"}
    _, result = schedule_after(first, Walk(1.0, [Asked("/asked")], found=found))
    rows = pages_of(result)
    began = START + timedelta(days=2, seconds=21)
    assert {path: rows[path]["status"] for path in found} == {
        **dict.fromkeys(["/cut", "/died"], "new"),
        "/asked": "live",
        "/docs/0": "barred",
    }
    assert {rows[path]["due_at"] for path in ("/cut", "/died")} == {began}
    assert rows["/docs/0"]["due_at"] == began + timedelta(days=7)


def test_a_retired_sitemap_is_never_due_until_it_is_read_again_and_found_alive() -> None:
    read = Walk(1.0, [Asked("/docs/1"), Asked("/sitemap.xml")], [Dated("/docs/1", 0.5)])
    tables, result = schedule_after(read, replace(read, is_retired=True))
    row = pages_of(result)["/sitemap.xml"]
    assert (row["status"], row["due_at"]) == ("retired", None)
    assert result.counts["retired"] == 1
    assert pages_of(schedule_after(replace(read, is_retired=True), read)[1])["/sitemap.xml"]["status"] == "live"
    said = explanation_of(tables, SITE, f"{HOST}/sitemap.xml", START)
    assert said is not None
    assert said.sentence == "a dated sitemap that stands still, not due"

"""Pings on their way in: which addresses are some, and files that are read exactly once."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets import names
from assets.recrawl.ping_intake import REFUSED_PREFIX, PingJudge, TakenIn, addresses_in, take_in_pings
from assets.recrawl.pings import read_pings, sites_to_plan
from assets.recrawl.schedule import schedule_of_site
from resources.ports import SiteSettings
from tests.support.answers import NOON
from tests.support.hand_made_crawl import HOST, SITE
from tests.support.memory import MemoryObjects, MemoryTables
from tests.support.rig import DictCatalog
from tests.support.visit_history import Asked, VisitHistory, Walk, scheduled_sites

BLOG = "https://blog.example.com"
CATALOG = DictCatalog({SITE: SiteSettings(SITE, exclude=("/private/",), tracking_parameters=("ref",))})


@pytest.mark.parametrize(
    ("address", "site", "expected"),
    [
        (f"{HOST}/a/?ref=x#top", None, (SITE, f"{HOST}/a/?ref=x", f"{HOST}/a")),
        (f"{BLOG}/b", None, ("docs.example.com", f"{BLOG}/b", f"{BLOG}/b")),
        (f"{HOST}:8443/c", None, (SITE, f"{HOST}:8443/c", f"{HOST}:8443/c")),
        ("https://z.example.org/d", None, "x.example.org, y.example.org may all hold it"),
        (
            "https://z.example.org/d",
            "y.example.org",
            ("y.example.org", "https://z.example.org/d", "https://z.example.org/d"),
        ),
        (f"{HOST}/private/a", None, "excluded"),
        (f"{HOST}/a", "x.example.org", "out_of_scope"),
        ("https://never.example/a", None, "crawl never.example first"),
        (f"{HOST}/a", "never.example", "crawl never.example first"),
        ("mailto:a@a.example", None, "not an http"),
        pytest.param("\ud800", None, "not an http", id="surrogate"),
    ],
)
def test_an_address_belongs_to_the_site_of_its_host_or_to_the_only_one_that_may_hold_it(
    address: str, site: str | None, expected: tuple[str, str, str] | str
) -> None:
    judged = PingJudge(scheduled_sites(SITE, "docs.example.com", "x.example.org", "y.example.org"), CATALOG).judge(
        [address, address], site
    )
    if isinstance(expected, str):
        assert all(expected in refused.reason for refused in judged.refused)
        assert (len(judged.taken), len(judged.refused)) == (0, 2)
    else:
        assert [(ping["site"], ping["url"], ping["url_key"]) for ping in judged.taken] == [expected]
        assert not judged.refused


def test_the_publisher_of_a_known_feed_may_ping_it_though_it_is_no_page() -> None:
    tables = MemoryTables()
    history, feed = VisitHistory(tables, SITE), f"{HOST}/private/feed.xml"
    history.add(Walk(asked=[Asked("/a"), Asked("/private/feed.xml")]))
    schedule_of_site(CATALOG.settings(SITE), tables, now=history.now, requests_per_day=None)
    judged = PingJudge(tables, CATALOG).judge([feed, f"{HOST}/private/other.xml"])
    assert ([ping["url"] for ping in judged.taken], len(judged.refused)) == ([feed], 1)
    tables.append(names.T_PINGS, judged.rows(history.now + timedelta(hours=1), "test"))
    now = history.now + timedelta(hours=2)
    pages = schedule_of_site(CATALOG.settings(SITE), tables, now=now, requests_per_day=None).pages
    assert [(row["kind"], row["pings"]) for row in pages.to_pylist()] == [("page", 0), ("sitemap", 1)]


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_any_text_has_addresses_or_none_and_never_a_blank_one(text: str) -> None:
    found = addresses_in(text)
    assert all(isinstance(address, str) for address in found)
    PingJudge(MemoryTables(), CATALOG).judge(found)


class Undeletable(MemoryObjects):
    """Objects that may be written and read, not removed."""

    def delete(self, key: str) -> None:
        """Leave it where it is."""


def dropped(objects: MemoryObjects, **files: Any) -> MemoryObjects:
    for name, content in files.items():
        data = content if isinstance(content, str) else json.dumps(content)
        objects.put(f"pings/{name.replace('_', '.')}", data.encode())
    return objects


def test_files_are_read_once_and_what_is_wrong_is_written_down() -> None:
    tables = scheduled_sites(SITE)
    index_now = {"host": SITE, "key": "k", "urlList": [f"{HOST}/a", f"{HOST}/b", "https://never.example/"]}
    objects = dropped(MemoryObjects(), one_json=index_now, two_txt=f"{HOST}/a\n{HOST}/a\n", notes_md="no drop")
    assert take_in_pings(tables, objects, CATALOG, NOON) == TakenIn(files=2, pings=3, refused=1)
    pings = read_pings(tables, SITE)
    assert [ping.url for ping in pings] == [f"{HOST}/a", f"{HOST}/a", f"{HOST}/b"]
    assert {ping.source.partition(" ")[0] for ping in pings} == {"pings/one.json", "pings/two.txt"}
    assert sorted(objects.data) == ["pings/notes.md", f"{REFUSED_PREFIX}one.json.log"]
    assert b"https://never.example/\tno site has a schedule" in objects.data[f"{REFUSED_PREFIX}one.json.log"]
    assert take_in_pings(tables, objects, CATALOG, NOON) == TakenIn()
    assert sites_to_plan(tables, tables.read(names.T_SITE_SCHEDULE)) == {SITE: 3}


def test_a_file_counts_once_though_it_stays_or_two_runs_read_it_at_once() -> None:
    tables = scheduled_sites(SITE)
    objects = dropped(Undeletable(), one_txt=f"{HOST}/a")
    assert take_in_pings(tables, objects, CATALOG, NOON).pings == 1
    assert take_in_pings(tables, objects, CATALOG, NOON + timedelta(minutes=1)).pings == 0
    # The other run looked before this one had written.
    other = scheduled_sites(SITE)
    take_in_pings(other, objects, CATALOG, NOON + timedelta(seconds=1))
    tables.append(names.T_PINGS, other.read(names.T_PINGS))
    assert [ping.pinged_at for ping in read_pings(tables, SITE)] == [NOON]
    assert sites_to_plan(tables, tables.read(names.T_SITE_SCHEDULE)) == {SITE: 1}

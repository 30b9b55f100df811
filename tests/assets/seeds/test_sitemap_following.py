"""The walk through a site's sitemaps: order, caps, cycles, whose addresses count."""

from datetime import UTC, datetime, timedelta

import pytest

from assets.seeds.sitemaps.entries import SitemapEntry, SitemapReading, SitemapTrouble
from assets.seeds.sitemaps.following import MAX_SITEMAP_FILES, NamedBy, SitemapWalk

HOME = "http://e.test"
A, B = f"{HOME}/a.xml", f"{HOME}/b.xml"


def asked(walk: SitemapWalk) -> list[str]:
    return [listed.url for listed in walk.next_wave()]


def index(*urls: str) -> SitemapReading:
    return SitemapReading(sitemaps=urls)


def pages(*urls: str, reason: str = "") -> SitemapReading:
    return SitemapReading(tuple(SitemapEntry(url) for url in urls), reason=reason)


def test_the_usual_place_is_asked_only_when_no_robots_txt_names_one() -> None:
    assert asked(SitemapWalk([A], [f"{HOME}/sitemap.xml"])) == [A]
    walk = SitemapWalk([], [f"{HOME}/sitemap.xml"])
    (listed,) = walk.next_wave()
    assert (listed.named_by, listed.by_robots) == (NamedBy.USUAL_PLACE, False)
    walk.fail(listed, "gone")
    assert walk.problems == ()


def test_an_index_that_lists_itself_and_its_parent_ends() -> None:
    walk = SitemapWalk([A], [])
    (listed,) = walk.next_wave()
    assert walk.is_unread(A)
    walk.take(listed, A, index(A, B, B, f"{A}#again"))
    (child,) = walk.next_wave()
    assert (child.url, child.level, child.found_on, child.named_by) == (B, 2, A, NamedBy.INDEX)
    walk.take(child, B, index(A, B))
    assert asked(walk) == []
    assert walk.problems == ()


@pytest.mark.parametrize(("days", "is_asked"), [(None, False), (-1, False), (0, False), (1, True)])
def test_a_retired_sitemap_is_asked_only_when_its_index_says_that_it_changed_since(
    days: int | None, is_asked: bool
) -> None:
    read_at = datetime(2026, 1, 2, tzinfo=UTC)
    dated = {} if days is None else {B: read_at + timedelta(days=days)}
    walk = SitemapWalk([A], [])
    walk.leave_out({B: read_at})
    (listed,) = walk.next_wave()
    walk.take(listed, A, SitemapReading(sitemaps=(B,), sitemap_lastmods=dated))
    assert (asked(walk), walk.left_out) == (([B], ()) if is_asked else ([], (B,)))
    assert walk.problems == ()


def test_a_final_address_is_read_once_whoever_leads_there() -> None:
    walk = SitemapWalk([A, B], [])
    first, second = walk.next_wave()
    assert walk.is_unread(f"{HOME}/real.xml")
    walk.take(first, f"{HOME}/real.xml", index(f"{HOME}/real.xml"))
    assert not walk.is_unread(f"{HOME}/real.xml")
    walk.fail(second, "redirected", f"{HOME}/real.xml")
    assert asked(walk) == []
    assert walk.problems == ()


def test_levels_and_files_have_caps_that_are_told() -> None:
    walk = SitemapWalk([A], [])
    for level in range(3):
        (listed,) = walk.next_wave()
        walk.take(listed, listed.url, index(f"{HOME}/{level}.xml"))
    assert asked(walk) == []
    assert walk.problems == ("too_deep: 1",)

    walk = SitemapWalk([f"{HOME}/{number}.xml" for number in range(MAX_SITEMAP_FILES + 7)], [])
    assert len(asked(walk)) == walk.files == MAX_SITEMAP_FILES
    assert walk.problems == ("too_many_files: 7",)


def test_what_cannot_be_a_sitemap_is_not_asked() -> None:
    walk = SitemapWalk([f"{HOME}/robots.txt", "ftp://e.test/s.xml", A], [])
    assert asked(walk) == [A]
    assert walk.problems == (
        f"{HOME}/robots.txt: {SitemapTrouble.NOT_A_SITEMAP}",
        "ftp://e.test/s.xml: not_an_address",
    )


@pytest.mark.parametrize(
    ("url", "counts"),
    [
        ("http://e.test/x", True),
        ("https://e.test/x", True),
        ("http://www.e.test/x", True),
        ("http://e.test:8080/x", False),
        ("http://docs.e.test/x", False),
        ("http://other.example/x", False),
    ],
)
def test_a_sitemap_that_no_robots_txt_names_speaks_for_its_own_host(url: str, counts: bool) -> None:
    walk = SitemapWalk([], [A])
    (listed,) = walk.next_wave()
    taken = walk.take(listed, A, pages(f"{HOME}/own", url))
    assert [entry.url for entry in taken.entries] == [f"{HOME}/own"] + [url] * counts
    assert taken.dropped == ({} if counts else {"other_host": 1})
    assert walk.problems == (() if counts else ("other_host: 1",))


def test_a_robots_txt_lends_its_voice_to_what_its_sitemaps_name() -> None:
    walk = SitemapWalk(["http://cdn.example/index.xml"], [])
    (listed,) = walk.next_wave()
    walk.take(listed, listed.url, index("http://third.example/s.xml"))
    (child,) = walk.next_wave()
    taken = walk.take(child, child.url, pages(f"{HOME}/a", "http://docs.e.test/b"))
    assert [entry.url for entry in taken.entries] == [f"{HOME}/a", "http://docs.e.test/b"]
    # Without one, an index names its own host's sitemaps only.
    walk = SitemapWalk([], [A])
    (listed,) = walk.next_wave()
    walk.take(listed, A, index("http://third.example/s.xml"))
    assert asked(walk) == []
    assert walk.problems == ("other_host: 1",)


def test_the_strict_location_rule_is_there_for_those_who_want_it() -> None:
    reading = pages(f"{HOME}/maps/a", f"{HOME}/b")
    for strict, count in ((False, 2), (True, 1)):
        walk = SitemapWalk([f"{HOME}/maps/s.xml"], [], strict_location=strict)
        (listed,) = walk.next_wave()
        assert len(walk.take(listed, listed.url, reading).entries) == count


def test_entries_come_once_in_their_order_and_troubles_are_told() -> None:
    walk = SitemapWalk([A], [])
    (listed,) = walk.next_wave()
    taken = walk.take(listed, A, pages(f"{HOME}/2", f"{HOME}/1", f"{HOME}/2", reason="truncated"))
    assert [entry.url for entry in taken.entries] == [f"{HOME}/2", f"{HOME}/1"]
    assert walk.problems == (f"{A}: truncated",)

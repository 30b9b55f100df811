"""Traps: each rule stops what goes on for ever, and lets its lawful look-alike pass."""

import hashlib
import itertools
import pickle
import uuid
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.frontier.session_paths import is_named_session, is_random
from assets.frontier.traps import CALENDAR_BUDGET, FACET_BUDGET, SESSION_BUDGET, TOKEN_BUDGET, TrapBudgets, trap
from assets.url.parse import resolve
from assets.url.scope import RejectReason
from tests.support.strategies import urls


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("a" * 2_000, RejectReason.URL_TOO_LONG),
        ("/".join(map(str, range(21))), RejectReason.PATH_TOO_DEEP),
        ("img/img/img/img/a.png", RejectReason.PATH_REPEAT),
        ("x/a/b/a/b/a/b", RejectReason.PATH_REPEAT),
        ("s?q=&q=&q=&q=", RejectReason.PARAM_REPEAT),
        ("s?" + "&".join(f"page={number}" for number in range(11)), RejectReason.PARAM_REPEAT),
    ],
)
def test_a_trap_is_refused_by_name(rest: str, reason: RejectReason) -> None:
    refusal = trap(f"http://e.test/{rest}")
    assert refusal is not None
    assert refusal.reason is reason
    assert refusal.rule


@pytest.mark.parametrize(
    "rest",
    [
        "a" * 1_900,
        "/".join(map(str, range(20))),
        "img/img/img/a.png",
        "2024/01/01/01/x",
        "a/b/a/b/c",
        "a/b/c/a/d/a/e",
        "s?q=&q=&q=",
        "s?" + "&".join(f"id[]={number}" for number in range(10)),
        "",
    ],
)
def test_the_lawful_look_alike_passes(rest: str) -> None:
    assert trap(f"http://e.test/{rest}") is None


def test_a_link_that_lacks_its_scheme_ends_after_few_pages() -> None:
    url = "http://www.x.test/"
    for _ in range(5):
        url = resolve("www.x.test/info/", url) or ""
        refusal = trap(url)
        if refusal:
            break
    assert refusal is not None
    assert refusal.reason is RejectReason.PATH_REPEAT
    assert url.count("info") == 3


def accepted(urls_in_order: list[str]) -> tuple[int, set[RejectReason]]:
    budgets = TrapBudgets()
    count = 0
    reasons = set()
    for url in urls_in_order:
        refusal = budgets.refusal(url)
        if refusal is None:
            budgets.accept(url)
            count += 1
        else:
            reasons.add(refusal.reason)
    return count, reasons


@pytest.mark.parametrize(
    "form", ["cal?month={0}-{1:02}", "cal/{0}/{1:02}/", "cal?year={0}&month={1}", "cal/{0}{1:02}01"]
)
def test_a_calendar_ends_at_its_budget(form: str) -> None:
    months = [(year, month) for year in range(1990, 2090) for month in range(1, 13)]
    count, reasons = accepted([f"http://e.test/{form.format(*month)}" for month in months])
    assert (count, reasons) == (CALENDAR_BUDGET, {RejectReason.CALENDAR})


def test_posts_with_dates_in_their_paths_are_no_calendar() -> None:
    posts = [f"http://e.test/blog/2024/{number % 12 + 1:02}/post-{number}" for number in range(1_000)]
    assert accepted(posts) == (1_000, set())


def test_a_lawful_archive_of_ten_years_is_had_whole() -> None:
    months = [f"http://e.test/archive/{year}/{month:02}/" for year in range(2015, 2025) for month in range(1, 13)]
    assert accepted(months) == (120, set())


def test_release_numbers_are_no_dates() -> None:
    pages = [f"http://e.test/docs/{major}.{minor}/page-1" for major in range(20) for minor in range(20)]
    assert accepted(pages) == (400, set())


def test_facets_end_soon_after_their_budget() -> None:
    values = {"color": range(6), "size": range(6), "sort": range(4), "brand": range(10)}
    combinations = [
        "http://e.test/shop?" + "&".join(f"{name}={value}" for name, value in zip(values, chosen, strict=True))
        for chosen in itertools.product(*values.values())
    ]
    count, reasons = accepted(combinations)
    assert FACET_BUDGET <= count < 250
    assert reasons == {RejectReason.FACETS}


@pytest.mark.parametrize(
    "form",
    [
        "viewtopic.php?f=2&t={0}",
        "index.php?option=content&view=article&id={0}&Itemid=5",
        "list?page={0}",
        "t/{0}?a=1&b=2",
    ],
)
def test_pages_that_each_have_a_number_are_no_facets(form: str) -> None:
    assert accepted([f"http://e.test/{form.format(number)}" for number in range(2_000)]) == (2_000, set())


def hexadecimal(number: int) -> str:
    return hashlib.sha1(str(number).encode()).hexdigest()


def uuid_of(number: int) -> str:
    return str(uuid.UUID(hex=hexadecimal(number)[:32]))


@pytest.mark.parametrize(
    ("form", "budget"),
    [
        ("s/(S({0}))/shop/cart", SESSION_BUDGET),
        ("(A({0})S({0}))/shop", SESSION_BUDGET),
        ("sid-{0}/shop?item=3", SESSION_BUDGET),
        ("PHPSESSID={0}/shop", SESSION_BUDGET),
        ("shop/{0}/cart", TOKEN_BUDGET),
    ],
)
def test_session_ids_in_paths_end_at_their_budget(form: str, budget: int) -> None:
    walk = [f"http://e.test/{form.format(hexadecimal(number))}" for number in range(1_000)]
    assert accepted(walk) == (budget + 1, {RejectReason.SESSION_PATH})


def test_each_page_behind_session_ids_is_had_once() -> None:
    budgets = TrapBudgets()
    had = set()
    for number in range(3_000):
        page = f"/page-{number % 60}"
        url = f"http://e.test/sid-{hexadecimal(number)}{page}"
        if budgets.refusal(url) is None:
            budgets.accept(url)
            had.add(page)
    assert len(had) == 60


@pytest.mark.parametrize(
    ("form", "token"),
    [
        ("commit/{0}", hexadecimal),
        ("commit/{0}?diff=split", hexadecimal),
        ("objects/{0}/", hexadecimal),
        ("blob/{0}/file-{1}.py", hexadecimal),
        ("orders/{0}", uuid_of),
        ("orders/{0}/lines/{0}", uuid_of),
        ("blog/post-{1}-how-to-play-mp4-and-h264/comments", hexadecimal),
        ("releases/{1}/notes", hexadecimal),
    ],
)
def test_names_that_only_look_random_are_no_session_ids(form: str, token: Callable[[int], str]) -> None:
    pages = [f"http://e.test/{form.format(token(number), number)}" for number in range(1_000)]
    assert accepted(pages) == (1_000, set())


@pytest.mark.parametrize("form", ["commit/{0}/files", "orders/{0}/invoice"])
def test_hundreds_of_commits_may_have_a_page_of_the_same_name(form: str) -> None:
    pages = [f"http://e.test/{form.format(hexadecimal(number))}" for number in range(200)]
    assert accepted(pages) == (200, set())


@pytest.mark.parametrize("segment", ["session-schedule", "sid", "sessions", "session-20240131", "f(x)", "(draft)"])
def test_a_word_is_no_session_id(segment: str) -> None:
    assert not is_named_session(segment)
    assert not is_random(segment)


def test_budgets_are_the_same_when_built_anew_or_sent_elsewhere() -> None:
    walk = [f"http://e.test/cal?day={number}" for number in range(CALENDAR_BUDGET)]
    budgets = TrapBudgets()
    for url in walk:
        budgets.accept(url)
    following = "http://e.test/cal?day=9999"
    assert budgets.refusal(following) == budgets.refusal(following)
    assert budgets.refusal(following) is not None
    assert pickle.loads(pickle.dumps(budgets)).refusal(following) == budgets.refusal(following)


@given(st.lists(urls() | st.text(), max_size=5))
def test_no_address_raises(found: list[str]) -> None:
    budgets = TrapBudgets()
    for url in found:
        trap(url)
        budgets.refusal(url)
        budgets.accept(url)

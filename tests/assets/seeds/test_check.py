from typing import Any

import pytest

from assets.seeds.check import SeedGroup, seed_groups, seed_row, unusable_sentence
from tests.support.answers import NOON


def row(outcome: str, **end: Any) -> dict[str, Any]:
    final = {"url": "http://e.test/", "outcome": outcome, "status": 200, "reason": "", **end}
    return seed_row("http://e.test/", final, sitemaps=[], checked_at=NOON)


def test_listed_seeds_win_over_remembered_ones_and_those_over_the_host() -> None:
    assert seed_groups("e.test", ["http://e.test/a"], ["http://e.test/b"]) == [SeedGroup(("http://e.test/a",))]
    assert seed_groups("e.test", [], ["http://e.test/b"]) == [SeedGroup(("http://e.test/b",))]
    assert seed_groups("e.test", [], []) == [SeedGroup(("https://e.test/", "http://e.test/"))]


def test_a_seed_listed_twice_is_one_seed() -> None:
    assert len(seed_groups("e.test", ["http://e.test/", "http://e.test/"], [])) == 1


@pytest.mark.parametrize("outcome", ["fetched", "not_modified", "too_large", "truncated"])
def test_what_can_be_read_is_usable(outcome: str) -> None:
    found = row(outcome, url="http://e.test/home")
    assert (found["usable"], found["reason"], found["final_url"]) == (True, "", "http://e.test/home")


@pytest.mark.parametrize(
    ("outcome", "end", "said"),
    [
        ("robots_denied", {}, "robots.txt forbids it"),
        ("robots_unreachable", {"reason": "robots_503: 503 Busy"}, "robots.txt does not answer"),
        ("dns_error", {"reason": "no such name"}, "does not resolve (no such name)"),
        ("private_address", {}, "set allow_private_networks"),
        ("out_of_scope", {"url": "http://other.test/"}, "redirects to http://other.test/, which is outside this site"),
        ("redirected", {"reason": "redirect_loop"}, "lead nowhere (redirect_loop)"),
        ("server_error", {"reason": "500 Oops"}, "it answered 500 Oops"),
        ("gone", {}, "there is no such page"),
        ("wrong_type", {}, "not an HTML page"),
    ],
)
def test_what_cannot_be_used_says_why(outcome: str, end: dict[str, Any], said: str) -> None:
    found = row(outcome, **end)
    assert not found["usable"]
    assert said in found["reason"]


def test_the_sentence_names_each_unusable_seed() -> None:
    rows = [row("fetched"), {**row("gone"), "seed_url": "http://e.test/old"}]
    assert unusable_sentence(rows) == "http://e.test/old: there is no such page"
    assert unusable_sentence([row("fetched")]) == ""

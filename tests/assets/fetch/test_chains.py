"""Stories that a killed run left open go on where their stored answers end."""

from typing import Any

import pytest

from assets.fetch.chains import carried_on
from assets.fetch.item import FetchItem, Purpose
from assets.url.key import KeyRules

SITE = "http://a.example"


def item() -> FetchItem:
    return FetchItem(
        site="a.example",
        layer="depth_1",
        purpose=Purpose.PAGE,
        url=f"{SITE}/a",
        url_key=f"{SITE}/a",
        host_key=SITE,
        origin_key=f"{SITE}/a",
        other_urls=(f"{SITE}/a/",),
    )


def answer(url: str, outcome: str, redirect_url: str | None = None, *set_cookie: str) -> dict[str, Any]:
    return {"url": url, "outcome": outcome, "redirect_url": redirect_url, "set_cookie": set_cookie}


TO_B = answer(f"{SITE}/a", "redirected", f"{SITE}/b")
TO_A_WITH_COOKIE = answer(f"{SITE}/a", "redirected", f"{SITE}/a", "seen=1; Path=/")
TO_OTHER_HOST = answer(f"{SITE}/a", "redirected", "http://b.example/b", "seen=1")
FAILED = answer(f"{SITE}/b", "server_error")


@pytest.mark.parametrize(
    ("answers", "url", "hop", "attempt", "cookies"),
    [
        pytest.param([], f"{SITE}/a", 0, 1, (), id="nothing stored"),
        pytest.param([TO_B], f"{SITE}/b", 1, 1, (), id="a redirect"),
        pytest.param([TO_B, FAILED, FAILED], f"{SITE}/b", 1, 3, (), id="a redirect and two failures"),
        pytest.param([TO_A_WITH_COOKIE], f"{SITE}/a", 1, 1, (("seen", "1"),), id="to itself with a cookie"),
        pytest.param([TO_OTHER_HOST], "http://b.example/b", 1, 1, (), id="cookies stay with their host"),
        pytest.param([TO_B, FAILED, TO_B], f"{SITE}/b", 1, 1, (), id="begun anew in between"),
        pytest.param([TO_B, answer(f"{SITE}/x", "server_error")], f"{SITE}/b", 1, 1, (), id="an answer to nothing"),
        pytest.param([answer(f"{SITE}/a", "gone")], f"{SITE}/a/", 0, 1, (), id="the other spelling"),
    ],
)
def test_a_story_goes_on_after_its_last_stored_answer(
    answers: list[dict[str, Any]], url: str, hop: int, attempt: int, cookies: tuple[tuple[str, str], ...]
) -> None:
    following = carried_on(item(), answers, key_rules=KeyRules(), validators=lambda key, url: None)
    assert (following.url, following.hop, following.attempt, following.cookies) == (url, hop, attempt, cookies)
    assert following.origin_key == item().origin_key
    assert len(following.chain) == following.hop

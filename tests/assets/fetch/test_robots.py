"""robots.txt: verdicts on answers, and rules."""

import base64
import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.fetch.robots import (
    MAX_ROBOTS_BYTES,
    RobotsRules,
    RobotsVerdict,
    read_robots,
    robots_verdict,
)
from tests.conformance.robots import real_files
from tests.support.strategies import urls

DATA = Path(__file__).resolve().parents[3] / "../shared/data/robots"
NEEDS_DATA = pytest.mark.skipif(not DATA.is_dir(), reason="shared/data is not beside this checkout")
URL = "https://e.test/robots.txt"
AGENT = "mybot"


def rules(text: str | bytes, agent: str = AGENT) -> RobotsRules:
    return read_robots(200, text if isinstance(text, bytes) else text.encode(), URL, agent)


def allows(text: str | bytes, path: str, agent: str = AGENT) -> bool:
    return rules(text, agent).allows(f"https://e.test{path}", agent)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, RobotsVerdict.READ_RULES),
        (302, RobotsVerdict.ALLOW_ALL),
        (304, RobotsVerdict.DISALLOW_ALL),
        (401, RobotsVerdict.ALLOW_ALL),
        (403, RobotsVerdict.ALLOW_ALL),
        (404, RobotsVerdict.ALLOW_ALL),
        (410, RobotsVerdict.ALLOW_ALL),
        (429, RobotsVerdict.DISALLOW_ALL),
        (503, RobotsVerdict.DISALLOW_ALL),
        (None, RobotsVerdict.DISALLOW_ALL),
    ],
)
def test_the_verdict_on_a_status(status: int | None, verdict: RobotsVerdict) -> None:
    assert robots_verdict(status) is verdict


@pytest.mark.parametrize("status", [None, 429, 500, 503])
def test_an_unreachable_file_forbids_everything_but_itself(status: int | None) -> None:
    answer = read_robots(status, b"User-agent: *\nAllow: /", URL, AGENT)
    assert (answer.reason, answer.body) == ("robots_unreachable", "")
    assert not answer.allows("https://e.test/", AGENT)
    assert answer.allows(URL, AGENT)


def test_an_error_body_is_never_read() -> None:
    answer = read_robots(404, b"User-agent: *\nDisallow: /", URL, AGENT)
    assert (answer.verdict, answer.reason, answer.body) == (RobotsVerdict.ALLOW_ALL, "robots_404", "")
    assert answer.allows("https://e.test/a", AGENT)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<html>User-agent: *<br>\nDisallow: /\n</html>", "text/html"),
        (b"\xef\xbb\xbf \n<!DOCTYPE html>\nUser-agent: *\nDisallow: /", None),
        (b"<!-- x --><head>\nUser-agent: *\nDisallow: /", "text/plain"),
        (b"Sorry<html>\nUser-agent: *\nDisallow: /", "text/html; charset=utf-8"),
    ],
)
def test_html_holds_no_rules(body: bytes, content_type: str | None) -> None:
    answer = read_robots(200, body, URL, AGENT, content_type)
    assert (answer.verdict, answer.reason) == (RobotsVerdict.ALLOW_ALL, "robots_html")
    assert answer.allows("https://e.test/a", AGENT)


@pytest.mark.parametrize("body", [b"User-agent: *\nDisallow: /", b"<!-- version 1 -->\n\nUser-agent: *\nDisallow: /"])
def test_rules_sent_as_html_are_rules(body: bytes) -> None:
    assert not read_robots(200, body, URL, AGENT, "text/html").allows("https://e.test/a", AGENT)


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /x\r\n",
        b"User-agent: *\rDisallow: /x\r",
        b"User-agent: *\nDisallow: /x",
        b"\xef\xbb\xbfuser agent *\rDISALLOW /x # why",
        b"User-agent: *\x0b\nDissalow: /x",
        b"\xff\xfe\nUser-agent: *\nDisallow: /x",
    ],
)
def test_marks_line_ends_and_small_faults_hide_no_rule(text: bytes) -> None:
    assert not allows(text, "/x/y")
    assert allows(text, "/y")


def test_agents_are_compared_by_product_token() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: MyBot/2.0\nDisallow: /only\n\nUser-agent: my\nDisallow: /never\n"
    for agent in ("mybot", "MyBot/1.0 (+https://e.test/bot)"):
        assert allows(text, "/a", agent)
        assert not allows(text, "/only", agent)
    for agent in ("notmybot", "mybot-news", "other"):
        assert not allows(text, "/a", agent)


def test_groups_of_one_agent_are_merged() -> None:
    text = "User-agent: mybot\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\n"
    text += "User-agent: other\nUser-agent: mybot\nDisallow: /b"
    assert [allows(text, path) for path in ("/a", "/b", "/c")] == [False, False, True]


def test_only_rules_end_a_group() -> None:
    text = "User-agent: mybot\nCrawl-delay: 5\nSitemap: /s.xml\nUnknown: line\nUser-agent: other\nDisallow: /a\n"
    assert not allows(text, "/a")
    assert rules(text).crawl_delay_s == 5
    assert rules(text, "other").crawl_delay_s is None


@pytest.mark.parametrize(
    ("text", "delay_s"),
    [
        ("Crawl-delay: 7\nUser-agent: *\nDisallow: /a", None),
        ("User-agent: mybot\nCrawl-delay: 2\n\nUser-agent: *\nCrawl-delay: 60", 2),
        ("User-agent: other\nCrawl-delay: 2\n\nUser-agent: *\nCrawl-delay: 0.5", 0.5),
        ("User-agent: mybot\nDisallow: /a\n\nUser-agent: *\nCrawl-delay: 60", None),
        ("User-agent: mybot\nDisallow: /a\nCrawl-delay: 3\n\nUser-agent: mybot\nCrawl-delay: 1", 3),
        ("User-agent: mybot\nUser-agent: other\nCrawl-delay: 3", 3),
        ("User-agent: *\nCrawl-delay: 1e9", 3600),
        ("User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay: nan\nCrawl-delay: inf\nCrawl-delay:", None),
    ],
)
def test_the_crawl_delay_is_that_of_the_agents_group(text: str, delay_s: float | None) -> None:
    assert rules(text).crawl_delay_s == delay_s
    assert rules(text).allows("https://e.test/b", AGENT)


def test_sitemap_lines_are_resolved() -> None:
    text = (
        "Sitemap: /s.xml\nUser-agent: *\nsitemap: https://cdn.test/t.xml\nSitemap: /s.xml\nSitemap:\nSitemap: http://["
    )
    assert rules(text).sitemaps == ("https://e.test/s.xml", "https://cdn.test/t.xml")


def test_a_rule_that_the_limit_cuts_is_dropped() -> None:
    head = b"User-agent: *\nDisallow: /first\n"
    rule = b"Disallow: /private/secret\n"
    padding = b"#" * (MAX_ROBOTS_BYTES - len(head) - 16) + b"\n"
    body = head + padding + rule + b"#" * 100_000
    assert body[MAX_ROBOTS_BYTES - 15 : MAX_ROBOTS_BYTES] == rule[:15]
    assert not allows(body, "/first")
    assert allows(body, "/private/other")
    assert allows(body, "/private/secret")
    whole = head + padding[len(rule) - 15 :] + rule + rule
    assert not allows(whole, "/private/secret")


def test_rules_are_the_same_when_a_table_kept_them() -> None:
    first = rules(b"\xef\xbb\xbfUser-agent: *\nDisallow: /\xff\nCrawl-delay: 2\nSitemap: /s.xml")
    first.body.encode()
    again = RobotsRules.from_text(first.verdict.value, first.reason, first.body, URL, AGENT)
    assert again == first
    assert not again.allows("https://e.test/%FF", AGENT)
    assert pickle.loads(pickle.dumps(again)) == first


def test_what_is_no_web_address_is_not_allowed() -> None:
    for url in ("mailto:a@e.test", "http://["):
        assert not rules("").allows(url, AGENT)


@given(st.binary(), urls() | st.text(), st.text())
def test_nothing_raises(body: bytes, url: str, agent: str) -> None:
    answer = read_robots(200, b"User-agent: *\nDisallow: " + body, url, agent, agent)
    answer.allows(url, agent)
    answer.body.encode()


@NEEDS_DATA
def test_the_undisputed_cases_pass() -> None:
    lines = (DATA / "cases.jsonl").read_text("utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case.get("agrees_with_google")]
    failed = []
    for case in cases:
        body = base64.b64decode(case["robots_txt_b64"]) if "robots_txt_b64" in case else case["robots_txt"].encode()
        answer = read_robots(200, body, "http://foo.bar/robots.txt", case["agent"])
        if answer.allows(case["url"], case["agent"]) != case["allowed"]:
            failed.append(case["id"])
    assert failed == []
    assert len(cases) == 791


@NEEDS_DATA
@pytest.mark.slow
def test_real_files_are_read_without_trouble() -> None:
    for host, body in real_files(DATA).items():
        answer = read_robots(200, body, f"https://{host}/robots.txt", AGENT)
        answer.allows(f"https://{host}/a?b=c", AGENT)
        again = RobotsRules.from_text(answer.verdict, answer.reason, answer.body, f"https://{host}/robots.txt", AGENT)
        assert again == answer

"""The url_key and its rules."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.url.key import KeyRule, KeyRules, resolve_with_key, url_key
from assets.url.parse import parse, resolve
from resources.errors import BadSettings
from resources.ports import SiteSettings
from tests.support.strategies import plain_links, urls


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://e.test/deals/100%25", "http://e.test/deals/100%25"),
        ("http://e.test/issue%20%2312/view#top", "http://e.test/issue%20%2312/view"),
        ("http://e.test/rate/50%+more/7%", "http://e.test/rate/50%25+more/7%25"),
        ("http://e.test/s?q=k%u0131z", "http://e.test/s?q=k%25u0131z"),
        ("http://e.test/s?q=a|b c&r=ü", "http://e.test/s?q=a%7Cb%20c&r=%C3%BC"),
        ("http://e.test/5%E2%82%AC?q=%E2%82%AC", "http://e.test/5%E2%82%AC?q=%E2%82%AC"),
        ("http://e.test:80/a", "http://e.test/a"),
        ("https://e.test:443/a", "https://e.test/a"),
        ("https://e.test:80/a", "https://e.test:80/a"),
        ("http://10.2.3.4/a", "http://10.2.3.4/a"),
        ("http://[2001:DB8::1]:80/a", "http://[2001:db8::1]/a"),
        ("HTTP://BÜCHER.Example./", "http://xn--bcher-kva.example/"),
        ("http://e.test.:8080/a", "http://e.test:8080/a"),
        ("http://e.test/a/./b/../c/%2e%2E/d", "http://e.test/a/d"),
        ("http://e.test/%7ejoe/a%2fb/c%26d", "http://e.test/~joe/a%2Fb/c%26d"),
        ("http://e.test//a///b/", "http://e.test/a/b"),
        ("http://e.test/", "http://e.test/"),
        ("http://e.test/s?q=&q=&q=", "http://e.test/s?q="),
        ("http://e.test/s?b=1&a=2&a=1&&", "http://e.test/s?a=2&a=1&b=1"),
        ("http://e.test/s?", "http://e.test/s"),
        ("http://e.test/s?utm_source=x&UTM%5FMedium=y&gclid=1&id=3", "http://e.test/s?id=3"),
        ("http://e.test/s?article/300", "http://e.test/s?article/300"),
        ("http://e.test/a/..;sid=1/b", "http://e.test/b"),
        ("mailto:A@e.test", "mailto:A@e.test"),
        ("no address", "no address"),
        ("\ud800", "\ufffd"),
    ],
)
def test_the_key_of(url: str, key: str) -> None:
    assert url_key(url) == key


def test_session_ids_do_not_make_pages() -> None:
    keys = {
        url_key(f"http://e.test{rest}")
        for rest in ("/f;jsessionid=A1?x=1", "/f;jsessionid=B2?x=1", "/f?PHPSESSID=9&x=1")
    }
    assert keys == {"http://e.test/f?x=1"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://e.test/", "https://e.test/"),
        ("https://e.test/", "https://www.e.test/"),
        ("https://e.test/", "https://e.test/index.html"),
        ("http://e.test/a%2Fb", "http://e.test/a/b"),
        ("http://e.test/A", "http://e.test/a"),
    ],
)
def test_only_evidence_may_merge(one: str, other: str) -> None:
    assert url_key(one) != url_key(other)


@pytest.mark.parametrize(
    ("rule", "url", "kept"),
    [
        (KeyRule.TRAILING_DOT, "http://e.test./a", "http://e.test./a"),
        (KeyRule.PERCENT_ENCODING, "http://e.test/%7ea", "http://e.test/%7ea"),
        (KeyRule.SESSION_IDS, "http://e.test/a;sid=1?sid=2", "http://e.test/a;sid=1?sid=2"),
        (KeyRule.COLLAPSE_SLASHES, "http://e.test/a//b", "http://e.test/a//b"),
        (KeyRule.TRAILING_SLASH, "http://e.test/a/", "http://e.test/a/"),
        (KeyRule.EMPTY_PARAMETERS, "http://e.test/a?", "http://e.test/a?"),
        (KeyRule.TRACKING, "http://e.test/a?utm_source=b", "http://e.test/a?utm_source=b"),
        (KeyRule.REPEATED_PARAMETERS, "http://e.test/a?b=1&b=1", "http://e.test/a?b=1&b=1"),
        (KeyRule.SORT_QUERY, "http://e.test/a?b=1&a=2", "http://e.test/a?b=1&a=2"),
    ],
)
def test_each_rule_can_be_switched_off(rule: KeyRule, url: str, kept: str) -> None:
    rules = KeyRules.of(SiteSettings("e.test", key_rules_off=(rule.value,)))
    assert url_key(url, rules) == kept
    assert url_key(url) != kept


def test_every_rule_is_tested_for_its_switch() -> None:
    switches: Any = test_each_rule_can_be_switched_off
    assert {case[0] for case in switches.pytestmark[0].args[1]} == set(KeyRule)


def test_a_site_can_name_parameters_of_its_own() -> None:
    rules = KeyRules.of(SiteSettings("e.test", tracking_parameters=("From", "x_*")))
    assert url_key("http://e.test/a?from=b&X_1=c&y=d&utm_id=e", rules) == "http://e.test/a?y=d"


def test_an_unknown_rule_is_a_bad_setting_that_names_the_known_ones() -> None:
    with pytest.raises(BadSettings, match=r"site 'e\.test'.*'sorting'.*sort_query"):
        KeyRules.of(SiteSettings("e.test", key_rules_off=("sorting",)))


def test_rules_can_be_sent_to_another_process() -> None:
    rules = KeyRules(frozenset({KeyRule.TRACKING}), ("from",))
    again = pickle.loads(pickle.dumps(rules))
    assert again == rules
    assert url_key("http://e.test/a?from=b", again) == "http://e.test/a"


@given(urls() | st.text(), st.frozensets(st.sampled_from(KeyRule)))
def test_the_key_of_a_key_is_itself(url: str, off: frozenset[KeyRule]) -> None:
    rules = KeyRules(off)
    once = url_key(url, rules)
    assert url_key(once, rules) == once
    once.encode()


@given(plain_links() | urls() | st.text(), plain_links() | urls(), st.frozensets(st.sampled_from(KeyRule)))
def test_a_link_has_the_key_of_the_address_it_means(href: str, base: str, off: frozenset[KeyRule]) -> None:
    rules = KeyRules(off)
    url = resolve(href, base)
    web = url is not None and url.startswith(("http://", "https://"))
    assert resolve_with_key(href, base, rules) == ((url, url_key(url or "", rules)) if web else None)


@given(plain_links() | urls(), plain_links() | urls())
def test_an_address_that_no_rule_changes_has_the_key_that_the_rules_give(href: str, base: str) -> None:
    url = resolve(href, base) or parse(href) or ""
    if url.startswith("http") and "?" not in url:
        # The empty query sends it through all rules, the last of which takes it off again.
        assert url_key(f"{url}?") == url_key(url)

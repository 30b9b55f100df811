"""Where links lead."""

from hypothesis import given
from hypothesis import strategies as st

from assets.links.targets import Targets
from assets.url.key import KeyRule, KeyRules, resolve_with_key

NAMES = ["a", "b.html", "~", "-", "%41", "%2f", ";sid=1", "?", "a=1", "&utm_source=x", "#", " ", "\t", "é", "e.test"]
STEPS = ["..", "../", "./", "/", "//", ".", "..;sid=1", "\\", "x:", "http:", "https://"]
BASES = st.sampled_from(
    (
        "http://e.test/",
        "http://e.test/a/b/c.html",
        "http://e.test./a/b",
        "http://e.test/a//b/",
        "http://e.test/a;sid=9/b",
        "http://e.test/a/..;sid=1/b",
        "http://e.test/%7Ea/x",
        "http://e.test/a%2Fb/x?q=/y/z",
        "https://e.test:81/~x/",
        "http://[::1]/a/b",
        "mailto:x",
        "nonsense",
    )
)


@given(
    st.lists(st.sampled_from(NAMES + STEPS), max_size=6).map("".join),
    BASES,
    st.frozensets(st.sampled_from(list(KeyRule)), max_size=9),
)
def test_short_cuts_lead_where_resolving_does(href: str, base: str, off: frozenset[KeyRule]) -> None:
    rules = KeyRules(off)
    assert Targets("http://other.test/", base, rules)[href] == resolve_with_key(href, base, rules)


def test_a_page_does_not_link_itself() -> None:
    targets = Targets("http://e.test/a?b", "http://e.test/a?b", KeyRules())
    assert [targets[href] for href in ("", "?b#c", "a?b", "/a?b", "mailto:x")] == [None] * 5

"""Host keys, registrable domains and site keys."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.url.host import (
    host_key,
    host_name,
    public_registrable_domain,
    registrable_domain,
    site_key_problem,
    suffix_list_version,
)
from tests.support.strategies import urls


@pytest.mark.parametrize(
    "url",
    [
        "http://bücher.example/a",
        "HTTP://BÜCHER.example:80/",
        "http://xn--bcher-kva.example./b?c",
        "http://xn--BCHER-kva。example/",
        "http://user:pass.:x@bücher.example",
    ],
)
def test_one_host_has_one_key(url: str) -> None:
    assert host_key(url) == "http://xn--bcher-kva.example"


@pytest.mark.parametrize(
    ("url", "key", "name"),
    [
        ("https://docs.example.org/a", "https://docs.example.org", "docs.example.org"),
        ("http://e.test:8080/", "http://e.test:8080", "e.test"),
        ("http://2130706433/", "http://127.0.0.1", "127.0.0.1"),
        ("http://[2001:DB8:0::1]/", "http://[2001:db8::1]", "2001:db8::1"),
        ("http://[::1]:8080/", "http://[::1]:8080", "::1"),
        ("ftp://e.test./", "ftp://e.test", "e.test"),
        ("mailto:a@e.test", "", ""),
        ("file:///etc/passwd", "", ""),
        ("http://", "", ""),
    ],
)
def test_the_host_of(url: str, key: str, name: str) -> None:
    assert (host_key(url), host_name(url)) == (key, name)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("docs.example.co.uk", "example.co.uk"),
        ("alice.github.io", "alice.github.io"),
        ("github.io", "github.io"),
        ("a.uk.com", "a.uk.com"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("127.0.0.1", "127.0.0.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("localhost", "localhost"),
        ("com", "com"),
        ("wiki.corp.internal", "wiki.corp.internal"),
        ("", ""),
    ],
)
def test_the_registrable_domain_of(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("docs.example.co.uk", "example.co.uk"),
        ("alice.github.io", "alice.github.io"),
        ("a.b.unlisted", "b.unlisted"),
        ("github.io", None),
        ("com", None),
        ("unlisted", None),
        ("localhost", None),
        (".example.org", None),
        (".org", None),
        ("127.0.0.1", None),
        ("2001:db8::1", None),
        ("", None),
    ],
)
def test_what_could_be_registered_for(host: str, domain: str | None) -> None:
    assert public_registrable_domain(host) == domain


def test_a_host_with_a_leading_dot_is_in_the_scope_of_no_other() -> None:
    assert registrable_domain(host_name("http://.example.org/")) == ".example.org"


def test_the_suffix_list_has_a_version_to_be_recorded() -> None:
    assert re.fullmatch(r"tldextract \d+\.\d+\.\d+ sha256:[0-9a-f]{12}", suffix_list_version())


@pytest.mark.parametrize(
    "key", ["docs.example.org", "localhost", "127.0.0.1:8000", "[::1]:8000", "xn--bcher-kva.example", "my_host.test"]
)
def test_a_host_name_is_a_site_key(key: str) -> None:
    assert site_key_problem(key) == ""


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("https://docs.example.org/", "docs.example.org"),
        ("http://e.test:8080/a?b", "e.test:8080"),
        ("Docs.Example.org", "docs.example.org"),
        (" docs.example.org ", "docs.example.org"),
        ("docs.example.org/guide", "docs.example.org"),
        ("docs.example.org.", "docs.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("127.1", "127.0.0.1"),
    ],
)
def test_what_is_nearly_a_site_key_is_told_the_right_one(key: str, wanted: str) -> None:
    assert site_key_problem(key) == f"{key!r} is not a site key: use the partition {wanted!r}."


def test_several_names_in_one_key_are_told_apart() -> None:
    assert site_key_problem("a.test,  https://B.test/x") == (
        "'a.test,  https://B.test/x' is not a site key: use the partitions 'a.test', 'b.test'."
    )


@pytest.mark.parametrize(
    "key",
    [
        "",
        " ",
        "a b",
        "a,b",
        "a...b",
        "a.test...b.test",
        "*.e.test",
        "e.test:99999",
        "e.test:0",
        "::1",
        "a" * 254,
        "\ud800",
        "a\n",
    ],
)
def test_what_is_no_site_key_is_told_what_one_looks_like(key: str) -> None:
    problem = site_key_problem(key)
    assert "docs.example.org" in problem or "use the partition 'a'" in problem
    assert "\n" not in problem


@given(urls() | st.text())
def test_no_string_raises(text: str) -> None:
    key = host_key(text)
    assert key == "" or host_key(key) == key
    assert registrable_domain(host_name(text)) == registrable_domain(registrable_domain(host_name(text)))
    public_registrable_domain(host_name(text))
    assert isinstance(site_key_problem(text), str)

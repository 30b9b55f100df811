"""The scope of a site, and suffixes of what is not a page."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.url.scope import Refusal, RejectReason, Scope, seeds_outside_scope
from assets.url.suffixes import resource_suffix
from resources.errors import BadSettings
from resources.ports import SiteSettings
from tests.support.strategies import urls


def test_private_suffixes_keep_strangers_out() -> None:
    scope = Scope.of(SiteSettings("alice.github.io"), ["http://alice.github.io/"])
    assert scope.refusal("http://alice.github.io/a") is None
    assert scope.refusal("http://bob.github.io/") == Refusal(RejectReason.OUT_OF_SCOPE, "alice.github.io")
    assert Scope.of(SiteSettings("a.uk.com"), []).refusal("http://b.uk.com/") is not None


@pytest.mark.parametrize("site", ["127.0.0.1:8000", "localhost", "[::1]:8000"])
def test_a_host_without_suffix_is_its_own_scope_on_all_ports(site: str) -> None:
    scope = Scope.of(SiteSettings(site), [])
    host = site.removesuffix(":8000")
    assert scope.refusal(f"http://{host}:9000/a") is None
    assert scope.refusal("http://10.0.0.1/") is not None


def test_the_domain_is_compared_whole() -> None:
    scope = Scope.of(SiteSettings("docs.example.org"), ["https://other.example.net/start"])
    assert scope.refusal("https://www.example.org./a") is None
    assert scope.refusal("https://example.net/a") is None
    for url in ("https://notexample.org/", "https://example.org.evil.test/", "https://e.test/?example.org"):
        refusal = scope.refusal(url)
        assert refusal == Refusal(RejectReason.OUT_OF_SCOPE, "example.net, example.org")


def test_rules_are_asked_in_order() -> None:
    settings = SiteSettings("e.test", include=("/docs/", "/guide/"), exclude=("/old/", r"[?&]print="))
    scope = Scope.of(settings, [])
    assert scope.refusal("mailto:a@e.test") == Refusal(RejectReason.SCHEME, "mailto")
    assert scope.refusal("http://[") == Refusal(RejectReason.SCHEME, "not an address")
    assert scope.refusal("http://f.test/a.pdf") == Refusal(RejectReason.OUT_OF_SCOPE, "e.test")
    assert scope.refusal("http://e.test/a.PDF") == Refusal(RejectReason.RESOURCE_SUFFIX, ".pdf")
    assert scope.refusal("http://e.test/old/") == Refusal(RejectReason.NOT_INCLUDED, "/docs/, /guide/")
    assert scope.refusal("http://e.test/docs/old/") == Refusal(RejectReason.EXCLUDED, "/old/")
    assert scope.refusal("http://e.test/docs/?print=1") == Refusal(RejectReason.EXCLUDED, "[?&]print=")
    assert scope.refusal("http://e.test/docs/new") is None


def test_a_site_says_which_suffixes_are_pages() -> None:
    scope = Scope.of(SiteSettings("e.test", document_suffixes=(".js", ".PDF"), exclude=("/old/",)), [])
    assert scope.refusal("http://e.test/wiki/Vue.js") is None
    assert scope.refusal("http://e.test/manual.pdf?v=2") is None
    assert scope.refusal("http://e.test/old/manual.pdf") == Refusal(RejectReason.EXCLUDED, "/old/")
    assert scope.refusal("http://e.test/style.css") == Refusal(RejectReason.RESOURCE_SUFFIX, ".css")
    assert Scope.of(SiteSettings("e.test"), []).refusal("http://e.test/wiki/Vue.js") is not None


def test_seeds_and_hubs_that_do_not_fit_their_site_are_told() -> None:
    settings = SiteSettings(
        "docs.example.org",
        seeds=("https://www.example.org/docs/", "https://example.net/docs/", "https://docs.example.org/docs/a.pdf"),
        hubs=("https://docs.example.org/news/", "https://other.test/docs/", "https://docs.example.org/docs/old/"),
        include=("/docs/",),
        exclude=("/old/",),
    )
    site = "site 'docs.example.org': the"
    refused = "is refused by the site's own scope"
    widened = "is on example.net, not on example.org, and takes all of example.net into the site."
    assert seeds_outside_scope(settings) == [
        f"{site} seed 'https://example.net/docs/' {widened}",
        f"{site} seed 'https://docs.example.org/docs/a.pdf' {refused} (resource_suffix: .pdf).",
        f"{site} hub 'https://docs.example.org/news/' {refused} (not_included: /docs/).",
        f"{site} hub 'https://other.test/docs/' {refused} (out_of_scope: example.net, example.org).",
        f"{site} hub 'https://docs.example.org/docs/old/' {refused} (excluded: /old/).",
    ]


@pytest.mark.parametrize(
    ("site", "seed"),
    [("blog", "https://blog.example.org/"), ("127.0.0.1:8000", "http://127.0.0.1:8000/"), ("[::1]", "http://[::1]/a")],
)
def test_seeds_that_fit_are_not_told(site: str, seed: str) -> None:
    assert seeds_outside_scope(SiteSettings(site, seeds=(seed,), hubs=(seed,))) == []


def test_an_address_of_a_site_key_is_told_seeds_elsewhere() -> None:
    assert len(seeds_outside_scope(SiteSettings("127.0.0.1", seeds=("http://127.0.0.2/",)))) == 1


@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1", "\ud800"])
def test_a_pattern_that_is_not_re2_is_a_bad_setting(pattern: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadSettings, match=r"site 'e\.test'.*exclude pattern"):
        Scope.of(SiteSettings("e.test", exclude=(pattern,)), [])
    assert capfd.readouterr().err == ""


def test_no_pattern_backtracks() -> None:
    scope = Scope.of(SiteSettings("e.test", exclude=("(a+)+$",)), [])
    assert scope.refusal(f"http://e.test/{'a' * 5_000}!") is None


def test_a_scope_can_be_sent_to_another_process() -> None:
    scope = Scope.of(SiteSettings("e.test", include=("a",)), [])
    assert pickle.loads(pickle.dumps(scope)) == scope


@given(urls() | st.text())
def test_no_address_raises(url: str) -> None:
    refusal = Scope.of(SiteSettings("e.test", include=("a",), exclude=("b",)), []).refusal(url)
    assert refusal is None or refusal.rule


@pytest.mark.parametrize(
    ("path", "suffix"),
    [
        ("/manual.pdf", ".pdf"),
        ("/manual.PDF?download=1#p2", ".pdf"),
        ("/a.zip;v=1", ".zip"),
        ("/style.css", ".css"),
        ("/a.tar.gz", ".gz"),
        ("/sitemap.xml.gz", ".gz"),
        ("/photo.jpeg", ".jpeg"),
        ("/page.html.gz", ""),
        ("/html.gz", ".gz"),
        ("/index.php", ""),
        ("/a.aspx", ""),
        ("/a.html.en", ""),
        ("/3.11", ""),
        ("/v1.2/", ""),
        ("/wiki/ASP.Net", ""),
        ("/wiki/Booking.com", ""),
        ("/wiki/File:Map.jpg", ""),
        ("/a.pdf/", ""),
        ("/?file=a.pdf", ""),
        ("/pdf", ""),
        ("", ""),
    ],
)
def test_the_resource_suffix_of(path: str, suffix: str) -> None:
    assert resource_suffix(f"http://e.test{path}") == suffix


def test_what_is_no_web_address_has_no_suffix() -> None:
    assert resource_suffix("mailto:a.pdf") == resource_suffix("http://[/a.pdf") == ""

from datetime import timedelta
from typing import Any

from assets.dedup.aliases import aliases
from assets.url.key import DEFAULT_RULES
from tests.support.answers import NOON


def hop(key: str, target: str | None = None, *, outcome: str = "redirected", minute: int = 0) -> dict[str, Any]:
    at = NOON + timedelta(minutes=minute)
    return {"url_key": key, "redirect_url": target, "requested_at": at, "outcome": outcome}


def page(key: str, digest: str = "", canonical: str = "", status: str = "live") -> dict[str, Any]:
    return {
        "url": key,
        "url_key": key,
        "status": status,
        "text_digest": digest or key,
        "declared_canonical_key": canonical,
        "last_asked_at": NOON,
    }


def found(hops: list[dict[str, Any]], state: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    rows = aliases(hops, state, DEFAULT_RULES)
    return {key: (row["alias_of"], row["evidence"]) for key, row in rows.items()}


def test_spellings_that_redirect_are_one_page_with_three_aliases() -> None:
    home = "https://e.test/"
    spellings = ["http://e.test/", "https://www.e.test/", "https://e.test/index.html"]
    hops = [hop(key, home) for key in spellings] + [hop(home, outcome="fetched")]
    assert found(hops, [page(home)]) == dict.fromkeys(spellings, (home, "redirect"))


def test_spellings_that_serve_other_content_are_two_pages() -> None:
    state = [page("https://e.test/", "one"), page("https://www.e.test/", "two")]
    assert found([], state) == {}


def test_a_chain_leads_to_its_end() -> None:
    hops = [hop("http://e.test/a", "http://e.test/b"), hop("http://e.test/b", "http://e.test/c")]
    assert found(hops, [page("http://e.test/c")]) == {
        "http://e.test/a": ("http://e.test/c", "redirect"),
        "http://e.test/b": ("http://e.test/c", "redirect"),
    }


def test_a_ring_and_a_way_to_nowhere_are_no_aliases() -> None:
    hops = [hop("http://e.test/a", "http://e.test/b"), hop("http://e.test/b", "http://e.test/a")]
    assert (
        found([*hops, hop("http://e.test/c", "http://e.test/gone")], [page("http://e.test/gone", status="gone")]) == {}
    )


def test_only_the_last_answer_of_an_address_counts() -> None:
    hops = [hop("http://e.test/a", "http://e.test/b"), hop("http://e.test/a", outcome="fetched", minute=5)]
    assert found(hops, [page("http://e.test/a"), page("http://e.test/b")]) == {}


def test_a_declared_canonical_is_evidence_only_with_the_same_text() -> None:
    state = [
        page("http://e.test/print", "same", canonical="http://e.test/page"),
        page("http://e.test/page", "same"),
        page("http://e.test/liar", "other", canonical="http://e.test/page"),
    ]
    assert found([], state) == {"http://e.test/print": ("http://e.test/page", "canonical")}


def test_canonicals_in_a_ring_are_no_evidence() -> None:
    names = [f"http://e.test/{name}" for name in "abc"]
    ring = [page(name, "same", canonical=names[(n + 1) % 3]) for n, name in enumerate(names)]
    assert found([], ring) == {}
    outside = page("http://e.test/d", "same", canonical=names[0])
    assert found([], [*ring, outside]) == {"http://e.test/d": (names[0], "canonical")}


def test_weaker_evidence_never_closes_a_ring_and_no_page_is_an_alias_of_an_alias() -> None:
    index, plain, secure = "http://e.test/a/index.html", "http://e.test/a", "https://e.test/a"
    assert found([], [page(index, "same"), page(plain, "same", canonical=index)]) == {plain: (index, "canonical")}
    state = [page("http://e.test/print", "same", canonical=plain), page(plain, "same"), page(secure, "same")]
    assert found([hop("http://e.test/old", plain)], state) == {
        "http://e.test/old": (secure, "redirect"),
        "http://e.test/print": (secure, "canonical"),
        plain: (secure, "digest"),
    }


def test_equal_text_is_evidence_only_for_variants_of_one_address() -> None:
    state = [
        page("http://e.test/a/index.html", "same"),
        page("http://e.test/a", "same"),
        page("https://www.e.test/a", "same"),
        page("http://e.test/copy", "same"),
    ]
    assert found([], state) == {
        "http://e.test/a": ("https://www.e.test/a", "digest"),
        "http://e.test/a/index.html": ("https://www.e.test/a", "digest"),
    }

"""The links of one page."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.links.page import LinkDocument, PageLinks, read_links
from assets.links.resources import srcset_urls
from assets.schemas import HYPERLINK, RESOURCE
from assets.url.key import KeyRules

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "links"
PAGE = "http://e.test/a/b/c.html"


def read(
    body: str | bytes,
    *,
    url: str = PAGE,
    content_type: str | None = "text/html; charset=utf-8",
    content_encoding: str | None = None,
    robots_tag: str | None = None,
    link_header: str | None = None,
    refresh: str | None = None,
) -> Any:
    data = body.encode("utf-8", "replace") if isinstance(body, str) else body
    document = LinkDocument(
        url, data, content_encoding, content_type, robots_tag, link_header, refresh, KeyRules(), 10**7
    )
    return row_of(read_links(document))


def row_of(links: PageLinks) -> dict[str, Any]:
    row = {name: getattr(links, name) for name in PageLinks.__slots__}
    for name, kind in (("hyperlinks", HYPERLINK), ("resources", RESOURCE)):
        fields = [field.name for field in kind]
        row[name] = [dict(zip(fields, value, strict=True)) for value in row[name]]
    return row


def urls(row: Any, kind: str | None = None) -> list[str]:
    return [link["url"] for link in row["hyperlinks"] if kind in (None, link["kind"])]


def test_relative_links_start_from_the_pages_directory() -> None:
    hrefs = ["x.html", "./x.html", "../x.html", "/x.html", "?p=2", "#f", "//cdn.test/y", "", " z\n.html "]
    row = read("".join(f"<a href='{href}'>t</a>" for href in hrefs))
    assert urls(row) == [
        "http://e.test/a/b/x.html",
        "http://e.test/a/b/x.html",
        "http://e.test/a/x.html",
        "http://e.test/x.html",
        "http://e.test/a/b/c.html?p=2",
        "http://cdn.test/y",
        "http://e.test/a/b/z.html",
    ]


def test_base_counts_for_everything() -> None:
    row = read(
        "<head><base href='/root/'><meta http-equiv=refresh content='0;url=y.html'><link rel=canonical href=can></head>"
        "<a href=x.html>x</a><a href=#f>f</a><img src=i.png>"
    )
    assert urls(row, "a") == ["http://e.test/root/x.html", "http://e.test/root/"]
    assert urls(row, "refresh") == ["http://e.test/root/y.html"]
    assert row["declared_canonical"] == "http://e.test/root/can"
    assert row["resources"][0]["url"] == "http://e.test/root/i.png"


def test_a_link_header_names_pages_relative_to_the_page_and_canonicals_after_those_of_the_head() -> None:
    header = '<k.html>; rel="canonical", <de.html>; rel=alternate; hreflang=de, <s.css>; rel=preload'
    row = read("<base href=/root/><p>x", link_header=header)
    assert (urls(row, "canonical"), urls(row, "alternate")) == (
        ["http://e.test/a/b/k.html"],
        ["http://e.test/a/b/de.html"],
    )
    assert row["declared_canonical"] == "http://e.test/a/b/k.html"
    both = read("<base href=/root/><link rel=canonical href=own>", link_header=header)
    assert both["declared_canonical"] == "http://e.test/root/own"


def test_a_refresh_header_is_a_link_and_goes_before_the_pages_own() -> None:
    own = "<base href=/root/><meta http-equiv=refresh content='30;url=own.html'>"
    assert urls(read(own, refresh="30; url=x.html"), "refresh") == ["http://e.test/a/b/x.html"]
    assert urls(read(own, refresh="nonsense"), "refresh") == ["http://e.test/root/own.html"]
    # The page itself, again and again, is no link; its own refresh does not count either.
    assert urls(read(own, refresh="30"), "refresh") == []
    assert urls(read("", refresh="0; url=/x"), "refresh") == ["http://e.test/x"]
    assert urls(read("%PDF", content_type="application/pdf", refresh="9;url=/x"), "refresh") == ["http://e.test/x"]


def test_each_kind_of_hyperlink_is_told_apart() -> None:
    row = read(
        "<head><link rel=next href=/n><link rel=prev href=/p><link rel='alternate' hreflang=de href=/de>"
        "<link rel=canonical href=/c><link rel='alternate stylesheet' href=/s.css></head><body>"
        "<a href=/a rel='NoFollow  ugc'> two <b>words</b>\n</a><map><area href=/area></map><iframe src=/i></iframe>"
        "<a href='javascript:x()'>j</a><a href='mailto:a@e.test'>m</a><a href='data:,x'>d</a><a name=x>n</a>"
    )
    kinds = {link["kind"]: link["url"].rpartition("/")[2] for link in row["hyperlinks"]}
    assert kinds == {
        "next": "n",
        "prev": "p",
        "alternate": "de",
        "canonical": "c",
        "a": "a",
        "area": "area",
        "iframe": "i",
    }
    link = next(link for link in row["hyperlinks"] if link["kind"] == "a")
    assert (link["anchor"], link["rel"]) == ("two words", "nofollow ugc")


def test_frames_are_hyperlinks() -> None:
    assert urls(read("<html><frameset><frame src=left.html></frameset></html>"), "frame") == [
        "http://e.test/a/b/left.html"
    ]


def test_anchor_texts_are_bounded() -> None:
    row = read("<a href=/open>" + "<i>word </i>" * 5_000)
    assert len(row["hyperlinks"][0]["anchor"]) <= 300


def test_resources_come_once_with_their_count() -> None:
    row = read(
        "<head><link rel='shortcut icon' href=/f.ico><link rel=stylesheet href=/s.css><script src=/x.js></script>"
        "<img src=/i.png srcset='/i.png 1x, /big.png 2x'><picture><source srcset=/w.webp></picture>"
        "<video src=/v.mp4 poster=/p.jpg><source src=/v.webm><track src=/t.vtt></video><embed src=/e.swf>"
        "<object data=/o.svg></object><img src='data:image/png;base64,x'><script>inline()</script>"
    )
    found = {resource["url"].rpartition("/")[2]: (resource["kind"], resource["count"]) for resource in row["resources"]}
    assert found == {
        "f.ico": ("icon", 1),
        "s.css": ("style", 1),
        "x.js": ("script", 1),
        "i.png": ("image", 2),
        "big.png": ("image", 1),
        "w.webp": ("image", 1),
        "v.mp4": ("media", 1),
        "p.jpg": ("image", 1),
        "v.webm": ("media", 1),
        "t.vtt": ("media", 1),
        "e.swf": ("media", 1),
        "o.svg": ("other", 1),
    }
    assert (row["scripts"], row["videos"], row["images"]) == (2, 1, 2)


@pytest.mark.parametrize(
    ("srcset", "expected"),
    [
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a.png,b.png 2x", ["a.png,b.png"]),
        ("http://e.test/w_1,h_2/a.png 100w, b.png 200w", ["http://e.test/w_1,h_2/a.png", "b.png"]),
        (" , ", []),
        ("", []),
    ],
)
def test_srcset_is_read_as_browsers_do(srcset: str, expected: list[str]) -> None:
    assert srcset_urls(srcset) == expected


def test_facts_of_the_page() -> None:
    row = read(
        "<html lang=EN-gb><head><title> A\n title </title><meta name=robots content='NoIndex,follow'></head>"
        "<body>Three visible words<script>not seen</script><form></form><form></form><p>図書館</body></html>",
        robots_tag="noarchive",
    )
    assert (row["title"], row["language"], row["robots_meta"]) == ("A title", "en-gb", "noindex,follow,noarchive")
    assert (row["words"], row["forms"], row["reason"]) == (6, 2, "")


def test_bytes_are_decoded_as_the_server_stored_them() -> None:
    body = gzip.compress("<meta charset=euc-kr><title>조수</title><a href=/x>바다</a>".encode("cp949"))
    row = read(body, content_type="text/html", content_encoding="gzip")
    assert (row["title"], row["charset"], row["charset_source"]) == ("조수", "euc-kr", "meta")
    assert row["hyperlinks"][0]["anchor"] == "바다"


def test_what_is_no_html_has_a_reason() -> None:
    row = read(b"%PDF-1.7 <a href=/x>", content_type="application/pdf")
    assert (row["reason"], row["hyperlinks"], row["charset"]) == ("not_html", [], "")
    assert read("")["reason"] == "empty_page"


@pytest.mark.parametrize(
    ("inner", "anchor"),
    [
        ("", ""),
        (" a\n b ", "a b"),
        ("<b>x</b>", "x"),
        ("1<b>2<i>3</i>4</b>5", "12345"),
        ("1<!--no-->2", "12"),
        ("1<b><!--no-->2</b>3", "123"),
        ("1<b>2</b><b>3<i>4</i></b>5", "12345"),
        ("<img src=x alt=no> y", "y"),
    ],
)
def test_an_anchor_is_all_text_of_the_link(inner: str, anchor: str) -> None:
    assert [link["anchor"] for link in read(f"<a href=/x>{inner}</a>z")["hyperlinks"]] == [anchor]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("one<b>two</b>three", 3),
        ("a<!--no-->b<?no no?>c", 3),
        ("<script>no</script>a<style>no</style>b<textarea>no</textarea>c<noscript>no</noscript>d", 4),
        ("<noscript>no<p>counted</p>too</noscript>", 2),
        ("don’t 図書館 x", 6),
        ("", 0),
    ],
)
def test_words_are_those_of_each_text_that_is_seen(page: str, words: int) -> None:
    assert read(f"<title>no</title><body>{page}")["words"] == words


@given(
    st.text(max_size=80),
    st.sampled_from(["<a href='", "<base href='", "<meta http-equiv=refresh content='", "<img srcset='"]),
)
def test_no_page_raises(text: str, before: str) -> None:
    read(before + text)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared reference data is not beside this checkout")
def test_plain_reference_pages_give_the_same_links() -> None:
    with (SHARED / "links.jsonl").open(encoding="utf-8") as lines:
        cases = [case for case in map(json.loads, lines) if not case["options"] and "links" in case]
    assert len(cases) >= 10
    wrong = []
    for case in cases:
        charset = f"; charset={case['encoding']}" if case["encoding"] else ""
        row = read(
            base64.b64decode(case["body_b64"]),
            url=case["url"],
            content_type=case["content_type"] or f"text/html{charset}",
        )
        found = list(dict.fromkeys(urls(row, "a") + urls(row, "area")))
        # The peer leaves pictures out and lets ftp in; here the suffix and the scheme are judged by scope.
        found = [url for url in found if not url.endswith(".jpg")]
        expected = [link["url"].partition("#")[0] for link in case["links"]]
        if set(found) != {url for url in expected if not url.startswith("ftp:")}:
            wrong.append((case["url"], found, expected))
    assert not wrong

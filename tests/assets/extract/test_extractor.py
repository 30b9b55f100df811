"""The extractor: one stored capture to the columns of one row."""

import gzip
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.extract.extractor import EXTRACTOR_VERSION, ExtractDocument, extract
from assets.schemas import PAGES

URL = "https://e.test/a/b/tide-tables.html"
PARAGRAPH = (
    "<p>The tide is the rise and fall of the sea, and every harbour master keeps a table of it near the door, "
    "so that those who sail can read when the water will carry them.</p>"
)


def read(
    body: str | bytes,
    *,
    url: str = URL,
    content_type: str | None = "text/html; charset=utf-8",
    content_encoding: str | None = None,
    robots_tag: str | None = None,
) -> Any:
    data = body.encode("utf-8", "replace") if isinstance(body, str) else body
    return extract(ExtractDocument(url, data, content_encoding, content_type, robots_tag))


def article(inner: str, head: str = "") -> str:
    return (
        f"<html lang=en><head>{head}</head><body><nav><a href=/>Home</a></nav><main><article>{inner}{PARAGRAPH * 3}"
        "</article></main><footer>Imprint</footer></body></html>"
    )


@pytest.mark.parametrize(
    ("href", "plain", "based"),
    [
        ("x.html", "https://e.test/a/b/x.html", "https://e.test/root/x.html"),
        ("../x.html", "https://e.test/a/x.html", "https://e.test/x.html"),
        ("?p=2", "https://e.test/a/b/tide-tables.html?p=2", "https://e.test/root/?p=2"),
        ("#part", "https://e.test/a/b/tide-tables.html#part", "https://e.test/root/#part"),
        ("//cdn.test/y", "https://cdn.test/y", "https://cdn.test/y"),
    ],
)
def test_links_in_markdown_are_absolute(href: str, plain: str, based: str) -> None:
    inner = f"<p>Whoever wants to know more may go and read <a href='{href}'>this page</a>, which says it all.</p>"
    assert f"[this page]({plain})" in read(article(inner))["markdown"]
    assert f"[this page]({based})" in read(article(inner, "<base href='/root/'>"))["markdown"]


def test_markdown_has_headings_lists_tables_and_code() -> None:
    row = read(
        article(
            f"<h1>Tides</h1>{PARAGRAPH}<h2>By moon</h2>{PARAGRAPH}<ul><li>spring tide<li>neap tide</ul>"
            "<pre><code>high = low + 6\nprint(high)</code></pre>"
            "<table><tr><th>Hour</th><th>Metres</th></tr><tr><td>6</td><td>4.1</td></tr></table>"
        )
    )
    for part in (
        "# Tides",
        "## By moon",
        "- spring tide",
        "```\nhigh = low + 6\nprint(high)\n```",
        "| Hour | Metres |",
    ):
        assert part in row["markdown"]
    assert "Home" not in row["markdown"]
    assert "Imprint" not in row["text"]
    assert "spring tide\nneap tide" in row["text"]
    assert "|" not in row["text"]
    assert row["characters"] == len(row["text"])


@pytest.mark.parametrize("depth", [240, 300, 10_000])
def test_deep_nesting_gives_text(depth: int) -> None:
    row = read(f"<body>{'<div>' * depth}{PARAGRAPH * 3}{'</div>' * depth}</body>")
    assert "harbour master" in row["text"]
    assert row["reason"] == ""


def test_tags_that_html_lets_out_are_not_missed() -> None:
    row = read(f"<!doctype html><title>Tides</title><nav>Menu</nav><main><h1>Tides</h1>{PARAGRAPH}</main>")
    assert row["text"].startswith("Tides\nThe tide is")


def test_an_index_of_thousands_of_links_is_kept_whole() -> None:
    entries = "".join(
        f"<li><a href={number}.html>Table of the tides, number {number}</a></li>" for number in range(2_000)
    )
    row = read(f"<body><nav>Menu</nav><div><ul>{entries}</ul></div><footer>Imprint</footer></body>")
    assert "number 0" in row["text"]
    assert "number 1999" in row["text"]
    assert "Imprint" not in row["text"]


def test_a_huge_colspan_makes_no_huge_table() -> None:
    cells = "<tr><th>Hour</th><th>Metres</th></tr><tr><td colspan=5000000000 rowspan=-1>6</td><td>4</td></tr>"
    row = read(article(f"<table>{cells}</table>"))
    assert row["reason"] == ""
    assert len(row["markdown"]) < 2_000


@pytest.mark.parametrize(
    "root", ["<div id=app></div>", "<div id=root> </div>", "<app-root></app-root>", "<p>Loading</p>"]
)
def test_a_script_shell_is_marked_and_its_noscript_is_no_text(root: str) -> None:
    row = read(
        f"<head><title>Shell</title><script src=/app.js></script></head><body>{root}"
        f"<noscript>You need to enable JavaScript to run this app. {PARAGRAPH}</noscript></body>"
    )
    assert "needs_js" in row["flags"]
    assert "JavaScript" not in row["text"]
    assert "harbour" not in row["text"]


def test_a_short_page_with_scripts_is_no_shell() -> None:
    row = read("<script src=/count.js></script><h1>Closed</h1><p>Back on Monday.</p>")
    assert row["flags"] == ["too_short"]
    assert row["text"].split() == ["Closed", "Back", "on", "Monday."]


@pytest.mark.parametrize(
    ("meta", "header", "flagged"),
    [
        ("<meta name=robots content=noindex>", None, True),
        ("<meta name=robots content=NONE>", None, True),
        ("", "noindex, nofollow", True),
        ("<meta name=robots content=nofollow>", "googlebot: noindex", False),
    ],
)
def test_noindex_is_a_flag(meta: str, header: str | None, flagged: bool) -> None:
    assert ("noindex" in read(article("", meta), robots_tag=header)["flags"]) is flagged


@pytest.mark.parametrize("body", ["", "\0\0", "<p> </p>", "<script>x</script>"])
def test_no_text_is_empty_with_no_digest(body: str) -> None:
    row = read(body)
    assert row["flags"] == ["empty"]
    assert (row["text_digest"], row["simhash"], row["features"]) == ("", None, 0)
    assert (row["title"], row["title_source"]) == ("tide tables", "path")


@pytest.mark.parametrize(
    ("charset", "text", "name"),
    [("cp949", "조수는 하루에 두 번 바뀝니다. ", "euc-kr"), ("latin-1", "Größe und Höhe der Flut. ", "iso-8859-1")],
)
def test_legacy_pages_have_right_titles_and_texts(charset: str, text: str, name: str) -> None:
    body = f"<html><head><meta charset={name}><title>{text}</title></head><body><p>{text * 12}</p></body></html>"
    row = read(gzip.compress(body.encode(charset)), content_type="text/html", content_encoding="gzip")
    assert row["title"] == text.strip()
    assert text.strip() in row["text"]
    assert row["charset_source"] == "meta"


def visited(token: str, seconds: int, visitors: int, year: int, ad: str, word: str = "door") -> str:
    """Give one page as it looks at one visit."""
    return article(
        f"<h1>Tides</h1>{PARAGRAPH.replace('door', word)}"
        f"<p>Generated at 12:30:{seconds}, and seen by the harbour master, {seconds} minutes ago.</p>"
        f"<p>Visitors: {visitors:,} since the harbour was opened to all of them by the harbour master.</p>"
        f"<div class='ad-slot'>{ad}</div><form><input type=hidden name=csrf value={token}><p>Search</p></form>"
        f"<p>Copyright 1999-{year} The harbour master and all who keep the tables of the tides.</p>",
        head=f"<meta name=csrf-token content={token}><script nonce={token}>var t = '{token}'</script>",
    )


def test_an_edited_word_changes_the_digest_and_what_is_volatile_does_not() -> None:
    one = read(visited("a1b2", 11, 1_234, 2024, "Buy ropes"))
    other = read(visited("c3d4", 59, 98_765, 2025, "Buy sails, and buy them now"))
    edited = read(visited("a1b2", 11, 1_234, 2024, "Buy ropes", word="gate"))
    assert one["text"] != other["text"]
    assert one["text_digest"] == other["text_digest"]
    assert one["simhash"] == other["simhash"]
    assert edited["text_digest"] != one["text_digest"]


def test_what_is_no_html_is_said_to_be_none() -> None:
    assert read(b"%PDF-1.7", content_type=None)["reason"] == "not_html"
    assert read(b"<p>x", content_type="text/css")["reason"] == "not_html"


def test_a_row_has_the_columns_of_the_table_and_no_other() -> None:
    given = {"site", "crawl_id", "url", "url_key", "fetched_at", "payload_digest", "canonical_verdict"}
    for row in (read(article("")), read(""), read("x", content_type="image/png")):
        assert set(row) == set(PAGES.names) - given
        assert row["extractor_version"] == EXTRACTOR_VERSION


def test_a_worker_can_be_sent_the_work() -> None:
    document = ExtractDocument(URL, article("").encode(), None, None, None)
    assert pickle.loads(pickle.dumps(extract))(pickle.loads(pickle.dumps(document)))["reason"] == ""


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=60),
    st.sampled_from(
        ["<table><td colspan=", "<script type='application/ld+json'>", "<meta name=date content='", "<h1>"]
    ),
)
def test_no_page_raises(text: str, before: str) -> None:
    read(before + text)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<code class="m"><a href="m.html">mod_alias</a></code>', "[`mod_alias`](http://a.test/d/m.html)"),
        ("<code>one<b>two</b>three</code>", "`onetwothree`"),
        ('<code>see <a href="m.html">this</a></code>', "`see this`"),
    ],
)
def test_markup_inside_inline_code_keeps_its_text(html: str, markdown: str) -> None:
    filler = "<p>" + "The directive is described at length in this paragraph of the manual. " * 6 + "</p>"
    body = f"<html><body><main><h1>T</h1>{filler}<p>Use {html} here.</p></main></body></html>"
    found = extract(ExtractDocument("http://a.test/d/x", body.encode(), None, "text/html", None))
    assert f"Use {markdown} here." in str(found["markdown"])

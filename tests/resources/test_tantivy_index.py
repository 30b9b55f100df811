"""The embedded full-text index: what is found, by whom, and what is kept over restarts and crowds."""

import fcntl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.errors import PermanentError, StoreBusy, TransientError
from resources.ports import FeedBatch, IndexDocument, IndexSink, SearchFilter, SearchIndex
from resources.tantivy_index import TantivyIndex


def document(name: str, text: str = "", *, title: str = "", site: str = "a", **facts: Any) -> IndexDocument:
    url = f"https://{site}.example/{name}"
    return IndexDocument(
        document_id=f"{site}-{name}",
        site=site,
        url=url,
        url_key=url,
        title=title,
        markdown="",
        text=text,
        fetched_at="2026-05-01T00:00:00Z",
        text_digest="",
        warc_file="",
        warc_offset=0,
        **{"language": "", "published_on": "", **facts},
    )


def batch(sequence: int, *upserts: IndexDocument, gone: tuple[str, ...] = (), site: str = "a") -> FeedBatch:
    return FeedBatch(site, sequence, upserts, gone)


Find = Callable[[str], list[str]]


@pytest.fixture
def index(tmp_path: Path) -> TantivyIndex:
    return TantivyIndex(tmp_path / "index")


@pytest.fixture
def find(index: TantivyIndex) -> Find:
    """Search, and give the last part of the URLs."""
    return lambda words: [hit.url.rsplit("/", 1)[1] for hit in index.search(words)]


def test_it_fits_both_ports(index: TantivyIndex) -> None:
    assert isinstance(index, IndexSink)
    assert isinstance(index, SearchIndex)


def test_without_an_index_there_are_no_hits_and_no_cursor(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "nowhere")

    assert (index.search("word"), index.cursor("a")) == ([], 0)
    assert not (tmp_path / "nowhere").exists()


def test_upserts_replace_and_tombstones_remove(index: TantivyIndex, find: Find) -> None:
    index.apply([batch(1, document("1", "old words"), document("2", "other words"))])
    index.apply([batch(2, document("1", "new words"), gone=("a-2",))])

    assert (find("old"), find("new"), find("other"), find("words")) == ([], ["1"], [], ["1"])
    assert index.cursor("a") == 2


def test_a_batch_that_was_applied_is_passed_over(index: TantivyIndex, find: Find) -> None:
    index.apply([batch(1, document("1", "first")), batch(2, document("1", "second"))])
    index.apply([batch(1, document("1", "first")), batch(2, document("1", "second"))])
    index.apply([])

    assert (find("first"), find("second"), index.cursor("a")) == ([], ["1"], 2)


def test_a_missing_batch_is_an_error_and_nothing_is_half_applied(index: TantivyIndex, find: Find) -> None:
    index.apply([batch(1, document("1", "first"))])

    with pytest.raises(PermanentError, match="is at batch 2 of a; batch 4 of a does not follow"):
        index.apply([batch(2, document("2", "second")), batch(4, document("4", "fourth"))])

    assert (find("second"), index.cursor("a")) == ([], 1)
    index.apply([batch(2, document("2", "second"))])
    assert find("second") == ["2"]


def test_each_site_has_its_cursor_and_can_be_searched_alone(index: TantivyIndex) -> None:
    index.apply([batch(1, document("1", "word", site="a"), site="a")])
    index.apply([batch(1, document("1", "word", site="b"), site="b"), batch(2, site="b")])

    assert [index.cursor(site) for site in ("a", "b", "c")] == [1, 2, 0]
    assert {hit.site for hit in index.search("word")} == {"a", "b"}
    assert [hit.site for hit in index.search("word", only=SearchFilter(site="b"))] == ["b"]
    assert index.search("word", only=SearchFilter(site="c")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("数据库连接池的配置", "连接池", id="a Chinese word"),
        pytest.param("京都の東京タワー", "東京", id="a Japanese word"),
        pytest.param("京都の東京タワー", "タワー", id="katakana with a long vowel"),
        pytest.param("한국어 문서 검색", "한국어", id="a Korean word"),
        pytest.param("การค้นหาข้อความ", "ค้นหา", id="a Thai word"),
        pytest.param("Ein naïves Café", "NAIVES cafe", id="case and accents"),
        pytest.param("python 3.11 is here", "3.11", id="a version"),
        pytest.param("call os.path.join now", "os.path.join", id="a dotted name"),
        pytest.param("数据库的连接池", "数据库连接池", id="a Chinese sentence of which parts are there"),
        pytest.param("some of the words", "some unknown word", id="some of the words"),
    ],
)
def test_words_are_found(index: TantivyIndex, find: Find, text: str, words: str) -> None:
    index.apply([batch(1, document("1", text), document("2", "xyz"))])

    assert find(words) == ["1"]


def test_characters_in_another_order_are_another_word(index: TantivyIndex, find: Find) -> None:
    index.apply([batch(1, document("1", "京都の東京タワー"))])

    assert find("京東") == []


def test_phrases_and_exclusions(index: TantivyIndex, find: Find) -> None:
    index.apply([batch(1, document("1", "red green blue"), document("2", "green red"))])

    assert find('"red green"') == ["1"]
    assert find("red -blue") == ["2"]
    assert find("-blue") == []


def test_a_title_counts_more_than_a_heading_and_a_heading_more_than_the_text(index: TantivyIndex, find: Find) -> None:
    index.apply(
        [
            batch(
                1,
                document("text", "depth and other words"),
                document("heading", "and other words again", headings=("depth",)),
                document("title", "and other words again", title="depth"),
            )
        ]
    )

    assert find("depth") == ["title", "heading", "text"]


def test_words_of_links_that_lead_to_a_page_find_it(index: TantivyIndex, find: Find) -> None:
    index.apply([batch(1, document("1", "other", anchor_texts=("echo sounder",)), document("2", "an echo"))])

    assert (find("echo"), find("sounder")) == (["1", "2"], ["1"])


@pytest.mark.parametrize(
    ("only", "found"),
    [
        (SearchFilter(language="pt"), ["1", "2"]),
        (SearchFilter(language="pt-BR"), ["1"]),
        (SearchFilter(language="PT_br"), ["1"]),
        (SearchFilter(language="en"), []),
        (SearchFilter(after=date(2026, 4, 1)), ["2", "3"]),
        (SearchFilter(after=date(2026, 5, 2)), ["3"]),
        (SearchFilter(site="a", language="pt", after=date(2026, 1, 1)), ["1", "2"]),
    ],
)
def test_filters(index: TantivyIndex, find: Find, only: SearchFilter, found: list[str]) -> None:
    dated = {"published_on": "2026-01-01", "modified_on": "2026-06-01"}
    texts = [
        document("1", "word", language="pt-BR", published_on="2026-01-01"),
        document("2", "word", language="pt"),
        document("3", "word", **dated),
    ]
    index.apply([batch(1, *texts)])

    hits = index.search("word", only=only)
    assert sorted(hit.url.rsplit("/", 1)[1] for hit in hits) == found
    assert {hit.day for hit in index.search("word")} == {"2026-01-01", "2026-05-01", "2026-06-01"}


def test_pages_of_hits_follow_each_other_and_keep_to_one_question(index: TantivyIndex) -> None:
    index.apply([batch(1, *(document(str(number), "red " * (9 - number) + "green") for number in range(7)))])

    whole = [hit.url for hit in index.search("red green", limit=9)]
    parts = [[hit.url for hit in index.search("red green", limit=3, offset=offset)] for offset in (0, 3, 6, 9)]
    assert [url for part in parts for url in part] == whole
    assert [len(part) for part in parts] == [3, 3, 1, 0]
    assert len(index.search("red unknown", limit=3, offset=6)) == 1


def test_snippets_are_escaped_and_marked(index: TantivyIndex) -> None:
    index.apply([batch(1, document("1", "<script>東京</script> & more", title="<i>"))])

    (hit,) = index.search("東京")
    assert hit.snippet_html == "&lt;script&gt;<b>東京</b>&lt;/script&gt; &amp; more"
    assert (hit.title, hit.url) == ("<i>", "https://a.example/1")
    (hit,) = index.search("i")
    assert hit.snippet_html == "&lt;script&gt;東京&lt;/script&gt; &amp; more"


@pytest.mark.parametrize(
    "words",
    ["", " ", '"', '"" -', "(" * 3_000, "a AND", "text:[a TO", "*", "/re(/", "\x00", "\ud800", "-" * 99, "x" * 100_000],
)
def test_odd_words_find_nothing(index: TantivyIndex, find: Find, words: str) -> None:
    index.apply([batch(1, document("1", "something else"))])

    assert find(words) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.text(max_size=40) | st.text('ab"-():*~^[]{}+/\\東京', max_size=40), limit=st.integers(-1, 3))
def test_no_words_raise(index: TantivyIndex, words: str, limit: int) -> None:
    index.apply([batch(1, document("1", "a b 東京"))])

    assert len(index.search(words, limit=limit)) <= 1


def test_a_busy_index_is_a_transient_error(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path, lock_timeout_s=0.0)
    index.apply([batch(1, document("1", "word"))])

    with (tmp_path / "writer.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StoreBusy, match="another process wrote") as caught:
            index.apply([batch(2)])
        assert len(index.search("word")) == 1
    assert isinstance(caught.value, TransientError)
    index.apply([batch(2)])


@pytest.mark.slow
def test_writers_of_several_sites_wait_for_each_other(tmp_path: Path) -> None:
    sites = [f"s{number}" for number in range(4)]

    def write(site: str) -> None:
        for sequence in (1, 2, 3):
            text = document(str(sequence), "word", site=site)
            TantivyIndex(tmp_path).apply([batch(sequence, text, site=site)])

    with ThreadPoolExecutor(len(sites)) as pool:
        list(pool.map(write, sites))

    assert [TantivyIndex(tmp_path).cursor(site) for site in sites] == [3] * 4
    assert len(TantivyIndex(tmp_path).search("word", limit=99)) == 12


def test_an_index_of_another_layout_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "layout-0").mkdir(parents=True)
    (tmp_path / "layout-0" / "meta.json").write_text("{}")
    index = TantivyIndex(tmp_path)

    assert (index.cursor("a"), index.search("word")) == (0, [])
    index.apply([batch(1, document("1", "word"))])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["layout-2", "writer.lock"]


def test_a_half_made_index_is_none_and_is_made_whole(tmp_path: Path) -> None:
    (tmp_path / "layout-2").mkdir(parents=True)
    index = TantivyIndex(tmp_path)

    assert (index.cursor("a"), index.search("word")) == (0, [])
    index.apply([batch(1, document("1", "word"))])
    assert len(index.search("word")) == 1

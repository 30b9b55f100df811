"""The contract of index sinks, the same for all of them: exactly the live set, whatever comes twice, late or never."""

import hashlib
import hmac
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from resources.errors import PermanentError, TransientError
from resources.opensearch_sink import INDEX, OpenSearchSink
from resources.ports import FeedBatch, IndexDocument, IndexSink
from resources.postgres_sink import PostgresSink
from resources.redis_sink import RedisSink
from resources.webhook_sink import WebhookSink
from tests.support.held_documents import Index, OpenSearch, Postgres, Webhook, index_of
from tests.support.memory import MemoryObjects

SERVERS = ("postgres", "redis", "kafka")
KINDS = ["tantivy", "opensearch", "webhook", *(pytest.param(kind, marks=pytest.mark.slow) for kind in SERVERS)]


@dataclass
class Shop:
    """Indexes that were started, each once for all tests."""

    folder: Path
    stack: ExitStack
    started: dict[str, Index]

    def index(self, kind: str) -> Index:
        if kind not in self.started:
            self.started[kind] = self.stack.enter_context(index_of(kind, self.folder / kind))
        return self.started[kind]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with ExitStack() as stack:
        yield Shop(tmp_path_factory.mktemp("indexes"), stack, {})


@pytest.fixture(params=KINDS)
def index(request: pytest.FixtureRequest, shop: Shop) -> Index:
    return shop.index(request.param)


@pytest.fixture
def site() -> str:
    return f"{uuid.uuid4().hex}.example"


def document(site: str, name: str, title: str) -> IndexDocument:
    one = f"{site}-{name}"
    facts: dict[str, Any] = dict.fromkeys(
        ("url_key", "markdown", "language", "published_on", "text_digest", "warc_file"), ""
    )
    facts |= {"title": title, "text": "word", "fetched_at": "2026-01-01T00:00:00Z", "warc_offset": 2**40}
    facts |= {"headings": ("One", "Two"), "anchor_texts": ("here",)}
    return IndexDocument(document_id=one, site=site, url=one, **facts)


def batch(site: str, sequence: int, titles: dict[str, str], *gone: str, is_snapshot: bool = False) -> FeedBatch:
    upserts = tuple(document(site, name, title) for name, title in titles.items())
    return FeedBatch(site, sequence, upserts, tuple(f"{site}-{name}" for name in gone), is_snapshot)


def held(index: Index, site: str) -> dict[str, str]:
    return {one.removeprefix(f"{site}-"): title for one, title in index.held(site).items()}


def test_replaying_gives_the_live_set_and_each_site_has_its_cursor(index: Index, site: str) -> None:
    other = f"other.{site}"
    sink = index.sink()
    assert isinstance(sink, IndexSink)
    assert sink.cursor(site) == 0
    sink.apply([batch(site, 1, {"a": "one", "b": "two"}), batch(site, 2, {"a": "three", "c": "four"}, "b")])
    sink.apply([batch(other, 1, {"a": "elsewhere"})])
    sink.apply([])

    assert held(index, site) == {"a": "three", "c": "four"}
    assert held(index, other) == {"a": "elsewhere"}
    assert (sink.cursor(site), sink.cursor(other)) == (2, 1)


def test_what_comes_twice_changes_nothing_and_what_does_not_follow_is_refused(index: Index, site: str) -> None:
    batches = [batch(site, 1, {"a": "one"}), batch(site, 2, {}, "a"), batch(site, 3, {"b": "two"})]
    index.sink().apply(batches[:2])
    with pytest.raises(PermanentError, match="does not follow"):
        index.sink().apply([batch(site, 4, {"z": "never"})])
    for again in (batches[:1], batches[:2], batches, batches):
        index.sink().apply(again)  # a sink of a process that has just started

    assert (held(index, site), index.sink().cursor(site)) == ({"b": "two"}, 3)


@pytest.mark.parametrize("seen", [0, 1, 2])
def test_a_snapshot_brings_a_sink_that_is_anywhere_to_the_live_set(index: Index, site: str, seen: int) -> None:
    batches = [batch(site, 1, {"a": "one", "b": "two"}), batch(site, 2, {"c": "three"}, "a")]
    snapshot = batch(site, 3, {"b": "four", "d": "five"}, "a", "c", is_snapshot=True)
    index.sink().apply(batches[:seen])
    index.sink().apply([snapshot])
    index.sink().apply([batch(site, 4, {}, "d")])

    assert (held(index, site), index.sink().cursor(site)) == ({"b": "four"}, 4)


def test_odd_texts_are_taken(index: Index, site: str) -> None:
    text = "word \x00 \u2028 'quoted' \\ 東京 " + "x" * 40_000 + " word" * 40_000
    odd = replace(document(site, "a", "title"), text=text)
    long = replace(document(site, "b", "title"), url="https://a.example/" + "y" * 9_000, fetched_at="")

    index.sink().apply([FeedBatch(site, 1, (odd, replace(long, document_id=f"{site}-b")), ())])

    assert index.sink().cursor(site) == 1


@pytest.mark.parametrize(
    "sink",
    [
        PostgresSink("postgresql://isobath@127.0.0.1:9/none"),
        OpenSearchSink("http://127.0.0.1:9"),
        RedisSink("redis://127.0.0.1:9"),
        WebhookSink("http://127.0.0.1:9", MemoryObjects()),
    ],
    ids=lambda sink: sink.name,
)
def test_a_server_that_is_not_there_is_an_error_and_nothing_hangs(sink: IndexSink) -> None:
    with pytest.raises(Exception, match=r"refused|Connection|connect"):
        sink.apply([batch("a", 1, {"a": "one"})])


@pytest.mark.slow
def test_postgres_finds_words_by_rank_and_parts_of_words(shop: Shop, site: str) -> None:
    index = shop.index("postgres")
    assert isinstance(index, Postgres)
    texts = {"title": ("lead line", "x"), "text": ("x", "the lead line of a boat"), "cjk": ("x", "数据库连接池")}
    found = [replace(document(site, name, title), text=text) for name, (title, text) in texts.items()]
    index.sink().apply([FeedBatch(site, 1, tuple(found), ())])

    asked = "websearch_to_tsquery('simple', 'lead line')"
    ranked = index.rows(
        f"SELECT document_id FROM isobath_documents WHERE site = %s AND search @@ {asked} "
        f"ORDER BY ts_rank(search, {asked}) DESC",
        site,
    )
    parts = index.rows("SELECT document_id FROM isobath_documents WHERE site = %s AND text LIKE '%%连接池%%'", site)
    assert [row[0].removeprefix(f"{site}-") for row in ranked] == ["title", "text"]
    assert [row[0].removeprefix(f"{site}-") for row in parts] == ["cjk"]
    assert index.rows("SELECT 1 FROM pg_indexes WHERE indexname = 'isobath_documents_text_parts'") == [(1,)]


def test_opensearch_that_refuses_a_document_is_told_and_the_cursor_stays(shop: Shop, site: str) -> None:
    index = shop.index("opensearch")
    assert isinstance(index, OpenSearch)
    index.sink().apply([batch(site, 1, {"a": "one"})])
    wrong = replace(document(site, "b", "two"), fetched_at="yesterday")

    with pytest.raises(PermanentError, match=r"refused with 400.*fetched_at"):
        index.sink().apply([FeedBatch(site, 2, (wrong,), ())])
    assert index.sink().cursor(site) == 1
    assert index.server.indexes[INDEX].documents


def test_a_post_is_signed_and_an_answer_that_is_not_2xx_moves_no_cursor(shop: Shop, site: str) -> None:
    index = shop.index("webhook")
    assert isinstance(index, Webhook)
    for status, error in ((503, TransientError), (429, TransientError), (404, PermanentError), (302, PermanentError)):
        index.status = status
        with pytest.raises(error, match=f"answered with {status}"):
            index.sink().apply([batch(site, 1, {"a": "one"})])
    index.status = 204
    index.sink().apply([batch(site, 1, {"a": "one"})])

    headers, body = index.posts[-1]
    assert headers["Isobath-Signature"] == f"sha256={hmac.new(b'secret', body, hashlib.sha256).hexdigest()}"
    assert (headers["Idempotency-Key"], headers["Isobath-Sequence"]) == (f"{site} 1", "1")
    assert index.sink().cursor(site) == 1

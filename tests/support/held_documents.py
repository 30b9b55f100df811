"""What an index sink holds, told in the sink's own words: one class a kind of sink, for the contract that all share."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from pipelines.served import Served
from resources.kafka_sink import KafkaSink
from resources.opensearch_sink import INDEX, OpenSearchSink
from resources.ports import IndexSink, SearchFilter
from resources.postgres_sink import PostgresSink
from resources.redis_sink import RedisSink, stream_key
from resources.tantivy_index import TantivyIndex
from resources.webhook_sink import WebhookSink
from tests.support.memory import MemoryObjects
from tests.support.servers import postgres, redis
from tests.support.strict_opensearch import StrictOpenSearch, strict_opensearch

Held = dict[str, str]  # document id -> title
TIMEOUT_S = 20.0


class Index(Protocol):
    """A sink and what is behind it."""

    def sink(self) -> IndexSink:
        """Make a sink as a new process would."""
        ...

    def held(self, site: str) -> Held:
        """Say what is behind it."""
        ...


def applied(changes: list[dict[str, Any]], site: str) -> Held:
    """Do what a consumer of changes does."""
    held: Held = {}
    sites: dict[str, str] = {}
    for change in changes:
        if change["op"] == "upsert":
            document = change["document"]
            held[document["document_id"]], sites[document["document_id"]] = document["title"], document["site"]
        else:
            held.pop(change["document_id"], None)
    return {one: title for one, title in held.items() if sites[one] == site}


@dataclass
class Tantivy:
    folder: Path

    def sink(self) -> IndexSink:
        return TantivyIndex(self.folder)

    def held(self, site: str) -> Held:
        hits = TantivyIndex(self.folder).search("word", limit=999, only=SearchFilter(site=site))
        return {hit.url: hit.title for hit in hits}


@dataclass
class Postgres:
    conninfo: str

    def sink(self) -> IndexSink:
        return PostgresSink(self.conninfo)

    def rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.conninfo) as connection:
            return connection.execute(query, values).fetchall()

    def held(self, site: str) -> Held:
        return dict(self.rows("SELECT document_id, title FROM isobath_documents WHERE site = %s", site))


@dataclass
class OpenSearch:
    server: StrictOpenSearch

    def sink(self) -> IndexSink:
        return OpenSearchSink(self.server.url)

    def held(self, site: str) -> Held:
        documents = self.server.indexes[INDEX].documents if INDEX in self.server.indexes else {}
        return {one: source["title"] for one, source in documents.items() if source["site"] == site}


@dataclass
class Redis:
    url: str

    def sink(self) -> IndexSink:
        return RedisSink(self.url)

    def held(self, site: str) -> Held:
        import redis as client

        with client.Redis.from_url(self.url) as connection:
            entries: Any = connection.xrange(stream_key(site))
        return applied([json.loads(entry[b"change"]) for _, entry in entries], site)


@dataclass
class Webhook:
    url: str = ""
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    status: int = 204

    def sink(self) -> IndexSink:
        return WebhookSink(self.url, self.objects, secret="secret")

    def held(self, site: str) -> Held:
        return applied([json.loads(line) for _, body in self.posts for line in body.split(b"\n")[:-1]], site)


@dataclass
class Kafka:
    broker: Any
    brokers: str
    objects: MemoryObjects = field(default_factory=MemoryObjects)

    def sink(self) -> IndexSink:
        return KafkaSink(self.brokers, self.objects)

    def held(self, site: str) -> Held:
        from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.brokers, "group.id": "test", "enable.partition.eof": True})
        partitions = consumer.list_topics("isobath", timeout=TIMEOUT_S).topics["isobath"].partitions
        consumer.assign([TopicPartition("isobath", number, OFFSET_BEGINNING) for number in partitions])
        held: Held = {}
        ended = 0
        while ended < len(partitions):
            message: Any = consumer.poll(TIMEOUT_S)
            assert message is not None, "the broker says nothing"
            if message.error():
                ended += 1
            elif dict(message.headers())["site"] == site.encode():
                held.pop(message.key().decode(), None)
                if message.value() is not None:
                    held[message.key().decode()] = json.loads(message.value())["title"]
        consumer.close()
        return held


@contextmanager
def _webhook() -> Iterator[Webhook]:
    state = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if state.status < 300:
                state.posts.append((dict(self.headers), body))
            self.send_response(state.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name in the base class
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/feed"
    with Served(server):
        yield state


@contextmanager
def _kafka() -> Iterator[Kafka]:
    from confluent_kafka import Producer

    # librdkafka's own broker for tests lives in this client, on free ports of this machine.
    broker = Producer({"bootstrap.servers": "unused", "test.mock.num.brokers": 1})
    (found,) = broker.list_topics(timeout=TIMEOUT_S).brokers.values()
    yield Kafka(broker, f"{found.host}:{found.port}")


@contextmanager
def index_of(kind: str, folder: Path) -> Iterator[Index]:
    """Start what is behind a kind of sink."""
    match kind:
        case "tantivy":
            yield Tantivy(folder)
        case "postgres":
            with postgres() as conninfo:
                yield Postgres(conninfo)
        case "opensearch":
            with strict_opensearch() as server:
                yield OpenSearch(server)
        case "redis":
            with redis() as url:
                yield Redis(url)
        case "webhook":
            with _webhook() as webhook:
                yield webhook
        case "kafka":
            with _kafka() as kafka:
                yield kafka

"""Index sinks of a deployment: which ones the environment asks for, besides files and the embedded index."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from resources.errors import BadSettings
from resources.kafka_sink import DEFAULT_TOPIC, KafkaSink
from resources.opensearch_sink import OpenSearchSink
from resources.ports import IndexSink, ObjectStore
from resources.postgres_sink import PostgresSink
from resources.redis_sink import RedisSink
from resources.webhook_sink import WebhookSink

SINK_VARIABLES: Final[Mapping[str, str]] = {
    "ISOBATH_POSTGRES": "postgresql:// address of a database that gets the index feed (default: none)",
    "ISOBATH_OPENSEARCH": "http(s):// address of an OpenSearch or Elasticsearch that gets it (default: none)",
    "ISOBATH_REDIS": "redis:// address of a Redis whose streams get it (default: none)",
    "ISOBATH_WEBHOOK": "http(s):// address to which its batches are posted (default: none)",
    "ISOBATH_WEBHOOK_SECRET": "with which posted batches are signed, HMAC-SHA256 (default: not signed)",
    "ISOBATH_KAFKA": "host:port[,host:port][/topic] of Kafka brokers that get it (default: none)",
}
_NEEDS: Final = {
    "ISOBATH_POSTGRES": ("psycopg", "postgres"),
    "ISOBATH_OPENSEARCH": ("opensearchpy", "opensearch"),
    "ISOBATH_REDIS": ("redis", "redis"),
    "ISOBATH_KAFKA": ("confluent_kafka", "kafka"),
}
_SCHEMES: Final = {
    "ISOBATH_POSTGRES": ("postgresql://", "postgres://"),
    "ISOBATH_OPENSEARCH": ("http://", "https://"),
    "ISOBATH_REDIS": ("redis://", "rediss://", "unix://"),
    "ISOBATH_WEBHOOK": ("http://", "https://"),
}


def sink_addresses(environment: Mapping[str, str]) -> dict[str, str]:
    """Read which sinks are asked for, by variable.

    Raises:
        BadSettings: names the variable and what it may be; never its value, for there may be a password in it.
    """
    asked = {name: environment[name] for name in SINK_VARIABLES if environment.get(name)}
    for name, address in asked.items():
        schemes = _SCHEMES.get(name)
        if schemes and not address.startswith(schemes):
            raise BadSettings(f"{name} is no such address: it must start with {' or '.join(schemes)}")
        module, extra = _NEEDS.get(name, ("", ""))
        if module and find_spec(module) is None:
            raise BadSettings(f"{name} needs more software: pip install 'isobath[{extra}]'")
    return asked


def server_sinks(addresses: Mapping[str, str], objects: ObjectStore) -> list[IndexSink]:
    """Make the sinks that were asked for. That asks nothing of the world."""
    sinks: list[IndexSink] = []
    for name, address in addresses.items():
        match name:
            case "ISOBATH_POSTGRES":
                sinks.append(PostgresSink(address))
            case "ISOBATH_OPENSEARCH":
                sinks.append(OpenSearchSink(address))
            case "ISOBATH_REDIS":
                sinks.append(RedisSink(address))
            case "ISOBATH_WEBHOOK":
                secret = addresses.get("ISOBATH_WEBHOOK_SECRET", "")
                sinks.append(WebhookSink(address, objects, secret=secret))
            case "ISOBATH_KAFKA":
                brokers, _, topic = address.partition("/")
                sinks.append(KafkaSink(brokers, objects, topic=topic or DEFAULT_TOPIC))
    return sinks

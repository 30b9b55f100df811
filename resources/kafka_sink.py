"""The Kafka index sink: a message a change, keyed by document id; a tombstone has no value, as compacted topics want.

The cursor lies in the object store, and moves when the brokers have confirmed all messages of a batch: after a crash
they may come again.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from resources.batch_order import not_yet_applied
from resources.errors import TransientError
from resources.ports import FeedBatch, ObjectStore
from resources.sink_cursors import SinkCursors

DEFAULT_TOPIC: Final = "isobath"
_TIMEOUT_S: Final = 30
_MESSAGE_BYTES: Final = 64 * 1024 * 1024  # brokers have limits of their own


class KafkaSink:
    """Changes as Kafka messages, as the ``IndexSink`` port."""

    name = "kafka"

    def __init__(
        self, brokers: str, objects: ObjectStore, *, topic: str = DEFAULT_TOPIC, more: Mapping[str, Any] | None = None
    ) -> None:
        self._topic = topic
        self._cursors = SinkCursors(objects, f"kafka-{topic}")
        self._settings = {
            "bootstrap.servers": brokers,
            "enable.idempotence": True,
            "message.max.bytes": _MESSAGE_BYTES,
            "delivery.timeout.ms": _TIMEOUT_S * 1000,
            **(more or {}),
        }
        self._producer: Any = None

    def cursor(self, site: str) -> int:
        """Give the number of the last batch applied for a site; 0 when none was."""
        return self._cursors.read(site)

    def apply(self, batches: Sequence[FeedBatch]) -> None:
        """Apply batches of one site, in order; a batch at or below the cursor is passed over.

        Raises:
            PermanentError: a batch does not follow the one before it.
            TransientError: the brokers did not confirm it.
        """
        if not batches:
            return
        site = batches[0].site
        for batch in not_yet_applied(batches, self.cursor(site), self.name):
            self._send(batch)
            self._cursors.write(site, batch.sequence)

    def _send(self, batch: FeedBatch) -> None:
        from confluent_kafka import KafkaException, Producer

        if self._producer is None:
            self._producer = Producer(self._settings)
        refused: list[str] = []

        def delivered(error: Any, _: Any) -> None:
            if error is not None:
                refused.append(str(error))

        headers = {"site": batch.site, "sequence": str(batch.sequence)}
        try:
            for change in batch.changes():
                document = change.get("document")
                value = None if document is None else json.dumps(document, ensure_ascii=False).encode()
                key = change["document_id"] if document is None else document["document_id"]
                self._send_one(key, value, headers, delivered)
            waiting = self._producer.flush(_TIMEOUT_S)
        except (KafkaException, BufferError) as error:
            raise TransientError(f"batch {batch.sequence} of {batch.site} could not be sent: {error}") from error
        if waiting or refused:
            said = refused[0] if refused else f"{waiting} messages wait"
            raise TransientError(f"the brokers did not confirm batch {batch.sequence} of {batch.site}: {said}")

    def _send_one(self, key: str, value: bytes | None, headers: dict[str, str], delivered: Any) -> None:
        sent = {"key": key, "value": value, "headers": headers, "on_delivery": delivered}
        try:
            self._producer.produce(self._topic, **sent)
        except BufferError:
            # The queue of what waits for the brokers is full.
            self._producer.flush(_TIMEOUT_S)
            self._producer.produce(self._topic, **sent)

"""The Redis index sink: a stream of changes a site, for consumers that read with XREAD or in groups.

An entry's id is ``<batch>-<number>``. A batch and its cursor are one transaction. Nothing here trims the streams.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from resources.batch_order import not_yet_applied
from resources.errors import StoreBusy
from resources.ports import FeedBatch

_TIMEOUT_S: Final = 10
_TRIES: Final = 10


class RedisSink:
    """Changes in Redis streams, as the ``IndexSink`` port."""

    name = "redis"

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: Any = None

    def cursor(self, site: str) -> int:
        """Give the number of the last batch applied for a site; 0 when none was."""
        return int(self._connected().get(cursor_key(site)) or 0)

    def apply(self, batches: Sequence[FeedBatch]) -> None:
        """Apply batches of one site, in order; a batch at or below the cursor is passed over.

        Raises:
            PermanentError: a batch does not follow the one before it.
            StoreBusy: other processes kept applying batches of the site.
        """
        from redis.exceptions import WatchError

        if not batches:
            return
        for _ in range(_TRIES):
            try:
                self._apply(batches)
                return
            except WatchError:
                continue
        raise StoreBusy(f"other processes kept writing the stream of {batches[0].site}")

    def _apply(self, batches: Sequence[FeedBatch]) -> None:
        site = batches[0].site
        with self._connected().pipeline(transaction=True) as pipeline:
            pipeline.watch(cursor_key(site))
            cursor = int(pipeline.get(cursor_key(site)) or 0)
            pipeline.multi()
            for batch in not_yet_applied(batches, cursor, self.name):
                for number, change in enumerate(batch.changes(), start=1):
                    entry = {"op": change["op"], "change": json.dumps(change, ensure_ascii=False)}
                    pipeline.xadd(stream_key(site), entry, id=f"{batch.sequence}-{number}")
                pipeline.set(cursor_key(site), batch.sequence)
            pipeline.execute()

    def _connected(self) -> Any:
        import redis

        if self._client is None:
            self._client = redis.Redis.from_url(self._url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)
        return self._client


def stream_key(site: str) -> str:
    """Name the stream of a site; the braces keep it beside its cursor in a cluster."""
    return f"isobath:{{{site}}}:feed"


def cursor_key(site: str) -> str:
    """Name the cursor of a site."""
    return f"isobath:{{{site}}}:cursor"

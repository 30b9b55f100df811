"""The OpenSearch index sink, which fits Elasticsearch too: bulk requests with external versions.

The version of a document is the number of its batch, so that a batch that comes twice, or late, changes nothing. The
cursors lie in an index of their own.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from resources.batch_order import not_yet_applied
from resources.errors import PermanentError, TransientError
from resources.ports import FeedBatch

INDEX: Final = "isobath"
CURSORS: Final = "isobath-cursors"
_TIMEOUT_S: Final = 30
_BULK_BYTES: Final = 5 * 1024 * 1024
_CONFLICT, _MISSING, _BUSY = 409, 404, 429
_WORDS: Final = ("title", "headings", "anchor_texts", "text")
_NUMBERS: Final = ("warc_offset", "warc_bytes", "in_links")
_KEYWORDS: Final = (
    *("document_id", "site", "url", "url_key", "language", "published_on", "modified_on", "section", "text_digest"),
    *("extractor_version", "warc_file"),
)
MAPPING: Final = {
    "dynamic": "strict",
    "properties": {
        **{name: {"type": "text"} for name in _WORDS},
        **{name: {"type": "long"} for name in _NUMBERS},
        # A longer value than Lucene's longest term would be refused.
        **{name: {"type": "keyword", "ignore_above": 8_000} for name in _KEYWORDS},
        "markdown": {"type": "text", "index": False},
        "fetched_at": {"type": "date"},
    },
}


class OpenSearchSink:
    """Documents in OpenSearch or Elasticsearch, as the ``IndexSink`` port."""

    name = "opensearch"

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: Any = None

    def cursor(self, site: str) -> int:
        """Give the number of the last batch applied for a site; 0 when none was."""
        from opensearchpy.exceptions import NotFoundError

        try:
            return int(self._connected().get(index=CURSORS, id=site)["_source"]["sequence"])
        except NotFoundError:
            return 0

    def apply(self, batches: Sequence[FeedBatch]) -> None:
        """Apply batches of one site, in order; a batch at or below the cursor is passed over.

        Raises:
            PermanentError: a batch does not follow the one before it, or the server refuses a document.
            TransientError: the server is too busy.
        """
        if not batches:
            return
        client = self._connected()
        self._make_indexes()
        for batch in not_yet_applied(batches, self.cursor(batches[0].site), self.name):
            for body in _bodies(batch):
                _check(client.bulk(body=body))
            client.index(
                index=CURSORS,
                id=batch.site,
                body={"sequence": batch.sequence},
                params={"version": batch.sequence, "version_type": "external_gte"},
            )

    def _connected(self) -> Any:
        from opensearchpy import OpenSearch

        if self._client is None:
            self._client = OpenSearch(hosts=[self._url], timeout=_TIMEOUT_S, max_retries=2, retry_on_timeout=True)
        return self._client

    def _make_indexes(self) -> None:
        indexes = self._connected().indices
        cursors = {"dynamic": "strict", "properties": {"sequence": {"type": "long"}}}
        for name, mapping in ((INDEX, MAPPING), (CURSORS, cursors)):
            if not indexes.exists(index=name):
                indexes.create(index=name, body={"mappings": mapping}, params={"ignore": 400})


def _bodies(batch: FeedBatch) -> Iterator[str]:
    """Give the bodies of bulk requests, none much larger than servers like."""
    lines: list[str] = []
    size_bytes = 0
    for change in _changes(batch):
        if lines and size_bytes + len(change) > _BULK_BYTES:
            yield "".join(lines)
            lines, size_bytes = [], 0
        lines.append(change)
        size_bytes += len(change)
    if lines:
        yield "".join(lines)


def _changes(batch: FeedBatch) -> Iterator[str]:
    place = {"_index": INDEX, "version": batch.sequence, "version_type": "external_gte"}
    for document in batch.upserts:
        source = {name: value for name, value in asdict(document).items() if name != "fetched_at" or value}
        yield f"{json.dumps({'index': {**place, '_id': document.document_id}})}\n{json.dumps(source)}\n"
    for document_id in batch.tombstones:
        yield f"{json.dumps({'delete': {**place, '_id': document_id}})}\n"


def _check(answer: dict[str, Any]) -> None:
    """Raise for what was refused. A newer version is there, or nothing to delete is: both are as they should be."""
    for item in answer["items"]:
        ((verb, told),) = item.items()
        status = told["status"]
        if status < 300 or status == _CONFLICT or (verb == "delete" and status == _MISSING and "error" not in told):
            continue
        error = PermanentError if status != _BUSY and status < 500 else TransientError
        raise error(f"{verb} of {told['_id']} was refused with {status}: {told.get('error')}")

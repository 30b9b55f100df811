"""The webhook index sink: each batch is posted as NDJSON to an address, until that answers with 2xx.

The cursor lies in the object store, and moves after the answer: after a crash a batch may be posted again, under the
same ``Idempotency-Key``.
"""

import hashlib
import hmac
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any, Final

from resources.batch_order import not_yet_applied
from resources.errors import PermanentError, TransientError
from resources.ports import FeedBatch, ObjectStore
from resources.sink_cursors import SinkCursors

_TIMEOUT_S: Final = 30
_BUSY: Final = 429


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an error: following it would turn the POST into a GET."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


class WebhookSink:
    """Batches posted to an address, as the ``IndexSink`` port."""

    name = "webhook"

    def __init__(self, url: str, objects: ObjectStore, *, secret: str = "") -> None:
        self._url = url
        self._secret = secret.encode()
        self._cursors = SinkCursors(objects, f"webhook-{hashlib.sha256(url.encode()).hexdigest()[:12]}")
        self._opener = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))

    def cursor(self, site: str) -> int:
        """Give the number of the last batch applied for a site; 0 when none was."""
        return self._cursors.read(site)

    def apply(self, batches: Sequence[FeedBatch]) -> None:
        """Apply batches of one site, in order; a batch at or below the cursor is passed over.

        Raises:
            PermanentError: a batch does not follow the one before it, or the address refuses it.
            TransientError: nobody answers, or is too busy to.
        """
        if not batches:
            return
        site = batches[0].site
        for batch in not_yet_applied(batches, self.cursor(site), self.name):
            self._post(batch)
            self._cursors.write(site, batch.sequence)

    def _post(self, batch: FeedBatch) -> None:
        lines = (json.dumps(change, ensure_ascii=False) + "\n" for change in batch.changes())
        body = "".join(lines).encode()
        headers = {
            "Content-Type": "application/x-ndjson; charset=utf-8",
            "Idempotency-Key": f"{batch.site} {batch.sequence}",
            "Isobath-Site": batch.site,
            "Isobath-Sequence": str(batch.sequence),
            "Isobath-Snapshot": "true" if batch.is_snapshot else "false",
        }
        if self._secret:
            headers["Isobath-Signature"] = f"sha256={hmac.new(self._secret, body, hashlib.sha256).hexdigest()}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
                answer.read()
        except urllib.error.HTTPError as error:
            kind = TransientError if error.code >= 500 or error.code == _BUSY else PermanentError
            raise kind(f"batch {batch.sequence} of {batch.site} was answered with {error.code}") from error
        except OSError as error:
            raise TransientError(f"batch {batch.sequence} of {batch.site} could not be posted: {error}") from error

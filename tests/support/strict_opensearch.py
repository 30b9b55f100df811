"""A double of OpenSearch over HTTP that refuses what the real one refuses: the part of its interface that a feed uses.

No index is made by itself, mappings are strict, a bulk body ends with a line break, and versions only grow.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pipelines.served import Served

BULK_BYTES_MAX = 10 * 1024 * 1024
TERM_BYTES_MAX = 32_766


class Refused(Exception):
    """The request is answered with an error."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.body = {"error": {"type": kind, "reason": reason}, "status": status}


@dataclass
class Index:
    """One index: its mapping, its documents, and the versions of what is there or was deleted."""

    properties: dict[str, dict[str, Any]]
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def write(self, document_id: str, source: dict[str, Any] | None, place: dict[str, Any]) -> tuple[int, str]:
        """Put or delete a document under an external version; give status and result."""
        if place.get("version_type") != "external_gte" or not isinstance(place.get("version"), int):
            raise Refused(400, "action_request_validation_exception", f"not an external version: {place}")
        if not 0 < len(document_id.encode()) <= 512:
            raise Refused(400, "action_request_validation_exception", "id is empty or too long")
        if source is not None:
            self._check(source)
        known = self.versions.get(document_id, -1)
        if place["version"] < known:
            raise Refused(409, "version_conflict_engine_exception", f"version {known} is there")
        self.versions[document_id] = place["version"]
        was_there = document_id in self.documents
        if source is None:
            self.documents.pop(document_id, None)
            return (200, "deleted") if was_there else (404, "not_found")
        self.documents[document_id] = source
        return (200, "updated") if was_there else (201, "created")

    def _check(self, source: dict[str, Any]) -> None:
        for name, value in source.items():
            told = self.properties.get(name)
            if told is None:
                raise Refused(400, "strict_dynamic_mapping_exception", f"[{name}] is not allowed")
            kind, most = told["type"], told.get("ignore_above", sys.maxsize)
            wanted: type[Any] = int if kind == "long" else str
            values: list[Any] = value if isinstance(value, list) else [value]
            for one in values:
                if not isinstance(one, wanted) or (kind == "date" and not one.endswith("Z")):
                    raise Refused(400, "mapper_parsing_exception", f"failed to parse field [{name}]: {one!r}")
                if kind == "keyword" and len(one.encode()) > TERM_BYTES_MAX and len(one) <= most:
                    raise Refused(400, "illegal_argument_exception", f"[{name}] is an immense term")


@dataclass
class StrictOpenSearch:
    """The server's state."""

    indexes: dict[str, Index] = field(default_factory=dict)
    url: str = ""

    def answer(self, method: str, path: str, kind: str, body: bytes) -> tuple[int, Any]:
        """Give status and body."""
        parts = urlsplit(path)
        steps = parts.path.strip("/").split("/")
        if method == "POST" and steps == ["_bulk"]:
            return 200, self._bulk(kind, body)
        if len(steps) == 1 and method == "HEAD":
            return (200 if steps[0] in self.indexes else 404), None
        if len(steps) == 1 and method == "PUT":
            if steps[0] in self.indexes:
                raise Refused(400, "resource_already_exists_exception", steps[0])
            self.indexes[steps[0]] = Index(json.loads(body)["mappings"]["properties"])
            return 200, {"acknowledged": True}
        if len(steps) == 3 and steps[1] == "_doc":
            index, document_id = self._index(steps[0]), steps[2]
            if method == "PUT":
                asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
                place = {**asked, "version": int(asked.get("version", "-1"))}
                status, result = index.write(document_id, json.loads(body), place)
                return status, {"_id": document_id, "result": result}
            if method == "GET":
                source = index.documents.get(document_id)
                return (200 if source else 404), {"_id": document_id, "found": bool(source), "_source": source}
        raise Refused(405, "method_not_allowed", f"{method} {path}")

    def _index(self, name: str) -> Index:
        if name not in self.indexes:
            raise Refused(404, "index_not_found_exception", f"no such index [{name}]")
        return self.indexes[name]

    def _bulk(self, kind: str, body: bytes) -> dict[str, Any]:
        if kind.partition(";")[0] not in ("application/json", "application/x-ndjson"):
            raise Refused(406, "media_type_header_exception", kind)
        if len(body) > BULK_BYTES_MAX:
            raise Refused(413, "too_large", str(len(body)))
        if not body.endswith(b"\n"):
            raise Refused(400, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
        lines = iter(body.decode().split("\n")[:-1])
        items = []
        for line in lines:
            ((verb, place),) = json.loads(line).items()
            source = json.loads(next(lines)) if verb == "index" else None
            try:
                status, result = self._index(place["_index"]).write(place["_id"], source, place)
                items.append({verb: {"_id": place["_id"], "status": status, "result": result}})
            except Refused as refused:
                items.append({verb: {"_id": place["_id"], **refused.body}})
        return {"took": 1, "errors": any("error" in next(iter(item.values())) for item in items), "items": items}


@contextmanager
def strict_opensearch() -> Iterator[StrictOpenSearch]:
    """Serve an empty one on a free port of this machine."""
    state = StrictOpenSearch()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                status, told = state.answer(self.command, self.path, self.headers.get("Content-Type") or "", body)
            except Refused as refused:
                status, told = refused.status, refused.body
            data = b"" if told is None else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_HEAD = do_PUT = do_POST = do_any  # noqa: N815  # names that http.server wants

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name in the base class
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    with Served(server):
        yield state

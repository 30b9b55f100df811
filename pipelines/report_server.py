"""The report server: what lies under ``reports/`` of a store, over HTTP on this machine, for links in the Dagster UI.

Browsers do not follow links from a page of the web to a file, and a store may be a bucket. Reads only.
"""

import html
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from pipelines.served import Served
from resources.errors import BadSettings, IsobathError, ObjectMissing
from resources.ports import ObjectStore

PREFIX: Final = "reports/"
REPORT: Final = "/report.html"
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "xml": "application/xml; charset=utf-8",
}
# The pages of a report bring a stricter policy of their own; this one holds for the list.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


class ReportServer(Served):
    """Serves inside its ``with``."""

    def __init__(self, objects: ObjectStore, port: int) -> None:
        """Take the port; 0 takes a free one.

        Raises:
            BadSettings: it is taken.
        """

        class Handler(_Handler):
            store = objects

        try:
            server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except OSError as error:
            raise BadSettings(
                f"port {port} for reports: {error.strerror}; choose another with --reports-port"
            ) from error
        super().__init__(server)
        self.url: Final = f"http://127.0.0.1:{server.server_port}"


class _Handler(BaseHTTPRequestHandler):
    store: ObjectStore

    def do_GET(self) -> None:
        """Answer with an object, or the list of reports."""
        path = unquote(urlsplit(self.path).path).lstrip("/")
        try:
            if path in ("", PREFIX.rstrip("/"), PREFIX):
                self._answer(HTTPStatus.OK, "html", _list_of(self.store).encode())
            elif path.startswith(PREFIX) and not {"", ".", ".."} & set(path.split("/")):
                self._answer(HTTPStatus.OK, path.rpartition(".")[2], self.store.get(path))
            else:
                self.send_error(HTTPStatus.NOT_FOUND)
        except ObjectMissing:
            self.send_error(HTTPStatus.NOT_FOUND)
        except IsobathError as error:
            self.send_error(HTTPStatus.BAD_GATEWAY, explain=str(error))

    do_HEAD = do_GET  # noqa: N815  # a name that http.server wants

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name in the base class
        """Say nothing."""

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", _TYPES.get(kind, "application/octet-stream"))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


def _list_of(store: ObjectStore) -> str:
    keys = sorted((info.key for info in store.list(PREFIX) if info.key.endswith(REPORT)), reverse=True)
    rows = "".join(
        f'<li><a href="/{quote(key)}">{html.escape(key.removeprefix(PREFIX).removesuffix(REPORT))}</a></li>'
        for key in keys
    )
    title = "Reports" if keys else "No reports yet"
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><h1>{title}</h1><ul>{rows}</ul>'

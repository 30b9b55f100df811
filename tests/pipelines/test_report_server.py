"""The report server: what it gives, and what it keeps to itself."""

import http.client
from collections.abc import Mapping

import pytest

from pipelines.report_server import ReportServer
from resources.errors import BadSettings
from tests.support.memory import MemoryObjects

KEY = "reports/a.test:80/20260101T000000Z/report.html"
OBJECTS = {KEY: b"<h1>A</h1>", "reports/a.test:80/20260101T000000Z/pages.csv": b"url\n", "leases/a.json": b"secret"}


def ask(path: str, method: str = "GET") -> tuple[int, Mapping[str, str], bytes]:
    with ReportServer(MemoryObjects(dict(OBJECTS)), 0) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
        connection.request(method, path)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
    return found


@pytest.mark.parametrize(
    ("path", "status", "kind", "body"),
    [
        ("/reports/a.test%3A80/20260101T000000Z/report.html", 200, "text/html; charset=utf-8", b"<h1>A</h1>"),
        ("/reports/a.test:80/20260101T000000Z/pages.csv?x=1", 200, "text/csv; charset=utf-8", b"url\n"),
        ("/reports/a.test:80/missing.html", 404, "text/html;charset=utf-8", None),
        ("/leases/a.json", 404, "text/html;charset=utf-8", None),
        ("/reports/../leases/a.json", 404, "text/html;charset=utf-8", None),
        ("/reports/%2e%2e/leases/a.json", 404, "text/html;charset=utf-8", None),
    ],
)
def test_reports_are_given_and_nothing_else(path: str, status: int, kind: str, body: bytes | None) -> None:
    found = ask(path)
    assert (found[0], found[1]["Content-Type"]) == (status, kind)
    assert body is None or found[2] == body


def test_the_list_names_each_report_once() -> None:
    status, headers, body = ask("/")
    assert status == 200
    assert body.count(b"href=") == 1
    assert b'href="/reports/a.test%3A80/20260101T000000Z/report.html"' in body
    assert "script" not in headers["Content-Security-Policy"]


def test_a_head_has_no_body() -> None:
    status, headers, body = ask(f"/{KEY}", "HEAD")
    assert (status, headers["Content-Length"], body) == (200, "10", b"")


def test_a_port_that_is_taken_is_said() -> None:
    with ReportServer(MemoryObjects(), 0) as server, pytest.raises(BadSettings, match="--reports-port"):
        ReportServer(MemoryObjects(), int(server.url.rpartition(":")[2]))

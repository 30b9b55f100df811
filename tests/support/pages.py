"""Pages of the loopback site: a body, a status, headers, and the bytes that they make on the wire."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

ORIGIN = "@ORIGIN@"  # stands for http://HOST:PORT, which is not known before the server runs


@dataclass(frozen=True, slots=True)
class Page:
    """What a path answers. Headers that are given are sent in order; Content-Type is added when it is missing."""

    body: str | bytes = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/html; charset=utf-8"

    def response(self, asked_header: Callable[[str], str | None], *, origin: str) -> bytes:
        """Give the whole response; 304 without a body when the asked validator is the page's own."""
        fields = [(name, value.replace(ORIGIN, origin)) for name, value in self.headers]
        own = {name.lower(): value for name, value in fields}
        unchanged = any(
            header in own and asked_header(condition) == own[header]
            for header, condition in (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since"))
        )
        status = 304 if unchanged and self.status == 200 else self.status
        body = self.body.replace(ORIGIN, origin).encode() if isinstance(self.body, str) else self.body
        if status in (204, 304):
            body = b""
        else:
            if "content-type" not in own:
                fields.append(("Content-Type", self.content_type))
            fields.append(("Content-Length", str(len(body))))
        return head(status, fields) + body


def head(status: int, fields: list[tuple[str, str]]) -> bytes:
    """Give a status line and headers, ending in an empty line."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = "Unheard Of"
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join([*lines, "", ""]).encode("iso-8859-1")

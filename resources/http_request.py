"""The bytes of a request: where it goes, and its head. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from resources.http_proxy import Proxy
from resources.ports.fetching import FetchRequest

_URL: Final = re.compile(r"(https?)://([!-\"$-.0->@-~]+)([/?][!-\"$-~]*)?")  # of visible ASCII, without "#"
_NAME: Final = re.compile(r"[^:\s]+")
_UNSENDABLE: Final = re.compile(r"[\0\r\n]")


@dataclass(frozen=True, slots=True)
class Origin:
    """Whom a URL asks."""

    is_tls: bool
    host: str  # as it is looked up: without brackets, a trailing dot kept
    port: int
    authority: str  # as ``Host`` says it: without a trailing dot and a default port

    @property
    def tls_name(self) -> str:
        """The name that the certificate must have."""
        return self.host.rstrip(".")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request, ready to be sent."""

    origin: Origin
    head: bytes  # all of it but what ``secret`` holds
    secret: bytes = b""  # lines for the proxy alone

    def wire(self) -> bytes:
        """Give the bytes that go out."""
        return self.head[:-2] + self.secret + b"\r\n" if self.secret else self.head


def outgoing(request: FetchRequest, proxy: Proxy | None = None) -> Outgoing:
    """Write the head of a request; a proxy is asked in absolute form for what is not under TLS.

    Raises:
        ValueError: the request is malformed, which is a bug of the caller.
    """
    parts = _URL.fullmatch(request.url)
    if parts is None:
        raise ValueError(f"not a serialised absolute http(s) URL without fragment: {request.url!r}")
    scheme, authority, rest = parts.groups()
    origin = _origin(scheme, authority)
    target = rest or "/"
    if target[0] == "?":
        target = "/" + target
    fields = _field_lines(request.headers)
    if proxy is None or origin.is_tls:
        return Outgoing(origin, f"GET {target} HTTP/1.1\r\nHost: {origin.authority}\r\n".encode("ascii") + fields)
    line = f"GET http://{origin.authority}{target} HTTP/1.1\r\nHost: {origin.authority}\r\n"
    return Outgoing(origin, line.encode("ascii") + fields, proxy.authorization_line)


@lru_cache(maxsize=4096)
def _origin(scheme: str, authority: str) -> Origin:
    parts = urlsplit(f"{scheme}://{authority}")
    if not parts.hostname:
        raise ValueError(f"not a host: {authority!r}")
    usual = 443 if scheme == "https" else 80
    port = usual if parts.port is None else parts.port
    name = parts.hostname.rstrip(".")
    shown = f"[{name}]" if ":" in name else name
    return Origin(scheme == "https", parts.hostname, port, shown if port == usual else f"{shown}:{port}")


@lru_cache(maxsize=256)  # most requests of a crawl have the same fields
def _field_lines(headers: tuple[tuple[str, str], ...]) -> bytes:
    """Write fields and the empty line after them."""
    for name, value in headers:
        if not _NAME.fullmatch(name) or name.lower() == "host" or _UNSENDABLE.search(value):
            raise ValueError(f"not a header to send: {name!r}: {value!r}; Host is the fetcher's to send")
    return "".join([*(f"{name}: {value}\r\n" for name, value in headers), "\r\n"]).encode("iso-8859-1")

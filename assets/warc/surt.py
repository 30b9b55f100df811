"""SURT: the sort-friendly form of an address, the key of CDXJ lines. Addresses of one page may share a key, and do more
often than with ``url_key``: an index answers with all captures that somebody could mean.

The rules are those of the Internet Archive's canonicalizer, which pywb asks by: a key that differs is not found there.
"""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

import ada_url

_WWW: Final = re.compile(r"www\d*\.")
_SESSION_PATHS: Final = (
    re.compile(rb"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$", re.I | re.S),
    re.compile(rb"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$", re.I | re.S),
)
_SESSION_PARAMETERS: Final = tuple(
    re.compile(b"^(.*)" + parameter + b"(?:&(.*))?$", re.I | re.S)
    for parameter in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
)


def surt(url: str) -> str:
    """Give the key of an absolute address: host labels reversed, then path and sorted query, in lower case.

    >>> surt("https://www.Example.org:8080/A/b?y=2&x=1")
    'org,example:8080)/a/b?x=1&y=2'
    """
    parts = ada_url.URL(url)
    name = parts.hostname.strip(".")
    name = name[found.end() :] if (found := _WWW.match(name)) else name
    host = name[1:-1] if name.startswith("[") else ",".join(reversed(name.split(".")))
    port = f":{parts.port}" if parts.port else ""
    query = _query(parts.search[1:])
    return f"{host}{port}){_path(parts.pathname)}{'?' + query if query else ''}"


def _path(path: str) -> str:
    *before, last = _unescaped(path).lstrip(b"/").split(b"/")
    plain = b"/" + b"/".join([*(segment for segment in before if segment), last])
    for pattern in _SESSION_PATHS:
        plain = pattern.sub(rb"\1\2", plain)
    return _escaped(plain).lower().removesuffix("/") or "/"


def _query(query: str) -> str:
    plain = _escaped(_unescaped(query)).encode("ascii")
    for pattern in _SESSION_PARAMETERS:
        plain = pattern.sub(rb"\1\2", plain)
    # By name, then value: a name alone stands before the same name with a value.
    pairs = sorted(tuple(part.split("=", 1)) for part in plain.decode("ascii").lower().split("&"))
    return "&".join("=".join(pair) for pair in pairs)


def _unescaped(text: str) -> bytes:
    """Decode escapes until none is left."""
    data = text.encode("utf-8", "replace")
    while (decoded := unquote_to_bytes(data)) != data:
        data = decoded
    return data


def _escaped(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 < byte < 0x7F and byte not in b"#%" else f"%{byte:02X}" for byte in data)

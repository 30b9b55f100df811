"""Percent-encoding in paths and queries: one spelling for each meaning."""

import re
from itertools import product
from typing import Final

_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# An escape, a lone percent sign, or what RFC 3986 allows nowhere in a path or query.
_ODD: Final = re.compile(r"%(?:[0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]")


def _spelling(octet: int) -> str:
    return chr(octet) if chr(octet) in _UNRESERVED else f"%{octet:02X}"


_SPELLINGS: Final = {
    f"%{high}{low}": _spelling(int(high + low, 16)) for high, low in product("0123456789abcdefABCDEF", repeat=2)
} | {"%": "%25"}


def normal_escapes(text: str) -> str:
    """Decode escaped unreserved characters, write other escapes in upper case, escape what must be escaped.

    Reserved characters keep the spelling they have, for ``%2F`` and ``/`` differ in meaning. A percent sign that starts
    no escape becomes ``%25``. Idempotent.

    Source: RFC 3986, 6.2.2.

    >>> normal_escapes("/%7ejoe/a%2fb/50%/c|d")
    '/~joe/a%2Fb/50%25/c%7Cd'
    """
    return _ODD.sub(_normal, text)


def _normal(match: re.Match[str]) -> str:
    odd = match[0]
    known = _SPELLINGS.get(odd)
    if known is not None:
        return known
    return "".join(f"%{octet:02X}" for octet in odd.encode("utf-8", "replace"))

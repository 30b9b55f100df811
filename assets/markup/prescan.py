"""The prescan: which encoding the first bytes of an HTML page declare. Only bytes; nothing is decoded or believed here.

Source: WHATWG HTML, 13.2.3.2 (prescan a byte stream to determine its encoding, with the XML encoding step).
"""

import re
from typing import Final

from assets.markup.encodings import encoding_name

PRESCAN_BYTES: Final = 1024
LATE_BYTES: Final = 256 * 1024

_XML_ENCODING: Final = re.compile(rb"""<\?xml[^>]*?[\s"']encoding\s*=\s*(["'])([^"'>]*)\1""")
_TAG: Final = re.compile(rb"</?[A-Za-z]")
# What holds text that looks like tags; one without an end goes on to the end.
_RAW: Final = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|textarea|title|noscript|xmp|iframe)\b.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NAME_END: Final = re.compile(rb"[\t\n\f\r >]")
_ATTRIBUTE: Final = re.compile(
    rb"""[\t\n\f\r /]*([^\t\n\f\r />=][^\t\n\f\r />=]*|=[^\t\n\f\r />=]*)"""
    rb"""(?:[\t\n\f\r ]*=[\t\n\f\r ]*("[^"]*"|'[^']*'|[^\t\n\f\r >"'][^\t\n\f\r >]*|(?=>)))?"""
)
_CHARSET: Final = re.compile(r"charset[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)


def declared_encoding(data: bytes) -> str | None:
    """Give the encoding that a ``meta`` or an XML declaration in the first 1,024 bytes names; None when none does.

    >>> declared_encoding(b"<meta http-equiv=Content-Type content='charset=gbk'>")
    'gb18030'
    """
    start = data[:PRESCAN_BYTES]
    return _declared_in(start) or _encoding_of_xml(start)


def declared_late(data: bytes) -> str | None:
    """Give the encoding that a ``meta`` beyond the prescan names, where it is an element and no text of a script.

    Source: WHATWG HTML, 13.2.3.4 (changing the encoding while parsing).

    >>> declared_late(b"<script>'<meta charset=big5>'</script>" + b" " * 2_000 + b"<meta charset=euc-kr>")
    'euc-kr'
    """
    return _declared_in(_RAW.sub(b" ", data[:LATE_BYTES]))


def _declared_in(start: bytes) -> str | None:
    at = 0
    while (at := start.find(b"<", at)) >= 0:
        if start.startswith(b"<!--", at):
            # "<!-->" is a whole comment.
            end = start.find(b"-->", at + 2)
            if end < 0:
                break
            at = end + 3
        elif start[at : at + 5].lower() == b"<meta" and start[at + 5 : at + 6] in _AFTER_META:
            attributes, at = _attributes(start, at + 5)
            name = _encoding_of_meta(attributes)
            if name:
                return name
        elif _TAG.match(start, at):
            _, at = _attributes(start, _name_end(start, at))
        elif start[at + 1 : at + 2] in (b"!", b"/", b"?"):
            end = start.find(b">", at)
            if end < 0:
                break
            at = end + 1
        else:
            at += 1
    return None


_AFTER_META: Final = (b"\t", b"\n", b"\f", b"\r", b" ", b"/")


def _name_end(data: bytes, at: int) -> int:
    match = _NAME_END.search(data, at)
    return match.start() if match else len(data)


def _attributes(data: bytes, at: int) -> tuple[dict[str, str], int]:
    """Read a tag's attributes, the first of each name, and give where the tag ends."""
    found: dict[str, str] = {}
    while match := _ATTRIBUTE.match(data, at):
        name = match[1].decode("latin-1").lower()
        value = (match[2] or b"").decode("latin-1")
        found.setdefault(name, value[1:-1] if value[:1] in ("'", '"') else value)
        at = match.end()
    end = data.find(b">", at)
    # A tag that is cut off by the end of what is read declares nothing.
    return (found, end + 1) if end >= 0 else ({}, len(data))


def _encoding_of_meta(attributes: dict[str, str]) -> str | None:
    label = attributes.get("charset")
    if label is None:
        if attributes.get("http-equiv", "").lower() != "content-type":
            return None
        label = _charset_parameter(attributes.get("content", ""))
    return _plain(encoding_name(label or ""))


def _encoding_of_xml(data: bytes) -> str | None:
    match = _XML_ENCODING.match(data)
    return _plain(encoding_name(match[2].decode("latin-1"))) if match else None


def _plain(name: str | None) -> str | None:
    """Correct what a declaration that could be read as ASCII cannot mean."""
    if name in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _charset_parameter(text: str) -> str | None:
    """Give the label after ``charset=`` in a ``content`` attribute.

    Source: WHATWG HTML, 2.4.4 (extracting a character encoding from a meta element).

    >>> _charset_parameter("text/html; charset='x'; y"), _charset_parameter("text/html")
    ('x', None)
    """
    match = _CHARSET.search(text)
    if match is None:
        return None
    rest = text[match.end() :]
    if rest[:1] in ("'", '"'):
        end = rest.find(rest[0], 1)
        return rest[1:end] if end > 0 else None
    return re.split(r"[;,\t\n\f\r ]", rest, maxsplit=1)[0] or None

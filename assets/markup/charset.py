"""The charset of a body: which encoding its bytes are in, who says so, and the text. Also what kind of body it is."""

import re
from dataclasses import dataclass
from typing import Final

import chardet

from assets.markup.encodings import decode_strictly, decode_with_loss, encoding_name
from assets.markup.prescan import declared_encoding, declared_late

# UTF-32 is no encoding of the standard; its text is still text, and no UTF-16 text begins with a NUL.
_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\x00\x00\xfe\xff", "utf-32be"),
    (b"\xff\xfe\x00\x00", "utf-32le"),
    (b"\xfe\xff", "utf-16be"),
    (b"\xff\xfe", "utf-16le"),
)

# chardet's names of the encodings that the web has, and of four that old Slavic and Korean texts are in (no text in one
# of the web's was taken for one of them); it knows many more, and guesses them for short texts.
_DETECTABLE_NAMES: Final = (
    "ascii utf-8 utf-16-be utf-16-le big5hkscs cp866 cp874 cp932 cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 "
    "cp1256 cp1257 cp1258 euc_jis_2004 euc_kr gb18030 hz iso2022_jp_2 iso2022_jp_2004 iso2022_jp_ext iso2022_kr "
    "iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-13 "
    "iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-cyrillic mac-roman shift_jis_2004 tis-620 "
    "cp852 cp855 johab mac-latin2"
)
_DETECTABLE: Final = _DETECTABLE_NAMES.split()
_DETECTED_NAMES: Final = {
    "ascii": "utf-8",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
    "big5hkscs": "big5",
    "iso8859-16": "iso-8859-16",
    "cp866": "ibm866",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "shift_jis_2004": "shift_jis",
    "cp949": "euc-kr",
    "euc_kr": "euc-kr",
    "euc_jis_2004": "euc-jp",
    "iso2022_jp_2": "iso-2022-jp",
    "iso2022_jp_2004": "iso-2022-jp",
    "iso2022_jp_ext": "iso-2022-jp",
    "mac-cyrillic": "x-mac-cyrillic",
    "mac-roman": "macintosh",
}
_PARAMETER: Final = re.compile(r"""[;,]\s*([^=;,"]+)=("([^"]*)"?|[^;,]*)""")
# chardet's names that no standard of the web has, which are Python codecs.
_BEYOND_THE_WEB: Final = frozenset({"hz", "iso2022_kr", "cp852", "cp855", "johab", "mac-latin2"})
# Encodings that are ASCII bytes all through.
_SHIFTED: Final = (b"\x1b$", b"\x1b(", b"~{")

_WIDE_SAMPLE_BYTES: Final = 4096
_ALL, _MOST, _FEW = (0.99, 1.0), (0.5, 1.0), (0.0, 0.1)
# Share of NULs at the four places of a double word; markup and spaces are enough for them to show.
_ZEROS_OF: Final = {
    "utf-32be": (_ALL, _MOST, (0.0, 1.0), _FEW),
    "utf-32le": (_FEW, (0.0, 1.0), _MOST, _ALL),
    "utf-16be": (_MOST, _FEW, _MOST, _FEW),
    "utf-16le": (_FEW, _MOST, _FEW, _MOST),
}

_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_UNKNOWN_TYPES: Final = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
# Source: WHATWG MIME Sniffing, 7.1, plus XHTML behind an XML declaration.
_HTML_START: Final = re.compile(
    rb"[\t\n\f\r ]*(?:<\?xml[^>]*>[\t\n\f\r ]*)?"
    rb"(?:<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\t\n\f\r >]|<!--)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Text:
    """A body's characters."""

    text: str
    charset: str  # WHATWG name, lower case
    source: str  # bom, header, meta, detected or default


def decode_text(data: bytes, content_type: str | None) -> Text:
    """Decode a body by its BOM, its header, its ``meta``, or what its bytes look like; never raises.

    A declaration must decode all bytes to be followed; when none does, UTF-8 that does is taken, then the first
    declaration, with U+FFFD for what it cannot decode. A ``meta`` beyond the first 1,024 bytes counts when the bytes
    are no UTF-8 and nothing else says what they are.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return Text(decode_with_loss(data[len(bom) :], name), name, "bom")
    wrong: list[tuple[str, str]] = []
    for source in ("header", "meta"):
        declared = header_encoding(content_type) if source == "header" else declared_encoding(data)
        if declared:
            text = decode_strictly(data, declared)
            if text is not None:
                return Text(text, declared, source)
            wrong.append((declared, source))
    return _undeclared(data, wrong[0] if wrong else None)


def header_encoding(content_type: str | None) -> str | None:
    """Give the first encoding that a ``Content-Type`` names and the web knows.

    >>> header_encoding('text/html; charset="GBK"'), header_encoding("text/html; charset='gbk'")
    ('gb18030', None)
    """
    # Source: WHATWG MIME Sniffing, 4.4: single quotes are part of the label, as are spaces around "=".
    labels = (
        quoted if value.startswith('"') else value
        for name, value, quoted in _PARAMETER.findall(content_type or "")
        if name.lower() == "charset"
    )
    return next((known for label in labels if (known := encoding_name(label))), None)


def _undeclared(data: bytes, fallback: tuple[str, str] | None) -> Text:
    """Decode a body whose declarations, if any, are wrong."""
    wide = _wide_encoding(data)
    text = decode_strictly(data, wide) if wide else None
    if wide and text is not None:
        return Text(text, wide, "detected")
    shifted = any(mark in data for mark in _SHIFTED)
    text = None if shifted else decode_strictly(data, "utf-8")
    if text is not None:
        return Text(text, "utf-8", "default" if data.isascii() else "detected")
    late = declared_late(data)
    text = decode_strictly(data, late) if late else None
    if late and text is not None:
        return Text(text, late, "meta")
    if fallback is not None:
        return Text(decode_with_loss(data, fallback[0]), *fallback)
    # chardet's own supersets are off: it would read iso-8859-5 as windows-1251. The labels of the web do it right.
    found = chardet.detect(data, compat_names=False, prefer_superset=False, include_encodings=_DETECTABLE)["encoding"]
    name = _DETECTED_NAMES.get(found or "") or encoding_name(found or "")
    if name is None and found in _BEYOND_THE_WEB:
        # The standard gave these up, some for the safety of browsers; their text is still text.
        return Text(data.decode(found, "replace"), found, "detected")
    if name is not None:
        return Text(decode_with_loss(data, name), name, "default" if found == "ascii" else "detected")
    return Text(decode_with_loss(data, "windows-1252"), "windows-1252", "default")


def _wide_encoding(data: bytes) -> str | None:
    """Give the UTF-16 or UTF-32 that the places of the NULs show, where there is no BOM."""
    start = data[:_WIDE_SAMPLE_BYTES]
    zeros = [start[place::4].count(0) * 4 / max(len(start) // 4 * 4, 1) for place in range(4)]
    for name, pattern in _ZEROS_OF.items():
        if len(data) >= 4 and all(low <= share <= high for share, (low, high) in zip(zeros, pattern, strict=True)):
            return name
    return None


def media_type(content_type: str | None) -> str:
    """Give the media type of a ``Content-Type``, lower case and without parameters; empty when there is none.

    >>> media_type("Text/HTML ; charset=x"), media_type(None)
    ('text/html', '')
    """
    return re.split(r"[;,]", content_type or "", maxsplit=1)[0].strip().lower()


def is_html(content_type: str | None, data_start: bytes) -> bool:
    """Say whether a body is HTML: by its media type, or by its first bytes when it has none that says anything."""
    kind = media_type(content_type)
    if kind in _HTML_TYPES:
        return True
    if kind not in _UNKNOWN_TYPES:
        return False
    for bom, _ in _BOMS:
        data_start = data_start.removeprefix(bom)
    # UTF-16 is ASCII with NULs, as far as tags go.
    return _HTML_START.match(data_start[:2048].replace(b"\0", b"")) is not None

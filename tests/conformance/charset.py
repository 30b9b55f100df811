"""Quality of charsets: what pages declare, what their bytes look like, and what becomes of a page transcoded."""

import base64
import codecs
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from assets.markup.charset import decode_text, header_encoding
from assets.markup.encodings import encoding_name
from assets.markup.head import title_text
from assets.markup.prescan import declared_encoding
from assets.markup.tree import parse_html
from tests.conformance.packed import tar_files
from tests.conformance.quality import Quality, share

# Facts of one library that contradict the WHATWG's, by id, and facts that no text can show.
LENIENT_META: Final = frozenset({"c0171", "c0177", "c0179", "c0248"})  # tags that a browser takes for text
BODY_META: Final = frozenset({"c0176"})  # a browser follows a meta in the body, too
QUOTES: Final = frozenset({"c0145", "c0151", "c0152"})  # a browser forgives what follows a quoted label, or no end
PYTHON_NAMES: Final = frozenset({"c0183", "c0244", "c0245"})  # labels of Python codecs
WIDE: Final = frozenset({"c0242"})  # utf-16 means utf-16le in a header
ALL_ASCII: Final = frozenset({f"c00{number}" for number in range(48, 54)})  # a late meta over bytes all alike
LEFT_OUT: Final = LENIENT_META | BODY_META | QUOTES | PYTHON_NAMES | WIDE | ALL_ASCII
# Sources of a charset that nobody declared.
_UNDECLARED: Final = ("detected", "default")


def charset_numbers(data: Path) -> list[Quality]:
    """Measure on ``charset``: declarations followed, transcoded pages read right by mode, texts detected right."""
    declared = [fact for fact in _lines(data / "declared.jsonl") if fact["id"] not in LEFT_OUT]
    detectable = [fact for fact in _lines(data / "detect.jsonl") if fact["python"]]
    files = dict(tar_files(data / "detect-files.tar.xz"))
    modes: dict[str, list[bool]] = {}
    pages = dict(tar_files(data / "transcoded.tar.xz"))
    for fact in _lines(data / "transcoded.jsonl"):
        modes.setdefault(fact["mode"], []).append(_is_read(pages[fact["file"]], fact))
    return [
        Quality("charset: declared", share(map(_is_followed, declared))),
        *(Quality(f"charset: transcoded, {mode}", share(verdicts)) for mode, verdicts in sorted(modes.items())),
        Quality("charset: detected", share(_is_detected(files[fact["file"]], fact) for fact in detectable)),
    ]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def _is_followed(fact: Mapping[str, Any]) -> bool:
    """Say whether a fact of ``declared.jsonl`` holds."""
    body = base64.b64decode(fact.get("body_b64") or "")
    expected: str | None = fact["expected"]
    match fact["kind"]:
        case "label":
            return _is_same(encoding_name(fact["label"]), expected)
        case "content_type":
            return _is_same(header_encoding(fact["header"]), expected)
        case "body_declared":
            return _is_same(declared_encoding(body), expected)
    header = fact.get("header") or (f"text/html; charset={fact['transport']}" if fact.get("transport") else None)
    found = decode_text(body, header)
    if fact["kind"] == "html_to_unicode":
        return found.text == str(fact["text"])
    if fact["kind"] == "bom":
        return _is_same(found.charset if found.source == "bom" else None, expected)
    if found.source in _UNDECLARED:
        # The default is the reader's to choose; a declaration that the bytes belie is no less a declaration.
        return _is_same(declared_encoding(body) or fact.get("default") or "windows-1252", expected)
    return _is_same(found.charset, expected)


def _is_same(name: str | None, expected: str | None) -> bool:
    return (name and _codec(name)) == (expected and _codec(expected))


def _codec(name: str) -> str:
    known = encoding_name(name) or name
    known = "big5hkscs" if known == "big5" else known
    try:
        return codecs.lookup(known).name
    except LookupError:
        return known


def _is_read(body: bytes, fact: Mapping[str, Any]) -> bool:
    text = decode_text(body, fact["header"]).text
    tree = parse_html(text)
    return text == body.decode(fact["encoding"]) and tree is not None and title_text(tree) == fact["title"]


def _is_detected(body: bytes, fact: Mapping[str, Any]) -> bool:
    return decode_text(body, None).text == body.decode(fact["python"], "replace").removeprefix("\ufeff")

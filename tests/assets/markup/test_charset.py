"""The charset of a body, and what kind of body it is."""

import json
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.markup.charset import decode_text, is_html, media_type
from assets.markup.head import title_text
from assets.markup.prescan import declared_encoding
from assets.markup.tree import parse_html

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "charset"
RUSSIAN = "Прилив и отлив сменяют друг друга дважды в сутки. "
KOREAN = "조수는 하루에 두 번 바뀝니다. 문서는 한국어로 쓰였습니다. "
GERMAN = "Die Gezeiten wechseln zweimal täglich; größere Höhen sind möglich. "


def page(text: str, meta: str = "") -> str:
    return f"<html><head>{meta}<title>{text}</title></head><body><p>{text * 5}</p></body></html>"


@pytest.mark.parametrize(
    ("body", "header", "charset", "source"),
    [
        pytest.param(page(RUSSIAN).encode("utf-8-sig"), "text/html; charset=koi8-r", "utf-8", "bom", id="bom first"),
        pytest.param(page(RUSSIAN).encode("utf-16"), None, "utf-16le", "bom", id="utf-16"),
        pytest.param(
            page(RUSSIAN).encode("cp1251"), 'text/html; charset="CP1251"', "windows-1251", "header", id="header"
        ),
        pytest.param(
            page(KOREAN, "<meta charset=euc-kr>").encode("cp949"), "text/html", "euc-kr", "meta", id="euc-kr page"
        ),
        pytest.param(
            page(GERMAN, '<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">').encode("latin-1"),
            None,
            "windows-1252",
            "meta",
            id="iso-8859-1 page",
        ),
        pytest.param(
            page("潮汐每天变化两次", "<meta http-equiv=Content-Type content='charset=gbk'>").encode("gb18030"),
            None,
            "gb18030",
            "meta",
            id="only charset= in content",
        ),
        pytest.param(
            page(RUSSIAN, "<meta charset=windows-1251>").encode("cp1251"),
            "text/html; charset=utf-8",
            "windows-1251",
            "meta",
            id="a wrong header yields to a right meta",
        ),
        pytest.param(
            page(RUSSIAN, "<meta charset=iso-8859-1>").encode(),
            "text/html; charset=utf-8",
            "utf-8",
            "header",
            id="a right header beats a wrong meta",
        ),
        pytest.param(page(RUSSIAN).encode(), None, "utf-8", "detected", id="utf-8 without a word"),
        pytest.param(page(RUSSIAN).encode("cp1251"), "text/html", "windows-1251", "detected", id="detected"),
        pytest.param(page(KOREAN).encode("cp949"), "text/html", "euc-kr", "detected", id="detected korean"),
        pytest.param(page("plain words").encode(), None, "utf-8", "default", id="ascii"),
    ],
)
def test_the_right_one_is_chosen_and_its_source_is_told(
    body: bytes, header: str | None, charset: str, source: str
) -> None:
    found = decode_text(body, header)
    assert (found.charset, found.source) == (charset, source)
    assert "\ufffd" not in found.text


def test_only_the_first_1024_bytes_declare() -> None:
    late = page(RUSSIAN).encode() + b" " * 5_000 + b"<script>x='<meta charset=koi8-r>'</script>"
    assert decode_text(late, None).charset == "utf-8"
    assert declared_encoding(b"<!-- <meta charset=koi8-r> --><meta charset=big5>") == "big5"
    assert declared_encoding(b" " * 1_020 + b"<meta charset=big5>") is None


def test_a_meta_that_says_utf_16_means_utf_8() -> None:
    assert declared_encoding(b"<meta charset=utf-16>") == "utf-8"
    assert declared_encoding(b"<?xml version='1.0' encoding='euc-jp'?><html>") == "euc-jp"


def test_a_body_cut_within_a_character_keeps_its_charset() -> None:
    cut = "<p>Прилив".encode()[:-1]
    found = decode_text(cut, "text/html; charset=utf-8")
    assert (found.source, found.text.count("\ufffd")) == ("header", 1)


def test_bytes_that_no_declaration_reads_become_replacement_characters() -> None:
    found = decode_text(b"caf\xe9 \xff\xfe and more text after it", "text/html; charset=utf-8")
    assert (found.charset, found.source) == ("utf-8", "header")
    assert "\ufffd" in found.text


def test_windows_1252_reads_every_byte() -> None:
    text = decode_text(bytes(range(256)), "text/html; charset=latin1").text
    assert text[0x80] == "€"
    assert text[0x81] == "\x81"
    assert len(text) == 256


@given(st.binary(max_size=400), st.sampled_from([None, "text/html; charset=utf-16", "x;charset=gbk", "x;charset=x"]))
def test_no_bytes_raise(body: bytes, header: str | None) -> None:
    decode_text(body, header).text.encode("utf-8")
    decode_text(b"<meta charset=iso-2022-jp>\x1b$B" + body, header).text.encode("utf-8")


@pytest.mark.parametrize(
    ("header", "start", "expected"),
    [
        ("text/html; charset=x", b"", True),
        ("Application/XHTML+XML", b"", True),
        ("text/plain", b"<html>", False),
        ("application/pdf", b"<html>", False),
        (None, b"\xef\xbb\xbf \n<!DOCTYPE html>", True),
        ("", b"<?xml version='1.0'?><html xmlns='x'>", True),
        (None, "<html>".encode("utf-16"), True),
        (None, b"%PDF-1.7", False),
        (None, b"<rss version='2.0'>", False),
        (None, b"", False),
    ],
)
def test_html_is_known_by_its_type_and_without_one_by_its_start(
    header: str | None, start: bytes, expected: bool
) -> None:
    assert is_html(header, start) is expected


def test_a_media_type_is_lower_case_without_parameters() -> None:
    assert media_type("Text/HTML;charset=x, text/plain") == "text/html"


@pytest.mark.skipif(not SHARED.exists(), reason="the shared reference data is not beside this checkout")
@pytest.mark.parametrize("mode", ["meta", "header", "wrong_meta", "none"])
def test_real_pages_in_thirteen_encodings_have_their_titles(mode: str) -> None:
    with tarfile.open(SHARED / "transcoded.tar.xz") as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        bodies = {name: stream.read() for name, stream in files.items() if stream}
    with (SHARED / "transcoded.jsonl").open(encoding="utf-8") as lines:
        cases = [case for case in map(json.loads, lines) if case["mode"] == mode]
    wrong = []
    for case in cases:
        found = decode_text(bodies[case["file"]], case["header"])
        tree = parse_html(found.text)
        if tree is None or title_text(tree) != " ".join(case["title"].split()) or "\ufffd" in found.text:
            wrong.append((case["file"], found.charset, found.source))
    assert cases
    assert not wrong

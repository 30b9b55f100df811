"""Documents other than HTML: text and PDF, whole, broken and locked."""

import io
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter

from assets.extract.extractor import ExtractDocument, extract
from tests.support.pdf import pdf

FACTS = {"Title": "The  tides", "Author": "A Pilot", "CreationDate": "D:20290304050607Z", "ModDate": "D:nonsense"}
LINES = ["High water comes twice a day in this harbour.", "Low water comes twice as well, six hours later."]


def read(data: bytes, kind: str, link_header: str | None = None) -> Any:
    return extract(ExtractDocument("https://e.test/a/tide-tables.pdf", data, None, kind, "noindex", link_header))


def locked(data: bytes, password: str) -> bytes:
    writer, sink = PdfWriter(clone_from=PdfReader(io.BytesIO(data))), io.BytesIO()
    writer.encrypt(password, "owner", algorithm="RC4-128")
    writer.write(sink)
    return sink.getvalue()


def test_a_pdf_gives_text_and_what_it_says_of_itself() -> None:
    row = read(pdf(LINES, FACTS), "application/pdf", "<canonical>; rel=canonical")
    assert row["text"] == row["markdown"] == "\n\n".join(LINES)
    assert (row["title"], row["title_source"], row["author"]) == ("The tides", "document", "A Pilot")
    assert (row["published_on"], row["modified_on"]) == ("2029-03-04", "")
    assert (row["text_language"], row["reason"], row["flags"]) == ("en", "", ["too_short", "noindex"])
    assert row["declared_canonical"] == "https://e.test/a/canonical"


def test_a_pdf_without_a_title_is_named_by_its_path() -> None:
    row = read(pdf(LINES), "application/pdf")
    assert (row["title"], row["title_source"]) == ("tide tables", "path")


def test_a_pdf_that_anyone_may_open_is_read_and_a_locked_one_is_told() -> None:
    assert read(locked(pdf(LINES), ""), "application/pdf")["text"] == "\n\n".join(LINES)
    row = read(locked(pdf(LINES), "secret"), "application/pdf")
    assert (row["text"], row["reason"], row["flags"]) == ("", "encrypted", ["empty", "noindex"])


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"no pdf at all", pdf(LINES)[:200]])
def test_a_broken_pdf_is_a_row_with_a_reason(data: bytes) -> None:
    row = read(data, "application/pdf")
    assert row["reason"].startswith("broken_pdf: ")
    assert row["text"] == ""


def test_a_plain_text_keeps_its_lines() -> None:
    text = "Tides\r\n=====\r\n\r\n  high  06:00\r\n<b>low</b>  12:00 \u2014 about\0\r\n"
    row = read(text.encode(), "text/plain; charset=utf-8")
    assert row["text"] == "Tides\n=====\n\n  high  06:00\n<b>low</b>  12:00 \u2014 about"
    assert (row["charset"], row["charset_source"], row["title"]) == ("utf-8", "header", "tide tables")
    assert read("T\xeete".encode("cp1252"), "text/plain; charset=windows-1252")["text"] == "T\xeete"


def test_xhtml_is_a_page_and_an_archive_is_none() -> None:
    xhtml = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head><body><p>Tides.</p></body></html>'
    assert read(xhtml.encode(), "application/xhtml+xml")["title"] == "X"
    assert read(b"PK", "application/zip")["reason"] == "not_html"

"""Pages that someone made to break a reader, and pages that lie about what they are: a text, or a row with a reason."""

from collections.abc import Callable

import pytest

from assets.extract.extractor import ExtractDocument, extract
from resources.document_workers import ProcessWorkers
from resources.ports import WorkFailure

PARAGRAPH = (
    "<p>The tide is the rise and fall of the sea, and every harbour master keeps a table of it near the door.</p>"
)
TEXT = PARAGRAPH * 4


def page(body: str | bytes, content_type: str | None = "text/html; charset=utf-8") -> ExtractDocument:
    data = body if isinstance(body, bytes) else body.encode()
    return ExtractDocument("http://e.test/p", data, None, content_type, None)


def nested(tag: str, depth: int) -> str:
    return f"<{tag}>" * depth + TEXT + f"</{tag}>" * depth


def entity_bomb() -> str:
    entities = "".join(f'<!ENTITY e{n} "&e{n - 1};&e{n - 1};">' for n in range(1, 60))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "x">{entities}]><html><body>&e59;{TEXT}</body></html>'


# Each with the most characters of Markdown that it may make of one of text.
HOSTILE: dict[str, tuple[str, int]] = {
    "spans of billions": ("<table>" + "<tr><td colspan=5000000000 rowspan=-9>6<td>4" * 50 + "</table>" + TEXT, 3),
    "spans over spans": (
        "<table><tr>" + "<td rowspan=1000 colspan=1000>x" * 300 + "<tr><td>y" * 300 + "</table>" + TEXT,
        400,
    ),
    "10,000 elements deep": (nested("div", 10_000), 2),
    "10,000 lists deep": (nested("ul><li", 10_000), 3),
    "10,000 marks deep": ("<p>" + "<b>" * 10_000 + TEXT, 5),
    "10,000 tables deep": (nested("table><tr><td", 10_000), 2),
    "quotes at the limit": (nested("blockquote", 140), 8),
    "entities of entities": (entity_bomb(), 2),
    "null bytes": ("\0".join(TEXT), 2),
    "20,000 headings": ("<h2>a</h2>" * 20_000 + TEXT, 5),
    "20,000 links": ("<a href=x>link</a> " * 20_000 + TEXT, 8),
    "separators": (f"<title>{'a | ' * 20_000}</title><h2>{'a | ' * 400}</h2>{TEXT}", 2),
    "ticks": (f"<pre>{'` ' * 50_000}</pre>{TEXT}", 2),
}


@pytest.mark.parametrize(("body", "most"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_page_gives_its_text(body: str, most: int) -> None:
    row = extract(page(body))
    assert (row["reason"], "harbour master" in str(row["text"])) == ("", True)
    assert len(str(row["markdown"])) <= most * len(str(row["text"]))


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "text/html", ""),
        (b"PK\x03\x04" + bytes(range(256)), None, "not_html"),
        (TEXT.encode("utf-16"), "text/html; charset=utf-8", ""),
        (TEXT.encode(), "image/png", "not_html"),
        (b"\xff" * 500, "text/html; charset=shift_jis", ""),
        (b"", "text/html", ""),
    ],
    ids=["picture as html", "archive of no type", "utf-16 as utf-8", "html as picture", "no shift_jis", "nothing"],
)
def test_a_lying_type_is_a_row(body: bytes, content_type: str | None, reason: str) -> None:
    row = extract(page(body, content_type))
    assert str(row["reason"]).removeprefix("empty_page") == reason
    assert "\0" not in str(row["text"])


@pytest.mark.slow
def test_what_costs_too_much_is_one_row_with_a_reason_and_the_batch_goes_on() -> None:
    good, flood = page(TEXT), page(PARAGRAPH * 300_000)
    workers = ProcessWorkers(1, timeout_s=4, memory_bytes=1 << 30, preload=["assets.extract.extractor"])
    try:
        before, failure, after = workers.map(extract, [good, flood, good])
    finally:
        workers.close()
    assert isinstance(failure, WorkFailure)
    assert before == after == extract(good)


def test_the_hidden_has_no_say() -> None:
    hide: list[Callable[[str], str]] = [
        lambda text: f"<div hidden>{text}</div>",
        lambda text: f"<div style='color:red; DISPLAY : none'>{text}</div>",
        lambda text: f"<template>{text}</template>",
    ]
    for hidden in hide:
        assert "secret" not in str(extract(page(f"<main>{TEXT}{hidden('<p>secret</p>' * 20)}</main>"))["text"])

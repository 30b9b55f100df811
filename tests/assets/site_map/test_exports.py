"""Files for people: no cell starts a formula, and no site is too deep for its tree."""

import csv
import io
import json
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.schemas import SITE_MAP
from assets.site_map.exports import csv_bytes, tree_json


def node(key: str, parent: str = "", title: str = "") -> dict[str, object]:
    texts = {"site": "a", "crawl_id": "1", "url": f"https://a.example/{key}", "url_key": key, "title": title}
    numbers = dict.fromkeys(("depth", "status", "body_bytes", "fetch_ms", "in_links", "out_links", "words"), 0)
    return {**texts, **numbers, "parent_key": parent, "section": "/", "outcome": "fetched"}


def nodes(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=SITE_MAP)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"], ids=repr)
def test_a_cell_that_would_start_a_formula_gets_an_apostrophe(start: str) -> None:
    data = csv_bytes(pa.table({"title": [f"{start}HYPERLINK(1)"], "words": [-1]}))
    assert list(csv.reader(io.StringIO(data.decode(), newline="")))[1] == [f"'{start}HYPERLINK(1)", "-1"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1))
def test_a_csv_file_gives_back_every_text(texts: list[str]) -> None:
    data = csv_bytes(pa.table({"text": pa.array(texts, pa.string()), "number": range(len(texts))}))
    read = list(csv.reader(io.StringIO(data.decode(), newline="")))[1:]
    assert [re.sub(r"^'(?=[=+\-@\t\r])", "", cell) for cell, _ in read] == [
        re.sub(r"^'(?=[=+\-@\t\r])", "", text) for text in texts
    ]


def test_a_missing_number_is_an_empty_cell() -> None:
    assert csv_bytes(pa.table({"status": pa.array([None, 404], pa.int32())})) == b'status\r\n""\r\n404\r\n'


def test_pages_hang_under_their_parents() -> None:
    tree = json.loads(
        tree_json("a.example", nodes(node("?p=1"), node("b/", "", "B"), node("b/c", "b/", '"</script>'), node("d")))
    )
    assert tree["name"] == "a.example"
    assert [child["name"] for child in tree["children"]] == ["a.example?p=1", "b/", "d"]
    assert tree["children"][1]["children"] == [
        {"name": "c", "url": "https://a.example/b/c", "title": '"</script>', "children": []}
    ]


def test_a_site_without_pages_is_a_bare_root() -> None:
    assert json.loads(tree_json("a", nodes())) == {"name": "a", "url": "", "title": "a", "children": []}


def test_a_tree_can_be_deeper_than_python_can_recurse() -> None:
    data = tree_json("a", nodes(*(node(str(number), str(number - 1) if number else "") for number in range(3_000))))
    assert data.count(b"]}") == 3_001
    assert data.count(b"[") == 3_001

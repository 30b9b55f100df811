"""HTML trees: nothing is lost, nothing raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from assets.markup.tree import base_url, flattened, parse_html, parse_plain

PAGE = "http://e.test/p/q.html"


@pytest.mark.parametrize("depth", [250, 300, 3_000, 10_000])
@pytest.mark.parametrize("opening", ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<section><p>"])
def test_deep_nesting_keeps_text_and_links(depth: int, opening: str) -> None:
    tree = parse_html(f"<body>{opening * depth}<p>deep text <a href=x>link</a>{'</div>' * depth}<p>after</body>")
    assert tree is not None
    assert "deep text link" in str(tree.xpath("string()"))
    assert "after" in str(tree.xpath("string()"))
    assert tree.xpath("//a/@href") == ["x"]


def test_a_long_list_without_end_tags_is_not_deep() -> None:
    rows = "<tr><td>cell<td><p>more" * 2_000
    assert flattened(f"<table>{rows}</table>").count("<td>") == 4_000


def test_a_text_over_ten_megabytes_stays() -> None:
    tree = parse_html(f"<p>{'x' * 11_000_000}</p><p>after</p>")
    assert tree is not None
    assert str(tree.xpath("string()")).endswith("after")


@pytest.mark.parametrize("text", ["", "  \n", "\0\0", "<!-- nothing -->"])
def test_nothing_is_no_tree(text: str) -> None:
    assert parse_html(text) is None


@pytest.mark.parametrize(
    "text", ["a\0b", "<?xml version='1.0' encoding='gbk'?><html><p>ab", "<p>a\ud800b", "a\x0bb\x7f"]
)
def test_odd_characters_do_no_harm(text: str) -> None:
    tree = parse_html(text)
    assert tree is not None
    assert "ab" in str(tree.xpath("string()"))


@given(
    st.text(alphabet=st.characters(), max_size=100), st.sampled_from(["<", "<a href='", "<!--", "<table><td colspan="])
)
def test_no_text_raises_and_both_trees_are_one(text: str, before: str) -> None:
    trees = [parse(before + text) for parse in (parse_html, parse_plain)]
    one, other = (None if tree is None else etree.tostring(tree) for tree in trees)
    assert one == other
    flattened(before + text)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", PAGE),
        ("<base href='/root/'>", "http://e.test/root/"),
        ("<base href='sub/'><base href='/second/'>", "http://e.test/p/sub/"),
        ("<base target=_top><base href='//cdn.test/x'>", "http://cdn.test/x"),
        ("<base href='javascript:x'>", PAGE),
        ("<base href='http://['>", PAGE),
    ],
)
def test_the_first_base_counts(head: str, expected: str) -> None:
    tree = parse_html(f"<html><head>{head}</head><body>x</body></html>")
    assert tree is not None
    assert base_url(tree, PAGE) == expected

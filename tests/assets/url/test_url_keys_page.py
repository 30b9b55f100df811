"""docs/url_keys.md tells the truth: every example is one, and every rule and decision is there."""

import re
from pathlib import Path

import pytest

from assets.url.key import KeyRule, KeyRules, url_key
from tests.conformance.url_differences import DISPUTED

PAGE = (Path(__file__).resolve().parents[3] / "docs/url_keys.md").read_text(encoding="utf-8")
CELL_BORDER = re.compile(r"(?<!\\)\|")


def table(section: str) -> list[dict[str, str]]:
    """Give all rows of the tables of a section, by their headings; backticks and escapes taken away."""
    lines = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0].splitlines()
    rows: list[dict[str, str]] = []
    headings: list[str] = []
    for line in lines:
        if not line.startswith("|"):
            headings = []
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in CELL_BORDER.split(line)[1:-1]]
        cells = [cell[1:-1] if cell.startswith("`") and cell.endswith("`") else cell for cell in cells]
        if not headings:
            headings = cells
        elif set(line) != set("|-"):
            rows.append(dict(zip(headings, cells, strict=True)))
    return rows


SWITCHED = [row for row in table("Rules with a switch") if "Switch" in row]
NAMED_BY_SITE = [row for row in table("Rules with a switch") if "Switch" not in row]


@pytest.mark.parametrize("row", [*table("Always"), *SWITCHED], ids=lambda row: row["Address"])
def test_an_example_is_true(row: dict[str, str]) -> None:
    assert url_key(row["Address"]) == row["Key"]


@pytest.mark.parametrize("row", table("Always"), ids=lambda row: row["Address"])
def test_what_holds_always_cannot_be_switched_off(row: dict[str, str]) -> None:
    assert url_key(row["Address"], KeyRules(frozenset(KeyRule))) == row["Key"]


@pytest.mark.parametrize("row", SWITCHED, ids=lambda row: row["Address"])
def test_an_example_shows_its_own_rule(row: dict[str, str]) -> None:
    assert url_key(row["Address"], KeyRules(frozenset({KeyRule(row["Switch"])}))) != row["Key"]


def test_every_rule_is_explained() -> None:
    assert {row["Switch"] for row in SWITCHED} == set(KeyRule)


def test_the_example_of_a_sites_own_parameters_is_true() -> None:
    rules = KeyRules(off=frozenset({KeyRule.TRACKING, KeyRule.SESSION_IDS}), tracking_parameters=("ref", "x_*"))
    assert "`tracking_parameters: ['ref', 'x_*']`" in PAGE
    assert [url_key(row["Address"], rules) for row in NAMED_BY_SITE] == [row["Key"] for row in NAMED_BY_SITE]
    assert NAMED_BY_SITE


def test_every_decision_is_told_with_its_reason() -> None:
    rows = table("Where others disagree")
    assert {row["Address"]: row["Key"] for row in rows} == DISPUTED
    assert all(row["Why"] for row in rows)

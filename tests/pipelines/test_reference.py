"""The reference: its pages are what the code says today, and leave nothing out."""

from enum import StrEnum

import pytest

from pipelines.deployments import VARIABLES
from pipelines.project import PROJECT
from pipelines.reference import PAGES
from pipelines.reference.outcomes import meanings
from resources.site_catalog import KNOWN_KEYS

FOLDER = PROJECT / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_code_says_today(name: str) -> None:
    assert (FOLDER / name).read_text() == PAGES[name](), "run: python -m pipelines.reference"


def test_no_other_page_is_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == PAGES.keys()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("settings.md", [*VARIABLES, *KNOWN_KEYS]),
        ("checks.md", ["errors_within_share", "max_lost_share` 0.3", "crawl_report"]),
        ("commands.md", ["isobath alerts test", "130", "--install-completion"]),
    ],
)
def test_a_page_names_what_it_is_for(name: str, words: list[str]) -> None:
    text = PAGES[name]()
    assert [word for word in words if f"`{word}`" not in text and f"`{word}" not in text] == []


def test_a_word_that_nobody_explains_is_named() -> None:
    class Words(StrEnum):
        SAID = "said"  # with its meaning
        UNSAID = "unsaid"

    with pytest.raises(ValueError, match=r"Words: .* unsaid means"):
        meanings(Words)

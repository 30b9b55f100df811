"""The documentation: its commands are commands, its settings are settings, and its links lead somewhere."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from pipelines.cli.app import app
from pipelines.deployments import VARIABLES
from pipelines.project import PROJECT

PAGES = sorted([PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "deploy").glob("*.md")])
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\w+=\S+ )*(?:\.venv/bin/)?isobath (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]+)?\)")
SETTING = re.compile(r"\bISOBATH_[A-Z_]+\b")
NOT_OF_A_DEPLOYMENT = {"ISOBATH_PICTURES"}  # of the tests


def name_of(page: Path) -> str:
    return str(page.relative_to(PROJECT))


def commands() -> list[tuple[str, str]]:
    """Give each command of each page once."""
    found = {}
    for page in PAGES:
        for block in BLOCK.findall(page.read_text()):
            for words in COMMAND.findall(block):
                found[words] = name_of(page)
    return [(page, words) for words, page in found.items()]


@pytest.mark.parametrize(("page", "words"), commands())
def test_a_command_is_one_that_the_command_line_takes(
    page: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").touch()  # what people have reviewed
    arguments = shlex.split(words, comments=True)
    arguments = arguments[: next((at for at, word in enumerate(arguments) if word in ("|", ">", "&&")), None)]
    command: Any = typer.main.get_command(app)
    while isinstance(command, TyperGroup) and arguments:
        context = command.make_context(command.name, list(arguments))
        found = command.get_command(context, arguments[0])
        assert found is not None, f"{page}: there is no command {arguments[0]}"
        command, arguments = found, arguments[1:]
    command.make_context(command.name, arguments)  # raises what a user would read


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere_and_settings_exist(page: Path) -> None:
    text = page.read_text()
    assert [link for link in LINK.findall(text) if not (page.parent / link).exists()] == []
    assert set(SETTING.findall(text)) - NOT_OF_A_DEPLOYMENT <= VARIABLES.keys()


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (PROJECT / "docs" / "README.md").read_text()
    listed = {name for name in LINK.findall(contents) if name.endswith(".md")}
    here = {str(page.relative_to(PROJECT / "docs")) for page in (PROJECT / "docs").rglob("*.md")} - {"README.md"}
    assert here <= listed

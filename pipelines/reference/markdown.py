"""Markdown of the reference: pages and tables."""

from collections.abc import Iterable, Sequence
from typing import Final

NOTE: Final = "<!-- Made by: python -m pipelines.reference -->"


def page(title: str, *parts: str) -> str:
    """Put a page together, with a blank line between its parts."""
    return "\n\n".join([NOTE, f"# {title}", *(part.strip() for part in parts)]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table.

    >>> print(table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    """
    lines = [heads, *rows]
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    head, *body = [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join([head, "|" + "---|" * len(heads), *body])


def code(text: str) -> str:
    """Show a text as code."""
    return f"`{text}`"

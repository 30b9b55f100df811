"""The tables of a page: which of them hold data, and how those look in Markdown."""

from collections.abc import Callable
from typing import Final

from assets.extract.outline import HEADINGS, Node

# Source: WHATWG HTML, 4.9.11 (a colspan ends at 1,000). A cell spans no more columns than its table has, and no table
# has more cells than these.
_SPAN_MAX: Final = 1_000
_CELLS_MAX: Final = 100_000


def is_data_table(table: Node) -> bool:
    """Say whether a table holds data, and not the layout of a page."""
    rows = _rows(table)
    if max((len(row) for row in rows), default=0) < 2:
        return False
    if "presentation" in table.name or "none" in table.name.split("\n"):
        return False
    return not any(
        inner.tag == "table" or inner.tag in HEADINGS or inner.tag == "pre"
        for row in rows
        for cell in row
        for inner in (cell.walk() if cell.has_blocks else ())
        if inner is not cell
    )


def pipe_table(table: Node, write: Callable[[Node], str]) -> str:
    """Write a table; a cell that spans columns or rows leaves those after it empty."""
    rows = _rows(table)
    width_max = max(len(row) for row in rows)
    grid: list[list[str]] = []
    held: dict[int, int] = {}  # column -> rows that a cell above still takes
    cells = 0
    for row in rows:
        line: list[str] = []
        for cell in row:
            _skip_held(line, held)
            line.append(write(cell))
            columns = min(_span(cell, "colspan"), max(width_max - len(line) + 1, 1))
            span = _span(cell, "rowspan")
            for column in range(len(line) - 1, len(line) - 1 + columns):
                if span > 1:
                    held[column] = span - 1
            line += [""] * (columns - 1)
        _skip_held(line, held)
        grid.append(line)
        cells += len(line)
        if cells > _CELLS_MAX:
            break
    grid = [line for line in grid if any(line)]
    if not grid:
        return ""
    width = max(map(len, grid))
    lines = ["| " + " | ".join([*line, *[""] * (width - len(line))]) + " |" for line in grid]
    lines.insert(1, "|" + " --- |" * width)
    caption = next((node for node in table.children() if node.tag == "caption" and not node.dropped), None)
    above = write(caption).replace("\\|", "|") if caption is not None else ""
    return (f"{above}\n\n" if above else "") + "\n".join(lines)


def _skip_held(line: list[str], held: dict[int, int]) -> None:
    while held.get(len(line), 0) > 0:
        held[len(line)] -= 1
        line.append("")


def _rows(table: Node) -> list[list[Node]]:
    rows = []
    for child in table.children():
        if child.dropped:
            continue
        if child.tag == "tr":
            rows.append([cell for cell in child.children() if cell.tag in ("td", "th")])
        elif child.tag in ("thead", "tbody", "tfoot"):
            rows += _rows(child)
    return [row for row in rows if row]


def _span(cell: Node, name: str) -> int:
    digits = cell.attributes.get(name, "1").strip()[:10]
    return max(1, min(int(digits), _SPAN_MAX)) if digits.isascii() and digits.isdigit() else 1

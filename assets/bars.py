"""Bars of block characters: numbers drawn in text, for the UI's Markdown and for a terminal. Usable by all rooms."""

from collections.abc import Sequence
from typing import Final

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """Draw a share of a width, to the eighth of a character.

    >>> bar(0.5, 3), bar(0.0, 3), bar(2.0, 3)
    ('█▌', '', '███')
    """
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def bars(rows: Sequence[tuple[str, int]], width: int = 30) -> str:
    """Draw numbers as bars, a line each, in the order given.

    >>> print(bars([("one", 2), ("other", 4)], 2))
      one █ 2
    other ██ 4
    """
    label_width = max((len(label) for label, _ in rows), default=0)
    most = max((number for _, number in rows), default=0) or 1
    drawn = [(label, bar(number / most, width), number) for label, number in rows]
    return "\n".join(f"{label:>{label_width}} {line}{' ' if line else ''}{number:,}" for label, line, number in drawn)

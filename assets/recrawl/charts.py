"""Charts of a schedule in text: bars of block characters, for the UI's Markdown and for a terminal."""

from collections.abc import Sequence
from typing import Final

from assets.recrawl.columns import Floats

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_RATE_CLASSES: Final = (
    *(("hour", 1 / 24), ("day", 1.0), ("week", 7.0), ("month", 30.0), ("quarter", 91.0), ("year", 365.0)),
)


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


def rate_classes(rate_per_day: Floats) -> list[tuple[str, int]]:
    """Count pages by how often they change, without the empty classes at either end."""
    counted, below = [], 0
    for name, interval_days in _RATE_CLASSES:
        so_far = int((rate_per_day > 1 / interval_days).sum())
        counted.append((f"within a {name}", so_far - below))
        below = so_far
    counted.append(("more seldom", len(rate_per_day) - below))
    filled = [place for place, (_, pages) in enumerate(counted) if pages]
    return counted[filled[0] : filled[-1] + 1] if filled else []

"""Charts of a schedule: how many pages change how often."""

from typing import Final

from assets.recrawl.columns import Floats

_RATE_CLASSES: Final = (
    *(("hour", 1 / 24), ("day", 1.0), ("week", 7.0), ("month", 30.0), ("quarter", 91.0), ("year", 365.0)),
)


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

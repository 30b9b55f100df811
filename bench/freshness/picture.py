"""The picture: groups of bars as SVG, written by hand, for light and dark pages."""

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

_COLOURS: Final = ("#8c8c8c", "#c8862a", "#a05195", "#0a7ea4", "#7fb77e")
_BAR: Final = 18  # width
_GAP: Final = 34  # between groups
_LEFT: Final = 48
_TOP: Final = 64
_HEIGHT: Final = 220
_STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#333}.line{stroke:#bbb}.one{stroke:#333;stroke-dasharray:4 3}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.line{stroke:#555}.one{stroke:#ddd}}"
)


def bars(title: str, names: Sequence[str], groups: Mapping[str, Sequence[float]]) -> str:
    """Draw bars of positive values; the line at 1 is drawn through.

    Args:
        title: above all.
        names: of the bars of a group.
        groups: name -> a value for each bar.
    """
    top = max(1.2, *(value for values in groups.values() for value in values))
    group_width = _BAR * len(names) + _GAP
    width = _LEFT + group_width * len(groups) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_TOP + _HEIGHT + 32}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    for number, name in enumerate(names):
        x = _LEFT + number * 120
        parts.append(f'<rect x="{x}" y="32" width="10" height="10" fill="{_colour(number)}"/>')
        parts.append(f'<text x="{x + 15}" y="42">{escape(name)}</text>')
    for tick in range(int(top / 0.25) + 1):
        y = _y(tick * 0.25, top)
        kind = "one" if tick == 4 else "line"
        parts.append(f'<line class="{kind}" x1="{_LEFT}" x2="{width}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick * 0.25:g}</text>')
    for group, (name, values) in enumerate(groups.items()):
        left = _LEFT + _GAP / 2 + group * group_width
        for number, value in enumerate(values):
            y = _y(value, top)
            parts.append(
                f'<rect x="{left + number * _BAR:.1f}" y="{y:.1f}" width="{_BAR - 2}" '
                f'height="{_TOP + _HEIGHT - y:.1f}" fill="{_colour(number)}">'
                f"<title>{escape(name)}, {escape(names[number])}: {value:.3f}</title></rect>"
            )
        middle = left + _BAR * len(names) / 2
        parts.append(f'<text x="{middle:.1f}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _y(value: float, top: float) -> float:
    return _TOP + _HEIGHT * (1 - value / top)


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]

"""The histogram of similarities, as a picture that Dagster shows."""

import base64
from collections.abc import Sequence
from typing import Final

import numpy as np

_BARS: Final = 20
_WIDTH_PX: Final = 400
_HEIGHT_PX: Final = 120
_AXIS_PX: Final = 16


def histogram_image(similarities: Sequence[float]) -> str:
    """Draw how many candidate pairs are how alike, from 0 to 1, as a Markdown image; a sentence when there are none."""
    if not similarities:
        return "no candidate pairs"
    counts, _ = np.histogram(similarities, bins=_BARS, range=(0, 1))
    width = _WIDTH_PX / _BARS
    bars = "".join(
        f'<rect x="{place * width:.0f}" y="{_HEIGHT_PX * (1 - count / counts.max()):.1f}" width="{width - 2:.0f}" '
        f'height="{_HEIGHT_PX * count / counts.max():.1f}" fill="#4f6bed"><title>{count}</title></rect>'
        for place, count in enumerate(counts.tolist())
    )
    labels = "".join(
        f'<text x="{share * _WIDTH_PX:.0f}" y="{_HEIGHT_PX + 12}" font-size="11" text-anchor="{anchor}">{share}</text>'
        for share, anchor in ((0, "start"), (0.5, "middle"), (1, "end"))
    )
    size = f'width="{_WIDTH_PX}" height="{_HEIGHT_PX + _AXIS_PX}"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{bars}{labels}</svg>'
    encoded = base64.b64encode(picture.encode()).decode()
    return f"![similarity of {len(similarities)} candidate pairs](data:image/svg+xml;base64,{encoded})"

"""Differing parts: what one text has and another has not, for people who look at a pair."""

from typing import Final

_SHOWN_CHARACTERS: Final = 300
_GAP: Final = " … "


def differing_parts(text: str, other: str) -> tuple[str, str]:
    """Give the lines that only one of two texts has, each cut to the words that differ; at most 300 characters a side.

    >>> differing_parts("Tides\\nHigh at noon today.", "Tides\\nHigh at dusk today.")
    ('noon', 'dusk')
    """
    lines, other_lines = _lines(text), _lines(other)
    only = [line for line in lines if line not in other_lines]
    only_other = [line for line in other_lines if line not in lines]
    # Lines that are one another's versions stand in the same order, if the texts are alike.
    for place in range(min(len(only), len(only_other))):
        only[place], only_other[place] = _differing_words(only[place], only_other[place])
    return _shown(only), _shown(only_other)


def _lines(text: str) -> dict[str, None]:
    return dict.fromkeys(" ".join(line.split()) for line in text.splitlines())


def _differing_words(line: str, other: str) -> tuple[str, str]:
    words, others = line.split(), other.split()
    while words and others and words[0] == others[0]:
        del words[0], others[0]
    while words and others and words[-1] == others[-1]:
        del words[-1], others[-1]
    return " ".join(words), " ".join(others)


def _shown(parts: list[str]) -> str:
    text = _GAP.join(part for part in parts if part)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"

"""The language of a text, by the text itself: one of 140, or none when it is too short or too mixed to tell."""

import re
from typing import Final

# As much of a text as tells its language; the rest costs time and says the same.
_SAMPLE_CHARACTERS: Final = 1_000
# Letters that a guess needs; in scripts of one language fewer would do, in Latin they do not.
_LETTERS_MIN: Final = 20
_LIKELY: Final = 0.7
_NOT_WORDS: Final = re.compile(r"https?://\S+|[\W\d_]+")
# What the model calls text that is of no language.
_NO_LANGUAGE: Final = "zxx"


def text_language(text: str) -> str:
    """Give the ISO 639 code of the language that a text is most likely in; empty when that is open.

    >>> text_language("Der Hafenmeister führt eine Tafel der Gezeiten."), text_language("OK 12")
    ('de', '')
    """
    start = max(0, (len(text) - _SAMPLE_CHARACTERS) // 2)
    sample = _NOT_WORDS.sub(" ", text[start : start + _SAMPLE_CHARACTERS])
    if len(sample) - sample.count(" ") < _LETTERS_MIN:
        return ""
    # The model weighs seconds and a hundred megabytes: only those who ask pay, and worker processes share one.
    from assets.extract.language_model import IDENTIFIER

    code, likelihood = IDENTIFIER.classify(sample)
    return str(code) if likelihood >= _LIKELY and code != _NO_LANGUAGE else ""

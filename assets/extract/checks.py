"""Checks of the pages: that they have texts, that these are readable, and that they did not vanish since last time."""

from typing import Final

from assets.derived import CheckResult

TEXTS: Final = "texts_found"
READABLE: Final = "texts_readable"
KEPT: Final = "texts_kept"
DESCRIPTIONS: Final = {
    TEXTS: "At most half of the live HTML pages are without any text.",
    READABLE: "At most one character of a thousand in newly extracted texts stands for bytes that could not be read.",
    KEPT: "Pages that lived before and live now have not lost half of their text, all together.",
}
EMPTY_SHARE_MAX: Final = 0.5
UNREADABLE_SHARE_MAX: Final = 0.001
LOST_SHARE_MAX: Final = 0.5


def texts_found(live_pages: int, live_pages_without_text: int) -> CheckResult:
    """Say whether the share of pages without text is one that a site can have."""
    share = live_pages_without_text / live_pages if live_pages else 0.0
    metadata = {"live_pages": live_pages, "without_text": live_pages_without_text, "share_without_text": share}
    passed = share <= EMPTY_SHARE_MAX
    description = f"{live_pages_without_text} of {live_pages} live pages have no text"
    hint = "." if passed else ": they may need scripts, or the extractor fails on this site's template."
    return CheckResult(TEXTS, passed, description + hint, metadata)


def texts_readable(characters: int, replacement_characters: int) -> CheckResult:
    """Say whether hardly any character of the new texts is U+FFFD."""
    share = replacement_characters / characters if characters else 0.0
    metadata = {"characters": characters, "replacement_characters": replacement_characters, "share": share}
    passed = share <= UNREADABLE_SHARE_MAX
    description = f"{replacement_characters} of {characters} characters of new texts could not be read"
    hint = "." if passed else ": look at charset and charset_source of these pages."
    return CheckResult(READABLE, passed, description + hint, metadata)


def texts_kept(pages: int, characters_before: int, characters: int) -> CheckResult:
    """Say whether the pages that lived before have about as much text as they had."""
    lost = 1 - characters / characters_before if characters_before else 0.0
    metadata = {"pages": pages, "characters_before": characters_before, "characters": characters, "share_lost": lost}
    passed = lost <= LOST_SHARE_MAX
    description = f"{pages} pages that lived before had {characters_before} characters and have {characters}"
    hint = "." if passed else ": did the site's template change, or does it answer with an error page?"
    return CheckResult(KEPT, passed, description + hint, metadata)

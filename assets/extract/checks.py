"""Checks of the pages: that they have texts, and readable ones, and did not get much worse since last time."""

from collections.abc import Mapping
from typing import Final

from assets.derived import CheckResult
from resources.ports.catalog import TextLimits

TEXTS: Final = "texts_found"
READABLE: Final = "texts_readable"
KEPT: Final = "texts_kept"
FLAGS: Final = "flags_kept"
DESCRIPTIONS: Final = {
    TEXTS: "No more of the live HTML pages are without any text than the site's max_without_text.",
    READABLE: "No more characters of newly extracted texts stand for bytes that could not be read than the site's "
    "max_unreadable.",
    KEPT: "Pages that lived before and live now have not lost more of their text, all together, than the site's "
    "max_text_lost.",
    FLAGS: "No quality flag is on more of the pages that lived before, by more than the site's max_flag_growth.",
}


def texts_found(live_pages: int, live_pages_without_text: int, limits: TextLimits) -> CheckResult:
    """Say whether the share of pages without text is one that a site can have."""
    share = live_pages_without_text / live_pages if live_pages else 0.0
    metadata = {"live_pages": live_pages, "without_text": live_pages_without_text, "share_without_text": share}
    passed = share <= limits.max_without_text
    description = f"{live_pages_without_text} of {live_pages} live pages have no text"
    hint = "." if passed else ": they may need scripts, or the extractor fails on this site's template."
    return CheckResult(TEXTS, passed, description + hint, metadata)


def texts_readable(characters: int, replacement_characters: int, limits: TextLimits) -> CheckResult:
    """Say whether hardly any character of the new texts is U+FFFD."""
    share = replacement_characters / characters if characters else 0.0
    metadata = {"characters": characters, "replacement_characters": replacement_characters, "share": share}
    passed = share <= limits.max_unreadable
    description = f"{replacement_characters} of {characters} characters of new texts could not be read"
    hint = "." if passed else ": look at charset and charset_source of these pages."
    return CheckResult(READABLE, passed, description + hint, metadata)


def texts_kept(pages: int, characters_before: int, characters: int, limits: TextLimits) -> CheckResult:
    """Say whether the pages that lived before have about as much text as they had."""
    lost = 1 - characters / characters_before if characters_before else 0.0
    metadata = {"pages": pages, "characters_before": characters_before, "characters": characters, "share_lost": lost}
    passed = lost <= limits.max_text_lost
    description = f"{pages} pages that lived before had {characters_before} characters and have {characters}"
    hint = "." if passed else ": did the site's template change, or does it answer with an error page?"
    return CheckResult(KEPT, passed, description + hint, metadata)


def flags_kept(before: Mapping[str, float], now: Mapping[str, float], limits: TextLimits) -> CheckResult:
    """Say whether the pages that lived before have about the flags that they had.

    Args:
        before: share of those pages by flag.
        now: the same, of the same pages.
    """
    growth = {flag: share - before.get(flag, 0.0) for flag, share in now.items()}
    grown = {flag: by for flag, by in sorted(growth.items()) if by > limits.max_flag_growth}
    worst = max(growth.values(), default=0.0)  # a number: Dagster plots it over the materializations
    metadata = {"largest_growth": worst, "share_before": dict(before), "share": dict(now)}
    if not grown:
        return CheckResult(FLAGS, True, "No flag is on many more pages than before.", metadata)
    said = ", ".join(f"{flag} on {now[flag]:.1%} after {before.get(flag, 0.0):.1%}" for flag in grown)
    return CheckResult(FLAGS, False, f"{said}: look at flag_evidence of these pages.", metadata)

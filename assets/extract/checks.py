"""Checks of the pages: that they have texts."""

from typing import Final

from assets.derived import CheckResult

TEXTS: Final = "texts_found"
DESCRIPTIONS: Final = {TEXTS: "At most half of the live HTML pages are without any text."}
EMPTY_SHARE_MAX: Final = 0.5


def texts_found(live_pages: int, live_pages_without_text: int) -> CheckResult:
    """Say whether the share of pages without text is one that a site can have."""
    share = live_pages_without_text / live_pages if live_pages else 0.0
    metadata = {"live_pages": live_pages, "without_text": live_pages_without_text, "share_without_text": share}
    passed = share <= EMPTY_SHARE_MAX
    description = f"{live_pages_without_text} of {live_pages} live pages have no text"
    hint = "." if passed else ": they may need scripts, or the extractor fails on this site's template."
    return CheckResult(TEXTS, passed, description + hint, metadata)

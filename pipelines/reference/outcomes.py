"""The page of the outcomes: the words by which tables say what became of an address, a page, a site."""

import inspect
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from assets.crawl.report_stage import NOTHING_FETCHED
from assets.crawl.seed_stage import NO_USABLE_SEED
from assets.dedup.aliases import Evidence
from assets.extract.current import PageStatus
from assets.extract.flags import Flag
from assets.fetch.outcome import ERRORS, FetchOutcome
from assets.fetch.robots import RobotsVerdict
from assets.site_map.findings import Finding, meaning_of
from assets.url.scope import RejectReason
from pipelines.reference.markdown import code, page, table

SHOWN: Final[Mapping[str, type[StrEnum]]] = {
    "`outcome` of `fetches`": FetchOutcome,
    "`reason` of `refusals`": RejectReason,
    "`verdict` of `robots`": RobotsVerdict,
    "`status` of `page_state`": PageStatus,
    "`flags` of `pages`": Flag,
    "`evidence` of `aliases`": Evidence,
}
SITE_OUTCOMES: Final = {
    "ok": "the stage did what it was to do",
    NO_USABLE_SEED: "no seed can be fetched, or none may be: nothing else was asked",
    NOTHING_FETCHED: "no page could be fetched and read",
}
_MEMBER: Final = re.compile(r'^    \w+ = "(\w+)"  # (.+)$', re.MULTILINE)


def outcomes_page() -> str:
    """Make the page."""
    errors = ", ".join(code(outcome) for outcome in FetchOutcome if outcome in ERRORS)
    return page(
        "Outcomes",
        "The words by which tables say what became of an address, a page or a site. Each address that a crawl wants "
        "has exactly one final outcome in `fetches` (`is_final`), or a row in `refusals`.",
        *(part for title, words in SHOWN.items() for part in (f"## {title}", _table(meanings(words)))),
        "## `finding` of `findings`",
        _table({kind: meaning_of(kind) for kind in Finding}),
        "## `outcome` of `crawls`",
        _table(SITE_OUTCOMES),
        "## Errors",
        f"The progress of a crawl and the check `errors_within_share` count these as errors: {errors}.",
    )


def meanings(words: type[StrEnum]) -> dict[str, str]:
    """Give the members of an enumeration with the comments that stand beside them.

    Raises:
        ValueError: a member has none.
    """
    said = dict(_MEMBER.findall(inspect.getsource(words)))
    silent = [word for word in words if word.value not in said]
    if silent:
        raise ValueError(f"{words.__name__}: say in a comment beside it what {', '.join(silent)} means")
    return said


def _table(said: Mapping[str, str]) -> str:
    return table(["word", "meaning"], ([code(word), text] for word, text in said.items()))

"""Findings: what each visit found, by comparing it with the visit before. No rates, no dates."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from assets.recrawl.columns import NO_HASH, Answer, Codes, EventColumns, Flags, Hashes, PageColumns

TEMPLATE_PAGES: Final = 200  # of one crawl of a site; fewer say nothing about its template
TEMPLATE_SHARE: Final = 0.5


class Finding(IntEnum):
    """What a visit found. A number, for it is held in columns."""

    NOTHING = 0  # no visit, or one that says nothing of what the page holds
    FIRST = 1
    UNCHANGED = 2
    COSMETIC = 3  # other bytes, same text: unchanged for the schedule and for all that follows
    CHANGED = 4


@dataclass(frozen=True, slots=True)
class Findings:
    """One entry an event."""

    finding: Codes
    held: Flags  # part of a change of the whole template: true, but no evidence of the page's own rate
    lie: Flags  # another text under the validator that was there before: a 304 would have been a lie

    @property
    def read(self) -> Flags:
        """Whether the visit said what the page holds."""
        return np.not_equal(self.finding, Finding.NOTHING)

    @property
    def changed(self) -> Flags:
        """Whether it held something else than before."""
        return np.equal(self.finding, Finding.CHANGED)


def find(pages: PageColumns, events: EventColumns) -> Findings:
    """Say what each event found.

    Equal bytes are unchanged whatever their text digests say, so a new extractor changes nothing. Visits without a
    text (redirects, other media types) are compared by their bytes or target.

    Args:
        pages: as they were before the events.
        events: in time order; the crawls in them are whole.
    """
    finding = np.full(len(events), Finding.NOTHING, np.uint8)
    order = np.argsort(events.page, kind="stable")
    whole = order[((events.answer == Answer.CONTENT) | (events.answer == Answer.REDIRECT))[order]]
    first = np.ones(len(whole), bool)
    first[1:] = events.page[whole[1:]] != events.page[whole[:-1]]

    def before(now: Hashes, state: Hashes) -> Hashes:
        shifted: Hashes = np.roll(now[whole], 1)
        return np.where(first, state[events.page[whole]], shifted)

    text, payload = events.text_hash[whole], events.payload_hash[whole]
    text_before = before(events.text_hash, pages.text_hash)
    payload_before = before(events.payload_hash, pages.payload_hash)
    validator_before = before(events.validator_hash, pages.validator_hash)
    same_bytes = payload == payload_before
    same_text = (text != NO_HASH) & (text == text_before)
    finding[whole] = np.select(
        [payload_before == NO_HASH, same_bytes, same_text],
        [Finding.FIRST, Finding.UNCHANGED, Finding.COSMETIC],
        Finding.CHANGED,
    )
    lie = np.zeros(len(events), bool)
    validator = events.validator_hash[whole]
    lie[whole] = (
        (finding[whole] == Finding.CHANGED)
        & (events.answer[whole] == Answer.CONTENT)
        & (validator != NO_HASH)
        & (validator == validator_before)
    )
    # A 304 can only follow content, but content of a crawl that was swept away is not known here.
    seen_at = np.full(len(pages), len(events), np.int64)
    np.minimum.at(seen_at, events.page[whole], whole)
    unmodified = np.flatnonzero(events.answer == Answer.NOT_MODIFIED)
    known = (pages.payload_hash[events.page[unmodified]] != NO_HASH) | (seen_at[events.page[unmodified]] < unmodified)
    finding[unmodified[known]] = Finding.UNCHANGED
    return Findings(finding, _template_wide(pages, events, finding), lie)


def _template_wide(pages: PageColumns, events: EventColumns, finding: Codes) -> Flags:
    """Mark the visits of crawls in which most pages of a site changed at once."""
    held = np.zeros(len(events), bool)
    compared = np.flatnonzero(finding >= Finding.UNCHANGED)
    if len(compared) < TEMPLATE_PAGES:
        return held
    crawls, site_crawl = np.unique(
        np.column_stack([pages.site[events.page[compared]], events.crawl[compared]]), axis=0, return_inverse=True
    )
    site_crawl = site_crawl.reshape(-1)
    visits = np.bincount(site_crawl, minlength=len(crawls))
    changes = np.bincount(site_crawl[finding[compared] == Finding.CHANGED], minlength=len(crawls))
    wide = (visits >= TEMPLATE_PAGES) & (changes > TEMPLATE_SHARE * visits)
    held[compared] = wide[site_crawl]
    return held

"""Robots answers: the rules that an answer to a request for robots.txt taught, and what lets a server confirm them.

How long they are kept is decided by the robots book; this is about one answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

from assets.fetch.item import FetchItem, Validators
from assets.fetch.outcome import outcome_detail
from assets.fetch.politeness import retry_after_s
from assets.fetch.request import PRODUCT
from assets.fetch.robots import MAX_ROBOTS_BYTES, RobotsRules, RobotsVerdict, read_robots
from assets.markup.decoding import decode_body
from resources.ports import FetchResponse, Truncation

MAX_ROBOTS_TEXT_BYTES: Final = 2 * 1024 * 1024
_CUT: Final = frozenset({Truncation.DISCONNECT, Truncation.TIME})
_HALF_DECODED: Final = frozenset({"cut_short", "damaged"})


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What was learnt of a host's robots.txt."""

    rules: RobotsRules
    url: str  # of the last hop
    status: int | None  # of the last hop; None when there was no answer
    etag: str | None = None  # of a success
    last_modified: str | None = None  # of a success
    retry_after_s: float | None = None  # how long the host wants to be left alone

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Give what a row of table ``robots`` holds."""
        rules = RobotsRules.from_text(row["verdict"], row["reason"], row["body"], row["url"], PRODUCT)
        return cls(rules, row["url"], row["status"], row["etag"], row["last_modified"])

    @property
    def is_good(self) -> bool:
        """Whether the file could be had, or is known not to be there."""
        return self.rules.verdict is not RobotsVerdict.DISALLOW_ALL

    def is_confirmed_by(self, validators: Validators | None) -> bool:
        """Say whether "not modified" in answer to these validators means these rules."""
        return validators is not None and (validators.copy.url, validators.etag, validators.last_modified) == (
            self.url,
            self.etag,
            self.last_modified,
        )


def robots_answer(
    item: FetchItem, response: FetchResponse, known: RobotsAnswer | None, *, now: datetime
) -> RobotsAnswer:
    """Read an answer.

    Args:
        item: the last hop of the request for the robots.txt.
        response: the answer to it.
        known: what was learnt before; a 304 renews it, when the item carried its validators.
        now: for dates in Retry-After.
    """
    if response.status == 304 and known is not None and known.is_confirmed_by(item.validators):
        return replace(known, status=304)
    decoded = decode_body(response.body, response.header("Content-Encoding"), max_bytes=MAX_ROBOTS_TEXT_BYTES)
    status, detail = response.status, outcome_detail(response)
    # What follows the cut may forbid anything: a file that broke off is a file that could not be had.
    if response.truncated in _CUT or (decoded.reason in _HALF_DECODED and len(decoded.data) <= MAX_ROBOTS_BYTES):
        detail = detail or f"body {decoded.reason} after {len(decoded.data)} bytes"
        status = None
    rules = read_robots(status, decoded.data, item.url, PRODUCT, response.header("Content-Type"))
    if rules.verdict is RobotsVerdict.DISALLOW_ALL:
        rules = RobotsRules.from_text(rules.verdict, f"{rules.reason}: {detail}".rstrip(": "), "", item.url, PRODUCT)
        wait_s = retry_after_s(response.header("Retry-After"), now)
        return RobotsAnswer(rules, item.url, response.status, retry_after_s=wait_s)
    if status is None or status >= 300:
        # The validators of an error page say nothing about the file that may come one day.
        return RobotsAnswer(rules, item.url, status)
    return RobotsAnswer(rules, item.url, status, response.header("ETag"), response.header("Last-Modified"))

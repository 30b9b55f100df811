"""The robots book: the rules of the hosts of one site, as far as they are fresh. Table ``robots``."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import pyarrow as pa

from assets.fetch.request import PRODUCT
from assets.fetch.robots import RobotsRules, RobotsVerdict
from assets.fetch.robots_answer import RobotsAnswer

# RFC 9309, 2.4. Counted from the last time that the host gave or confirmed its file; no longer when it cannot be had.
KEEPS: Final = timedelta(hours=24)
ASKS_UNREACHABLE_AGAIN: Final = timedelta(minutes=10)  # doubled at each failure in a row
MAX_ASKS_AGAIN: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class _Good:
    """The last answer that could be had."""

    answer: RobotsAnswer
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _Unreachable:
    """What is known of a host since its file cannot be had."""

    rules: RobotsRules
    failures: int  # in a row
    ask_again_at: datetime


class RobotsBook:
    """Rules by host key, loaded from the table and filled by this run.

    A file that cannot be had forbids everything, but never a host whose last good copy is still fresh: that copy is
    used until it is 24 hours old.
    """

    def __init__(self, site: str, stored: pa.Table, *, unreachable: Literal["disallow", "allow"]) -> None:
        """Open the book of a site.

        Args:
            site: whose hosts they are.
            stored: rows of table ``robots``, stale ones too: a server may confirm them.
            unreachable: what a file that cannot be had means.
        """
        self._site = site
        self._unreachable_means = unreachable
        self._good: dict[str, _Good] = {}
        self._failed: dict[str, _Unreachable] = {}
        for row in stored.sort_by("fetched_at").to_pylist():
            self._keep(row["host_key"], RobotsAnswer.from_row(row), row["expires_at"])

    def rules(self, host_key: str, now: datetime) -> RobotsRules | None:
        """Give the rules of a host, or None when they must be asked."""
        good, failed = self._good.get(host_key), self._failed.get(host_key)
        if good is not None and now < good.expires_at:
            return good.answer.rules
        if failed is None or failed.ask_again_at <= now:
            return None
        if self._unreachable_means == "allow":
            reason = failed.rules.reason
            return RobotsRules.from_text(RobotsVerdict.ALLOW_ALL, reason, "", f"{host_key}/robots.txt", PRODUCT)
        return failed.rules

    def known(self, host_key: str) -> RobotsAnswer | None:
        """Give the last good answer of a host, stale or not: the one that a 304 may confirm."""
        good = self._good.get(host_key)
        return good.answer if good else None

    def sitemaps(self, host_key: str) -> Sequence[str]:
        """Give the Sitemap lines of a host."""
        good = self._good.get(host_key)
        return good.answer.rules.sitemaps if good else ()

    def learn(self, host_key: str, answer: RobotsAnswer, now: datetime) -> dict[str, Any]:
        """Take a fresh answer; give its row for the table."""
        expires_at = now + (KEEPS if answer.is_good else self._wait(host_key, answer.retry_after_s))
        self._keep(host_key, answer, expires_at)
        return {
            "site": self._site,
            "host_key": host_key,
            "fetched_at": now,
            "expires_at": expires_at,
            "url": answer.url,
            "status": answer.status,
            "verdict": answer.rules.verdict.value,
            "reason": answer.rules.reason,
            "body": answer.rules.body,
            "etag": answer.etag,
            "last_modified": answer.last_modified,
            "crawl_delay_s": answer.rules.crawl_delay_s,
            "sitemaps": list(answer.rules.sitemaps),
        }

    def _keep(self, host_key: str, answer: RobotsAnswer, expires_at: datetime) -> None:
        if answer.is_good:
            self._good[host_key] = _Good(answer, expires_at)
            self._failed.pop(host_key, None)
        else:
            self._failed[host_key] = _Unreachable(answer.rules, self._failures(host_key) + 1, expires_at)

    def _wait(self, host_key: str, retry_after_s: float | None) -> timedelta:
        """Say how long a file that cannot be had is left alone: doubling, or as long as the host wants if longer."""
        doubled = min(ASKS_UNREACHABLE_AGAIN * 2.0 ** min(self._failures(host_key), 20), MAX_ASKS_AGAIN)
        return max(doubled, timedelta(seconds=retry_after_s or 0))

    def _failures(self, host_key: str) -> int:
        failed = self._failed.get(host_key)
        return failed.failures if failed else 0

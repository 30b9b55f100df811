"""The robots book: the rules of the hosts of one site, as far as they are fresh. Table ``robots``."""

from datetime import datetime, timedelta
from typing import Any, Final, Literal

import pyarrow as pa

from assets.fetch.request import PRODUCT
from assets.fetch.robots import RobotsRules, RobotsVerdict

KEEPS: Final = timedelta(hours=24)  # RFC 9309, 2.4
KEEPS_UNREACHABLE: Final = timedelta(minutes=10)  # asked again soon, and never kept as "allowed"


class RobotsBook:
    """Rules by host key, loaded from the table and filled by this run."""

    def __init__(self, site: str, stored: pa.Table, *, unreachable: Literal["disallow", "allow"]) -> None:
        self._site = site
        self._unreachable = unreachable
        self._entries: dict[str, tuple[datetime, RobotsRules]] = {}
        for row in stored.sort_by("fetched_at").to_pylist():
            rules = RobotsRules.from_text(
                RobotsVerdict(row["verdict"]), row["reason"], row["body"], f"{row['host_key']}/robots.txt", PRODUCT
            )
            self._entries[row["host_key"]] = (row["expires_at"], rules)

    def rules(self, host_key: str, now: datetime) -> RobotsRules | None:
        """Give the rules of a host, or None when they must be asked."""
        expires_at, rules = self._entries.get(host_key, (now, None))
        if rules is None or expires_at <= now:
            return None
        if rules.verdict is RobotsVerdict.DISALLOW_ALL and self._unreachable == "allow":
            return RobotsRules.from_text(RobotsVerdict.ALLOW_ALL, rules.reason, "", f"{host_key}/robots.txt", PRODUCT)
        return rules

    def sitemaps(self, host_key: str) -> tuple[str, ...]:
        """Give the Sitemap lines of a host."""
        entry = self._entries.get(host_key)
        return entry[1].sitemaps if entry else ()

    def learn(self, host_key: str, rules: RobotsRules, status: int | None, now: datetime) -> dict[str, Any]:
        """Take fresh rules; give their row for the table."""
        unreachable = rules.verdict is RobotsVerdict.DISALLOW_ALL
        expires_at = now + (KEEPS_UNREACHABLE if unreachable else KEEPS)
        self._entries[host_key] = (expires_at, rules)
        return {
            "site": self._site,
            "host_key": host_key,
            "fetched_at": now,
            "expires_at": expires_at,
            "status": status,
            "verdict": rules.verdict.value,
            "reason": rules.reason,
            "body": rules.body,
            "crawl_delay_s": rules.crawl_delay_s,
            "sitemaps": list(rules.sitemaps),
        }

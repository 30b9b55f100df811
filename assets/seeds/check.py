"""The seed check: the verdict on each seed from what its fetch brought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

USABLE: Final = frozenset({"fetched", "not_modified", "too_large", "truncated"})

_WHY: Final = {
    "robots_denied": "robots.txt forbids it",
    "robots_unreachable": "its robots.txt does not answer, so nothing may be fetched",
    "dns_error": "its host name does not resolve",
    "timeout": "it does not answer in time",
    "network_error": "it cannot be reached",
    "private_address": (
        "it is on a private or loopback address; to crawl your own network, set allow_private_networks for the site"
    ),
    "gone": "there is no such page",
    "wrong_type": "it is not an HTML page",
    "deferred": "its host asked to be left alone",
}

_DETAILED: Final = frozenset({"network_error", "dns_error", "deferred", "robots_unreachable"})


@dataclass(frozen=True, slots=True)
class SeedGroup:
    """One seed, or one seed in several spellings of which the first that works is taken."""

    urls: tuple[str, ...]


def seed_groups(site: str, listed: Sequence[str], remembered: Sequence[str]) -> list[SeedGroup]:
    """Say where a crawl starts: at listed seeds, else where the last crawl started, else at the site's own host.

    Args:
        site: a host name, perhaps with a port.
        listed: seeds from run config or the catalog.
        remembered: usable seeds of the last seed check.

    >>> seed_groups("docs.example.org", [], [])
    [SeedGroup(urls=('https://docs.example.org/', 'http://docs.example.org/'))]
    """
    chosen = listed or remembered
    if chosen:
        return [SeedGroup((url,)) for url in dict.fromkeys(chosen)]
    return [SeedGroup((f"https://{site}/", f"http://{site}/"))]


def seed_row(seed_url: str, end: Mapping[str, Any], *, sitemaps: Sequence[str], checked_at: datetime) -> dict[str, Any]:
    """Make the ``seeds`` row of a seed from the final ``fetches`` row of its story."""
    outcome = end["outcome"]
    usable = outcome in USABLE
    robots = {"robots_denied": "denied", "robots_unreachable": "unreachable"}.get(outcome, "allowed")
    return {
        "seed_url": seed_url,
        "final_url": end["url"] if usable or outcome == "out_of_scope" else "",
        "status": end.get("status"),
        "outcome": outcome,
        "usable": usable,
        "reason": "" if usable else why_unusable(end),
        "robots": robots,
        "sitemaps": list(sitemaps),
        "checked_at": checked_at,
    }


def why_unusable(end: Mapping[str, Any]) -> str:
    """Say in one clause why a crawl cannot start at a seed."""
    outcome, detail = end["outcome"], end.get("reason") or ""
    if outcome == "out_of_scope":
        return f"it redirects to {end['url']}, which is outside this site; crawl that as a site of its own"
    if outcome == "redirected":
        return f"its redirects lead nowhere ({detail})"
    sentence = _WHY.get(outcome, f"it answered {detail or outcome}")
    return f"{sentence} ({detail})" if detail and outcome in _DETAILED else sentence


def unusable_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """Name each unusable seed and why; empty when all are usable."""
    return "; ".join(f"{row['seed_url']}: {row['reason']}" for row in rows if not row["usable"])

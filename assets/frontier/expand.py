"""Frontier expansion: candidates become frontier rows or refusals. Pure and deterministic."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assets.frontier.traps import TrapBudgets, trap
from assets.url.host import host_key
from assets.url.scope import Refusal, RejectReason

HUB_PRIORITY = 100.0


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a layer will fetch, best first, and what it will not."""

    frontier: tuple[dict[str, Any], ...]
    refusals: tuple[dict[str, Any], ...]
    dropped: Mapping[str, int] = field(default_factory=dict)  # refusals by reason


def expand(
    candidates: Iterable[Mapping[str, Any]],
    *,
    depth: int,
    budget: int,
    scope_refusal: Callable[[str], Refusal | None],
    traps: TrapBudgets,
) -> Expansion:
    """Judge candidates in their order: scope, then traps, then the page budget.

    Args:
        candidates: rows of ``CANDIDATES``, each url_key at most once and unknown to the crawl.
        depth: the layer that is made.
        budget: pages that the crawl may still fetch; what is beyond it is cut from the bottom of the priorities.
        scope_refusal: the site's scope.
        traps: budgets per URL pattern, filled with what this crawl has accepted.
    """
    accepted: list[dict[str, Any]] = []
    refusals: list[dict[str, Any]] = []
    for candidate in candidates:
        url = candidate["url"]
        refusal = scope_refusal(url)
        # What a person chose is no trap.
        if refusal is None and candidate["found_by"] not in ("seed", "hub"):
            refusal = trap(url) or traps.refusal(url)
        if refusal is not None:
            refusals.append(_refused(candidate, refusal))
            continue
        traps.accept(url)
        accepted.append(_frontier_row(candidate, depth))
    # A stable sort: equal priorities keep the order in which they were found.
    accepted.sort(key=lambda row: -row["priority"])
    limit = Refusal(RejectReason.PAGE_BUDGET, f"max_pages leaves room for {budget} at this depth")
    refusals += [_refused(row, limit) for row in accepted[budget:]]
    dropped: dict[str, int] = {}
    for row in refusals:
        dropped[row["reason"]] = dropped.get(row["reason"], 0) + 1
    return Expansion(tuple(accepted[:budget]), tuple(refusals), dropped)


def priority(*, depth: int, in_links: int, found_by: str, sitemap_priority: float | None) -> float:
    """Rank an address: hubs first, then what the publisher and the linking pages think of it.

    >>> priority(depth=1, in_links=3, found_by="link", sitemap_priority=None)
    1.0
    """
    hub = HUB_PRIORITY if found_by == "hub" else 0.0
    return hub + 2.0 * (sitemap_priority or 0.0) + math.log2(1 + in_links) - depth


def _frontier_row(candidate: Mapping[str, Any], depth: int) -> dict[str, Any]:
    return {
        "url": candidate["url"],
        "url_key": candidate["url_key"],
        "host_key": host_key(candidate["url"]),
        "priority": priority(
            depth=depth,
            in_links=candidate["in_links"],
            found_by=candidate["found_by"],
            sitemap_priority=candidate["sitemap_priority"],
        ),
        "found_by": candidate["found_by"],
        "found_on": candidate["found_on"],
        "in_links": candidate["in_links"],
        "other_urls": candidate["other_urls"],
    }


def _refused(candidate: Mapping[str, Any], refusal: Refusal) -> dict[str, Any]:
    return {
        "url": candidate["url"],
        "url_key": candidate["url_key"],
        "reason": refusal.reason.value,
        "rule": refusal.rule,
        "found_on": candidate["found_on"],
    }

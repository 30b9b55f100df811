"""Frontier expansion: candidates become frontier rows or refusals. Pure and deterministic."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.frontier.traps import TrapBudgets, trap
from assets.schemas import FRONTIER, REFUSALS
from assets.schemas.columns import CRAWL_ID, LAYER, SITE
from assets.url.host import host_key
from assets.url.scope import Refusal, RejectReason

HUB_PRIORITY: Final = 100.0
ROWS_AT_ONCE: Final = 20_000  # as objects; a row of them weighs some ten times what it does in a table

_COMMON: Final = {SITE.name, CRAWL_ID.name, LAYER.name}
NEW_FRONTIER: Final = pa.schema([field for field in FRONTIER if field.name not in _COMMON])
NEW_REFUSALS: Final = pa.schema([field for field in REFUSALS if field.name not in _COMMON])


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a layer will fetch, best first, and what it will not."""

    frontier: pa.Table  # NEW_FRONTIER
    refusals: pa.Table  # NEW_REFUSALS


def expand(
    candidates: pa.Table,
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
        traps: budgets per URL pattern, filled with what this crawl has accepted; what is accepted here is added.
    """
    frontier, refusals = [], []
    for start in range(0, candidates.num_rows, ROWS_AT_ONCE):
        accepted: list[dict[str, Any]] = []
        refused: list[dict[str, Any]] = []
        for candidate in candidates.slice(start, ROWS_AT_ONCE).to_pylist():
            refusal = _refusal(candidate, scope_refusal, traps)
            if refusal is None:
                traps.accept(candidate["url"])
                accepted.append(_frontier_row(candidate, depth))
            else:
                refused.append(_refused(candidate, refusal))
        frontier.append(pa.Table.from_pylist(accepted, schema=NEW_FRONTIER))
        refusals.append(pa.Table.from_pylist(refused, schema=NEW_REFUSALS))
    kept, cut = _cut(pa.concat_tables(frontier or [NEW_FRONTIER.empty_table()]), budget)
    return Expansion(kept, pa.concat_tables([*refusals, cut]))


def _refusal(
    candidate: Mapping[str, Any], scope_refusal: Callable[[str], Refusal | None], traps: TrapBudgets
) -> Refusal | None:
    url = candidate["url"]
    refusal = scope_refusal(url)
    # What a person chose is no trap, nor what has been accepted before.
    if refusal is None and candidate["found_by"] not in ("seed", "hub", "due"):
        refusal = trap(url) or traps.refusal(url)
    return refusal


def _cut(frontier: pa.Table, budget: int) -> tuple[pa.Table, pa.Table]:
    """Sort rows best first, and refuse what is beyond the page budget."""
    # A stable sort: equal priorities keep the order in which they were found.
    ordered = frontier.take(pc.sort_indices(frontier, sort_keys=[("priority", "descending")]))
    beyond = ordered.slice(budget)
    rule = pa.scalar(f"max_pages leaves room for {budget} at this depth")
    refused = beyond.select(["url", "url_key", "found_on"])
    for name, value in (("reason", pa.scalar(RejectReason.PAGE_BUDGET.value)), ("rule", rule)):
        refused = refused.append_column(name, pa.repeat(value, refused.num_rows))
    return ordered.slice(0, budget), refused.select(NEW_REFUSALS.names).cast(NEW_REFUSALS)


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
        "priority": candidate["worth"]
        if candidate["worth"] is not None
        else priority(
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

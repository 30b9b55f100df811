"""Frontier expansion: candidates become frontier rows or refusals. Pure and deterministic."""

import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.frontier.traps import TrapBudgets, trap
from assets.schemas import FRONTIER, REFUSALS
from assets.schemas.columns import CRAWL_ID, LAYER, SITE
from assets.url.host import host_key
from assets.url.marks import marks
from assets.url.scope import Refusal, RejectReason

HUB_PRIORITY: Final = 100.0
REPEATING_SETBACK: Final = 10.0  # more than any depth costs, or a thousand links are worth
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
    repeating: AbstractSet[str] = frozenset(),
) -> Expansion:
    """Judge candidates in their order: scope, then traps, then the page budget.

    Args:
        candidates: rows of ``CANDIDATES``, each url_key at most once and unknown to the crawl.
        depth: the layer that is made.
        budget: pages that the crawl may still fetch; what is beyond it is cut from the bottom of the priorities.
        scope_refusal: the site's scope.
        traps: budgets per URL pattern, filled with what this crawl has accepted; what is accepted here is added.
        repeating: marks of addresses whose pages have always repeated others: they come last.
    """
    priorities: list[float | None] = []  # None: refused
    refusals = [NEW_REFUSALS.empty_table()]
    for start in range(0, candidates.num_rows, ROWS_AT_ONCE):
        refused: list[dict[str, Any]] = []
        for candidate in candidates.slice(start, ROWS_AT_ONCE).to_pylist():
            refusal = _refusal(candidate, scope_refusal, traps)
            if refusal is None:
                traps.accept(candidate["url"])
                priorities.append(_priority(candidate, depth) - _setback(candidate, repeating))
            else:
                priorities.append(None)
                refused.append(_refused(candidate, refusal))
        refusals.append(pa.Table.from_pylist(refused, schema=NEW_REFUSALS))
    ranks = pa.table({"row": pa.arange(0, len(priorities)), "priority": pa.array(priorities, pa.float64())}).drop_null()
    # A stable sort: equal priorities keep the order in which they were found.
    ranks = ranks.take(pc.sort_indices(ranks, sort_keys=[("priority", "descending")]))
    refusals.append(_beyond(candidates, ranks["row"].slice(budget), budget))
    return Expansion(_frontier(candidates, ranks.slice(0, budget)), pa.concat_tables(refusals))


def _refusal(
    candidate: Mapping[str, Any], scope_refusal: Callable[[str], Refusal | None], traps: TrapBudgets
) -> Refusal | None:
    url = candidate["url"]
    refusal = scope_refusal(url)
    # What a person chose is no trap, nor what has been accepted before.
    if refusal is None and candidate["found_by"] not in ("seed", "hub", "due"):
        refusal = trap(url) or traps.refusal(url)
    return refusal


def _frontier(candidates: pa.Table, ranks: pa.Table) -> pa.Table:
    """Make the rows of accepted candidates, in the order of their ranks."""
    parts = [NEW_FRONTIER.empty_table()]
    # In parts: one chunk of a million rows makes the table store take as much again, several times.
    for start in range(0, ranks.num_rows, ROWS_AT_ONCE):
        ranked = ranks.slice(start, ROWS_AT_ONCE)
        rows = candidates.take(ranked["row"])
        host_keys = pa.array(map(host_key, rows["url"].to_pylist()), pa.string())
        rows = rows.append_column("host_key", host_keys).append_column("priority", ranked["priority"])
        parts.append(rows.select(NEW_FRONTIER.names).cast(NEW_FRONTIER))
    return pa.concat_tables(parts)


def _beyond(candidates: pa.Table, rows: pa.ChunkedArray, budget: int) -> pa.Table:
    """Refuse what is beyond the page budget."""
    refused = candidates.select(["url", "url_key", "found_on"]).take(rows)
    rule = pa.scalar(f"max_pages leaves room for {budget} at this depth")
    for name, value in (("reason", pa.scalar(RejectReason.PAGE_BUDGET.value)), ("rule", rule)):
        refused = refused.append_column(name, pa.repeat(value, refused.num_rows))
    return refused.select(NEW_REFUSALS.names).cast(NEW_REFUSALS)


def priority(*, depth: int, in_links: int, found_by: str, sitemap_priority: float | None) -> float:
    """Rank an address: hubs first, then what the publisher and the linking pages think of it.

    >>> priority(depth=1, in_links=3, found_by="link", sitemap_priority=None)
    1.0
    """
    hub = HUB_PRIORITY if found_by == "hub" else 0.0
    return hub + 2.0 * (sitemap_priority or 0.0) + math.log2(1 + in_links) - depth


def _setback(candidate: Mapping[str, Any], repeating: AbstractSet[str]) -> float:
    # What a person chose, and a visit whose worth is known, is not judged by what its address looks like.
    if not repeating or candidate["worth"] is not None or candidate["found_by"] in ("seed", "hub"):
        return 0.0
    return 0.0 if repeating.isdisjoint(marks(candidate["url"])) else REPEATING_SETBACK


def _priority(candidate: Mapping[str, Any], depth: int) -> float:
    if candidate["worth"] is not None:
        return float(candidate["worth"])
    return priority(
        depth=depth,
        in_links=candidate["in_links"],
        found_by=candidate["found_by"],
        sitemap_priority=candidate["sitemap_priority"],
    )


def _refused(candidate: Mapping[str, Any], refusal: Refusal) -> dict[str, Any]:
    return {
        "url": candidate["url"],
        "url_key": candidate["url_key"],
        "reason": refusal.reason.value,
        "rule": refusal.rule,
        "found_on": candidate["found_on"],
    }

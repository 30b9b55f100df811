"""Aliases: addresses that turned out to be another page's. By evidence only, never by their looks.

``http`` and ``https``, with and without ``www``, with and without ``index.html``: such spellings are often one page
and sometimes not, so their keys differ. What makes them one is a redirect, a declared canonical with the same text, or
the same text at two addresses that differ in nothing but such a spelling.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets import names
from assets.schemas import ALIASES
from assets.url.key import KeyRules, url_key
from resources.ports import TableStore

_HOPS: Final = ["url_key", "redirect_url", "requested_at", "outcome"]
_STATE: Final = ["url", "url_key", "status", "text_digest", "declared_canonical_key", "last_asked_at"]
_VARIANT: Final = re.compile(r"^https?://(?:www\.)?(?P<rest>.*?)(?:/(?:index|default)\.(?:html?|php|aspx?|jsp))?/?$")


class Evidence(StrEnum):
    """Why two addresses are one page, the strongest first."""

    REDIRECT = "redirect"  # it leads to the other address
    CANONICAL = "canonical"  # it declares the other address, and has its text
    DIGEST = "digest"  # it has the other's text, and differs from it only in spelling


def aliases_of_site(site: str, tables: TableStore, rules: KeyRules) -> pa.Table:
    """Give the aliases of a site, one row an address, in the order of their keys."""
    fetches = tables.read(names.T_FETCHES, sites=[site], columns=_HOPS, where=pc.field("purpose") == "page")
    state = tables.read(names.T_PAGE_STATE, sites=[site], columns=_STATE).to_pylist()
    rows = aliases(fetches.to_pylist(), state, rules)
    return pa.Table.from_pylist([{"site": site, **rows[key]} for key in sorted(rows)], schema=ALIASES)


def aliases(
    hops: Iterable[Mapping[str, Any]], state: Iterable[Mapping[str, Any]], rules: KeyRules
) -> dict[str, dict[str, Any]]:
    """Find the aliases of a site by url_key; the strongest evidence of each counts, and none is an alias of an alias.

    Args:
        hops: rows of ``fetches``.
        state: rows of ``page_state``.
        rules: those of the site, for the keys of redirect targets.
    """
    live = {row["url_key"]: row for row in state if row["status"] == "live"}
    found = _by_redirect(hops, live, rules)
    for weaker in (_by_canonical(live), _by_digest(live)):
        for key, row in weaker.items():
            # What would close a ring contradicts stronger evidence.
            if key not in found and _end(found, row["alias_of"]) != key:
                found[key] = row
    return {key: {**row, "alias_of": _end(found, row["alias_of"])} for key, row in found.items()}


def _end(found: Mapping[str, Mapping[str, Any]], key: str) -> str:
    while key in found:
        key = found[key]["alias_of"]
    return key


def variant_form(key: str) -> str:
    """Give what variants of one address share: no scheme, no ``www.``, no default document.

    >>> variant_form("https://www.e.test/a/index.html") == variant_form("http://e.test/a")
    True
    """
    match = _VARIANT.match(key)
    return match["rest"] if match else key


def _by_redirect(
    hops: Iterable[Mapping[str, Any]], live: Mapping[str, Mapping[str, Any]], rules: KeyRules
) -> dict[str, dict[str, Any]]:
    # The last answer of an address counts: a page that redirected once may be a page of its own today.
    last: dict[str, Mapping[str, Any]] = {}
    for row in sorted(hops, key=lambda row: row["requested_at"]):
        last[row["url_key"]] = row
    targets = {
        key: url_key(row["redirect_url"], rules)
        for key, row in last.items()
        if row["outcome"] == "redirected" and row["redirect_url"]
    }
    found = {}
    for key in targets:
        end, seen = targets[key], {key}
        while end in targets and end not in seen:
            seen.add(end)
            end = targets[end]
        if end in live and end != key:
            row = last[key]
            found[key] = _alias(key, end, Evidence.REDIRECT, row["redirect_url"], row["requested_at"])
    return found


def _by_canonical(live: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    found = {}
    for key, row in live.items():
        canonical = row["declared_canonical_key"]
        target = live.get(canonical)
        # A declared canonical is a hint: pages are known to name their home page. The same text makes it evidence.
        if target is None or canonical == key or not row["text_digest"]:
            continue
        if target["text_digest"] == row["text_digest"]:
            found[key] = _alias(key, canonical, Evidence.CANONICAL, target["url"], row["last_asked_at"])
    # Pages that name each other in a ring say nothing of which is the one.
    return {key: row for key, row in found.items() if not _is_in_ring(found, key)}


def _is_in_ring(found: Mapping[str, Mapping[str, Any]], start: str) -> bool:
    key, seen = start, set[str]()
    while key in found and key not in seen:
        seen.add(key)
        key = found[key]["alias_of"]
    return key == start


def _by_digest(live: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    groups: dict[tuple[str, str], list[str]] = {}
    for key, row in live.items():
        if row["text_digest"]:
            groups.setdefault((row["text_digest"], variant_form(key)), []).append(key)
    found = {}
    for (digest, _), keys in groups.items():
        # https before http, then the shortest: what a person would write.
        first, *others = sorted(keys, key=lambda key: (not key.startswith("https:"), len(key), key))
        for key in others:
            found[key] = _alias(key, first, Evidence.DIGEST, digest, live[key]["last_asked_at"])
    return found


def _alias(key: str, page: str, evidence: Evidence, detail: str, seen_at: datetime) -> dict[str, Any]:
    return {"url_key": key, "alias_of": page, "evidence": evidence.value, "detail": detail, "seen_at": seen_at}

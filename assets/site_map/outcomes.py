"""Outcomes: what fetch outcomes mean for a map. How an outcome comes about is decided elsewhere."""

from typing import Final

NOT_MODIFIED: Final = "not_modified"
LIVE: Final = frozenset({"fetched", NOT_MODIFIED, "truncated", "too_large", "wrong_type"})
REDIRECTED: Final = "redirected"
ELSEWHERE: Final = frozenset({"out_of_scope", "private_address"})  # a redirect left the site: its end is no page of it
_DEAD: Final = frozenset({"gone", "dns_error"})
# These say that we may not look, not that there is nothing.
_GUARDED_STATUS: Final = frozenset({401, 402, 403, 407, 429, 451})


def is_dead(outcome: str, status: int | None) -> bool:
    """Tell whether a link to a page with this outcome is dead.

    Timeouts and 5xx may be over tomorrow: they are counted by outcome, and no finding.

    >>> is_dead("gone", 404), is_dead("client_error", 403), is_dead("client_error", 400)
    (True, False, True)
    """
    return outcome in _DEAD or (outcome == "client_error" and status not in _GUARDED_STATUS)

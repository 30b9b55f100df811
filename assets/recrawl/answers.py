"""Answers: what a row of ``fetches`` was, in the words of this room."""

from typing import Final

from assets.recrawl.columns import Answer

_ANSWERS: Final = {
    "fetched": Answer.CONTENT,
    "too_large": Answer.CONTENT,  # cut at our own limit, so always at the same place
    "wrong_type": Answer.CONTENT,
    "not_modified": Answer.NOT_MODIFIED,
    "redirected": Answer.REDIRECT,
    "client_error": Answer.FAILED,
    "server_error": Answer.FAILED,
    "truncated": Answer.FAILED,  # cut anywhere: that its text differs says nothing
    "timeout": Answer.FAILED,
    "network_error": Answer.FAILED,
    "dns_error": Answer.FAILED,
    "robots_unreachable": Answer.FAILED,
    "robots_denied": Answer.BARRED,
    "out_of_scope": Answer.BARRED,
    "private_address": Answer.BARRED,
}


def answer_of(outcome: str, status: int | None) -> Answer | None:
    """Give the answer that a fetch outcome is; None for one that was never asked.

    >>> answer_of("gone", 404), answer_of("server_error", 503), answer_of("deferred", None)
    (<Answer.NOT_FOUND: 3>, <Answer.THROTTLED: 6>, None)

    Raises:
        ValueError: no fetch outcome is called so.
    """
    if outcome == "deferred":
        return None
    if outcome == "gone":
        return Answer.GONE if status == 410 else Answer.NOT_FOUND
    if status in (429, 503):
        return Answer.THROTTLED
    if outcome not in _ANSWERS:
        raise ValueError(f"no fetch outcome is called {outcome!r}")
    return _ANSWERS[outcome]

"""Stories that a killed run left open: an address was asked and its answer stored, but it leads on. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assets.fetch.item import FetchItem, Validators
from assets.fetch.outcome import FetchOutcome
from assets.fetch.politeness import cookies_after
from assets.url.host import host_key
from assets.url.key import KeyRules, url_key


def carried_on(
    item: FetchItem,
    answers: Sequence[Mapping[str, Any]],
    *,
    key_rules: KeyRules,
    validators: Callable[[str, str], Validators | None],
) -> FetchItem:
    """Give the request with which a story goes on, so that no stored answer is asked for again.

    Args:
        item: the first request of the story.
        answers: its stored rows of ``fetches``, none of them final, in the order in which they came; with
            ``set_cookie``, the values of these headers.
        key_rules: of the site.
        validators: url_key and url -> stored copy.
    """
    following = item
    for row in answers:
        if row["url"] != following.url:  # the story was begun anew in between
            following = item if row["url"] == item.url else following
        if row["url"] != following.url:
            continue
        target = row["redirect_url"]
        if target is not None:
            target_key, target_host = url_key(target, key_rules), host_key(target)
            following = following.towards(
                target,
                url_key=target_key,
                host_key=target_host,
                cookies=cookies_after(
                    following.cookies, list(row["set_cookie"]), same_host=target_host == following.host_key
                ),
                validators=validators(target_key, target),
            )
        elif row["outcome"] == FetchOutcome.GONE and following.other_urls:
            following = following.other_spelling(host_key(following.other_urls[0]))
        else:
            following = following.again()
    return following

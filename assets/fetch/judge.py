"""The judgement on an answer: its outcome, and what the story of its address does next. Pure."""

from collections.abc import Callable, Container
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from assets.fetch.item import MAX_HOPS, FetchItem, Purpose, Validators
from assets.fetch.outcome import FetchOutcome, outcome_detail, outcome_of
from assets.fetch.politeness import MAX_REFUSALS, PATIENCE_S, backoff_s, cookies_after, retry_after_s
from assets.url.host import host_key
from assets.url.key import KeyRules, url_key
from assets.url.parse import resolve
from assets.url.scope import Refusal
from resources.ports import FetchFailure, FetchResponse, Truncation

MAX_ATTEMPTS: Final = 3  # one try and two retries
MAX_ATTEMPTS_TRUNCATED: Final = 2
META_REFRESH: Final = "meta_refresh"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the judge must know of the site and the crawl."""

    refusal: Callable[[str], Refusal | None]  # scope of the site
    key_rules: KeyRules
    known: Container[str]  # url_keys that this crawl has already decided about; of sitemaps the addresses
    validators: Callable[[str, str], Validators | None]  # url_key and url -> stored copy
    retry_base_s: float  # wait before the first retry; doubled for the second
    page_types: frozenset[str]  # media types of pages
    refresh_url: Callable[[FetchResponse], str | None]  # where a page sends its visitors before they could read it


@dataclass(frozen=True, slots=True)
class RefusedHop:
    """A redirect target that is not followed."""

    url: str
    url_key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one request. ``next_item`` goes on with the story; without it the row is final."""

    outcome: FetchOutcome
    reason: str = ""
    redirect_url: str | None = None
    next_item: FetchItem | None = None
    wait_s: float = 0.0  # before next_item
    pause_s: float | None = None  # for the whole host
    set_aside: bool = False  # the host is not asked again in this run
    refused_hop: RefusedHop | None = None  # a row of its own, and the final one

    @property
    def is_final(self) -> bool:
        """Whether the row of this request ends the story of its origin."""
        return self.next_item is None and self.refused_hop is None


def judge(item: FetchItem, response: FetchResponse, around: Surroundings, *, now: datetime, refusals: int) -> Judgement:
    """Say what an answer means and what comes next.

    Args:
        item: what was asked.
        response: what came back.
        around: the site and the crawl.
        now: for dates in Retry-After.
        refusals: 429 and 503 answers of this host in a row, this one included.
    """
    types = None if item.purpose in (Purpose.ROBOTS, Purpose.SITEMAP) else around.page_types
    outcome = outcome_of(response, types=types, conditional=item.validators is not None)
    reason = outcome_detail(response)
    if response.status in (429, 503):
        return _refused(item, response, outcome, reason, now=now, refusals=refusals)
    if outcome is FetchOutcome.REDIRECTED:
        return _redirected(item, response, around)
    if outcome is FetchOutcome.FETCHED and item.purpose is Purpose.PAGE:
        refreshed = around.refresh_url(response)
        if refreshed is not None:
            return _led_on(item, response, refreshed, around, reason=META_REFRESH)
    if outcome is FetchOutcome.GONE and item.other_urls:
        following = item.other_spelling(host_key(item.other_urls[0]))
        return Judgement(outcome, reason, next_item=following)
    if item.attempt < _attempts(response, outcome):
        wait_s = around.retry_base_s * 2.0 ** (item.attempt - 1)
        return Judgement(outcome, reason, next_item=item.again(), wait_s=wait_s)
    return Judgement(outcome, reason)


def is_refusal(response: FetchResponse) -> bool:
    """Tell whether a host said that it wants to be left alone."""
    return response.status in (429, 503)


def _attempts(response: FetchResponse, outcome: FetchOutcome) -> int:
    if outcome in (FetchOutcome.TIMEOUT, FetchOutcome.NETWORK_ERROR, FetchOutcome.SERVER_ERROR):
        return MAX_ATTEMPTS
    if response.failure is FetchFailure.DNS_TRANSIENT:
        return MAX_ATTEMPTS
    return MAX_ATTEMPTS_TRUNCATED if response.truncated is Truncation.DISCONNECT else 1


def _refused(
    item: FetchItem, response: FetchResponse, outcome: FetchOutcome, reason: str, *, now: datetime, refusals: int
) -> Judgement:
    pause_s = retry_after_s(response.header("Retry-After"), now) or backoff_s(refusals)
    if pause_s > PATIENCE_S or refusals >= MAX_REFUSALS:
        detail = f"{reason}; the host asked to be left alone for {pause_s:.0f} s, refusal {refusals} in a row"
        return Judgement(FetchOutcome.DEFERRED, detail, pause_s=pause_s, set_aside=True)
    if item.attempt < MAX_ATTEMPTS:
        return Judgement(outcome, reason, next_item=item.again(), pause_s=pause_s)
    if response.status == 429:
        outcome = FetchOutcome.DEFERRED
    return Judgement(outcome, reason, pause_s=pause_s)


def _redirected(item: FetchItem, response: FetchResponse, around: Surroundings) -> Judgement:
    location = response.header("Location") or ""
    target = resolve(location, item.url)
    if target is None:
        return Judgement(FetchOutcome.REDIRECTED, f"Location does not parse: {location[:200]!r}")
    if item.purpose is Purpose.PROBE:
        return Judgement(FetchOutcome.REDIRECTED, redirect_url=target)
    return _led_on(item, response, target, around)


def _led_on(
    item: FetchItem, response: FetchResponse, target: str, around: Surroundings, *, reason: str = ""
) -> Judgement:
    target_key, target_host = url_key(target, around.key_rules), host_key(target)
    cookies = cookies_after(
        item.cookies,
        [value for name, value in response.headers if name.lower() == "set-cookie"],
        same_host=target_host == item.host_key,
    )
    following = item.towards(
        target,
        url_key=target_key,
        host_key=target_host,
        cookies=cookies,
        validators=around.validators(target_key, target),
    )
    if following.loop_key in following.chain:
        return Judgement(FetchOutcome.REDIRECTED, "redirect_loop", redirect_url=target)
    if following.hop > MAX_HOPS[item.purpose]:
        too_many = f"redirect_loop: more than {MAX_HOPS[item.purpose]} hops"
        return Judgement(FetchOutcome.REDIRECTED, too_many, redirect_url=target)
    if item.purpose is Purpose.PAGE:
        refusal = around.refusal(target)
        if refusal is not None:
            hop = RefusedHop(target, target_key, f"{refusal.reason}: {refusal.rule}")
            return Judgement(FetchOutcome.REDIRECTED, reason, redirect_url=target, refused_hop=hop)
        # The origin's own key is known, of course: "/a" may lead to "/a/".
        if target_key != item.origin_key and target_key in around.known:
            return Judgement(FetchOutcome.REDIRECTED, "target already known", redirect_url=target)
    elif not target_host:
        return Judgement(FetchOutcome.REDIRECTED, "not an http address", redirect_url=target)
    elif item.purpose is Purpose.SITEMAP and target in around.known and not _was_asked_in_chain(target, following):
        return Judgement(FetchOutcome.REDIRECTED, "target already known", redirect_url=target)
    return Judgement(FetchOutcome.REDIRECTED, reason, redirect_url=target, next_item=following)


def _was_asked_in_chain(url: str, item: FetchItem) -> bool:
    """Tell whether a redirect chain comes back to an address, with a cookie this time."""
    return url in {loop_key.partition("\n")[0] for loop_key in item.chain}

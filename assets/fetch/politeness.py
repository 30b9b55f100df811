"""Politeness: how long a host is left alone, after an answer and after a refusal."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

DELAY_FACTOR: Final = 10.0  # Mercator: ten times as long as the last answer took
JITTER_SHARE: Final = 0.1
FIRST_BACKOFF_S: Final = 10.0
MAX_RETRY_AFTER_S: Final = 24 * 3600.0
# A host that wants to be left alone for longer, or says no this often in a row, is set aside for this run.
PATIENCE_S: Final = 300.0
MAX_REFUSALS: Final = 5


@dataclass(frozen=True, slots=True)
class HostManners:
    """How politely a host is asked."""

    min_delay_s: float
    max_delay_s: float

    def stricter(self, other: "HostManners") -> "HostManners":
        """Give the manners that honour both."""
        return HostManners(max(self.min_delay_s, other.min_delay_s), max(self.max_delay_s, other.max_delay_s))


def politeness_delay_s(
    manners: HostManners, *, last_fetch_s: float, crawl_delay_s: float | None, jitter: float
) -> float:
    """Say how long to wait between the end of one request to a host and the start of the next.

    Args:
        manners: bounds of the delay.
        last_fetch_s: how long the last answer took.
        crawl_delay_s: what robots.txt asks for; it may exceed the upper bound.
        jitter: 0..1, adds up to a tenth, so that many crawlers do not march in step.

    >>> politeness_delay_s(HostManners(1, 30), last_fetch_s=0.3, crawl_delay_s=None, jitter=0)
    3.0
    """
    delay_s = min(max(DELAY_FACTOR * last_fetch_s, manners.min_delay_s), manners.max_delay_s)
    # With no delay at all (one's own loopback server) ten times a millisecond would still be a delay.
    if manners.max_delay_s == 0 or manners.min_delay_s == 0:
        delay_s = 0.0
    return max(delay_s * (1 + JITTER_SHARE * jitter), crawl_delay_s or 0.0)


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Read a Retry-After header: seconds from now, capped at a day; None when it says nothing usable.

    Source: RFC 9110, 10.2.3. Zero, negative, past and malformed values count as absent.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        seconds = float(text[:12])
    else:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    return min(seconds, MAX_RETRY_AFTER_S) if seconds > 0 else None


def backoff_s(refusals: int) -> float:
    """Say how long a host that says no without a time is left alone: 10 s, doubled at each refusal in a row.

    >>> [backoff_s(n) for n in (1, 2, 3)]
    [10.0, 20.0, 40.0]
    """
    return float(min(FIRST_BACKOFF_S * 2.0 ** (min(refusals, 20) - 1), MAX_RETRY_AFTER_S))


def cookies_after(
    sent: tuple[tuple[str, str], ...], set_cookie: list[str], *, same_host: bool
) -> tuple[tuple[str, str], ...]:
    """Give the cookies of the next hop of a redirect chain.

    They live within the chain only, and never leave the host that set them.
    """
    if not same_host:
        return ()
    jar: dict[str, str] = dict(sent)
    for line in set_cookie:
        name, separator, value = line.split(";", 1)[0].strip().partition("=")
        if separator and name:
            jar[name] = value
    return tuple(sorted(jar.items()))


def cookie_header(cookies: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Give the request header for cookies; nothing for none."""
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies)} if cookies else {}

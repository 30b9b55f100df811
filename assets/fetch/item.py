"""Fetch items: one address to ask, with all that its story so far has taught."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from assets.warc.records import StoredCopy


class Purpose(StrEnum):
    """What a request is for."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    PROBE = "probe"  # an address that nobody made: what the site shows where there is no page


MAX_HOPS: Final = {Purpose.PAGE: 10, Purpose.SITEMAP: 10, Purpose.ROBOTS: 5}


@dataclass(frozen=True, slots=True)
class Validators:
    """What lets a server say "not modified", and the copy that this would confirm."""

    etag: str | None
    last_modified: str | None
    copy: StoredCopy
    content_type: str | None
    body_bytes: int


@dataclass(frozen=True, slots=True)
class FetchItem:
    """One request to come. ``origin_key`` is the url_key of the frontier row that it serves."""

    site: str
    layer: str
    purpose: Purpose
    url: str
    url_key: str
    host_key: str
    origin_key: str
    priority: float = 0.0
    hop: int = 0
    attempt: int = 1
    chain: tuple[str, ...] = ()  # loop keys of the hops before
    cookies: tuple[tuple[str, str], ...] = ()  # of this redirect chain, for this host
    other_urls: tuple[str, ...] = ()
    validators: Validators | None = None

    @property
    def loop_key(self) -> str:
        """What must not come twice in one redirect chain: the address with the cookies sent to it."""
        return "\n".join([self.url, *sorted(f"{name}={value}" for name, value in self.cookies)])

    def again(self) -> "FetchItem":
        """Give the next try of the same hop."""
        return replace(self, attempt=self.attempt + 1)

    def towards(
        self,
        url: str,
        *,
        url_key: str,
        host_key: str,
        cookies: tuple[tuple[str, str], ...],
        validators: Validators | None,
    ) -> "FetchItem":
        """Give the next hop of the redirect chain."""
        return replace(
            self,
            url=url,
            url_key=url_key,
            host_key=host_key,
            hop=self.hop + 1,
            attempt=1,
            chain=(*self.chain, self.loop_key),
            cookies=cookies,
            validators=validators,
        )

    def other_spelling(self, host_key: str) -> "FetchItem":
        """Give the next spelling of the same key, after this one was gone."""
        return replace(
            self,
            url=self.other_urls[0],
            url_key=self.origin_key,
            host_key=host_key,
            hop=0,
            attempt=1,
            chain=(),
            cookies=(),
            other_urls=self.other_urls[1:],
            validators=None,
        )

"""The scope of a site: which addresses belong to its crawl, judged by the address alone, and the words for a no.

Traps and budgets say no with the same words, but are decided in the frontier room.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, Self

import re2

from assets.url.host import host_name, registrable_domain
from assets.url.parse import parse, split_web_address
from assets.url.suffixes import resource_suffix
from resources.errors import BadSettings
from resources.ports import SiteSettings


class RejectReason(StrEnum):
    """Why an address is not fetched, in the order in which the rules are asked."""

    SCHEME = "scheme"  # neither http nor https, or no address at all
    OUT_OF_SCOPE = "out_of_scope"  # of another registrable domain than the site
    RESOURCE_SUFFIX = "resource_suffix"  # a file beside pages, by its suffix
    NOT_INCLUDED = "not_included"  # none of the site's include patterns fits
    EXCLUDED = "excluded"  # one of the site's exclude patterns fits
    URL_TOO_LONG = "url_too_long"  # a trap: too many characters
    PATH_TOO_DEEP = "path_too_deep"  # a trap: too many path segments
    PATH_REPEAT = "path_repeat"  # a trap: path segments that repeat
    PARAM_REPEAT = "param_repeat"  # a trap: query parameters that repeat
    CALENDAR = "calendar"  # a trap: dates without end
    FACETS = "facets"  # a trap: combinations of the same query parameters without end
    SESSION_PATH = "session_path"  # a trap: known paths under another session id
    PAGE_BUDGET = "page_budget"  # the site's max_pages is spent, and others come first


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an address is not fetched, and the rule in full: the pattern, the suffix, the domains, the limit."""

    reason: RejectReason
    rule: str


@dataclass(frozen=True, slots=True)
class Scope:
    """What belongs to a site: registrable domains, suffixes, and patterns that a URL must or must not match."""

    domains: frozenset[str]
    document_suffixes: frozenset[str] = frozenset()  # of pages, in lower case with the dot, though listed as resources
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: SiteSettings, seeds: Sequence[str]) -> Self:
        """Give the scope of a site: the domains of its key and of its seeds, on every host and port of them.

        Raises:
            BadSettings: a pattern of ``include`` or ``exclude`` is not RE2.
        """
        for name, patterns in (("include", settings.include), ("exclude", settings.exclude)):
            for pattern in patterns:
                try:
                    _compiled(pattern)
                except (re2.error, UnicodeError) as error:
                    raise BadSettings(
                        f"site {settings.site!r}: the {name} pattern {pattern!r} is no RE2 regular expression: {error}"
                    ) from error
        pdf = frozenset([".pdf"] if "pdf" in settings.document_types else [])
        hosts = [host_name(address) for address in (f"http://{settings.site}/", *seeds)]
        return cls(
            domains=frozenset(registrable_domain(host) for host in hosts if host),
            document_suffixes=frozenset(map(str.lower, settings.document_suffixes)) | pdf,
            include=settings.include,
            exclude=settings.exclude,
        )

    def refusal(self, url: str) -> Refusal | None:
        """Say why an address does not belong to the site; None when it does.

        Asked in this order: scheme, registrable domain, suffix, include, exclude.
        """
        href = parse(url)
        if href is None:
            return Refusal(RejectReason.SCHEME, "not an address")
        if split_web_address(href) is None:
            return Refusal(RejectReason.SCHEME, href.partition(":")[0])
        if registrable_domain(host_name(href)) not in self.domains:
            return Refusal(RejectReason.OUT_OF_SCOPE, ", ".join(sorted(self.domains)))
        suffix = resource_suffix(href)
        if suffix and suffix not in self.document_suffixes:
            return Refusal(RejectReason.RESOURCE_SUFFIX, suffix)
        if self.include and not any(_compiled(pattern).search(href) for pattern in self.include):
            return Refusal(RejectReason.NOT_INCLUDED, ", ".join(self.include))
        for pattern in self.exclude:
            if _compiled(pattern).search(href):
                return Refusal(RejectReason.EXCLUDED, pattern)
        return None


def seeds_outside_scope(settings: SiteSettings) -> list[str]:
    """Say of each seed and hub that its own site would not fetch, or that widens the site, why: a sentence each.

    A site key of one label, such as ``blog``, names no domain that its seeds could leave.

    Raises:
        BadSettings: as for ``Scope.of``.
    """
    scope = Scope.of(settings, settings.seeds)
    key_host = host_name(f"http://{settings.site}/")
    home = registrable_domain(key_host) if re.search("[.:]", key_host) else ""
    sentences = []
    for word, addresses in (("seed", settings.seeds), ("hub", settings.hubs)):
        for url in addresses:
            refusal = scope.refusal(url)
            domain = registrable_domain(host_name(url))
            if refusal is not None:
                verdict = f"is refused by the site's own scope ({refusal.reason}: {refusal.rule})"
            elif home and domain != home:
                verdict = f"is on {domain}, not on {home}, and takes all of {domain} into the site"
            else:
                continue
            sentences.append(f"site {settings.site!r}: the {word} {url!r} {verdict}.")
    return sentences


def _quiet() -> Any:
    options = re2.Options()
    options.log_errors = False  # else a bad pattern is also written to standard error
    return options


_OPTIONS: Final = _quiet()


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    """Compile a pattern; kept here, not in the scope, for compiled patterns do not travel between processes."""
    return re2.compile(pattern, _OPTIONS)

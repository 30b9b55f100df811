"""The site catalog: what a person has said about each site."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, Protocol, runtime_checkable

MAX_DEPTH_LIMIT = 10


@dataclass(frozen=True, slots=True)
class MapLimits:
    """What counts as too much: for findings of the site map, and for the checks that warn of changes."""

    deep_page_hops: float = 6  # a page farther from the seeds is a finding
    heavy_page_bytes: float = 1_000_000  # a larger page is one
    many_scripts: float = 40  # a page with more script elements is one
    stale_section_days: float = 365  # a section without a change for longer is one
    max_new_dead_links: float = 0  # since the crawl before
    max_dead_share: float = 0.05  # of all addresses that were asked
    max_new_orphans: float = 10  # more than in the crawl before
    max_slowdown: float = 2.0  # median response time against that of the crawl before

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) < 0:
                raise ValueError(f"{limit.name} must be at least 0, got {getattr(self, limit.name)}")


@dataclass(frozen=True, slots=True)
class TextLimits:
    """What counts as too much for the checks of the pages' texts; shares, from 0 to 1."""

    max_without_text: float = 0.5  # of the live pages
    max_unreadable: float = 0.001  # of the characters of new texts: U+FFFD, which stands for bytes without a meaning
    max_text_lost: float = 0.5  # of the characters of the pages that lived before
    max_flag_growth: float = 0.1  # of the live pages: more of them with some flag than before

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not 0 <= getattr(self, limit.name) <= 1:
                raise ValueError(f"{limit.name} must be in 0..1, got {getattr(self, limit.name)}")


# The asset checks whose severity a site can set: all there are.
CHECKS = (
    "answers_in_time",
    "answers_not_slower",
    "budget_holds_target",
    "dead_share_within_limit",
    "digests_verify",
    "errors_within_share",
    "every_url_has_one_outcome",
    "flags_kept",
    "no_dangling_revisits",
    "no_new_dead_links",
    "nothing_starves",
    "orphans_within_limit",
    "pages_kept",
    "pages_parsed",
    "reachable",
    "replay_gives_the_live_set",
    "robots_within_share",
    "seeds_usable",
    "sinks_are_up_to_date",
    "texts_found",
    "texts_kept",
    "texts_readable",
    "vanished_within_share",
)


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """All that can be set for a site. A site that nobody listed has the defaults and no seeds."""

    site: str
    seeds: tuple[str, ...] = ()
    hubs: tuple[str, ...] = ()
    max_depth: int = 3
    max_pages: int = 10_000
    include: tuple[str, ...] = ()  # RE2; when given, a URL must match one of them somewhere
    exclude: tuple[str, ...] = ()  # RE2; a URL must match none of them
    document_types: tuple[Literal["text", "pdf"], ...] = ()  # that are pages here, besides HTML
    document_suffixes: tuple[str, ...] = ()  # such as ".pdf": pages here, though taken for resources elsewhere
    min_delay_s: float = 1.0
    max_delay_s: float = 30.0
    allow_private_networks: bool = False
    robots_unreachable: Literal["disallow", "allow"] = "disallow"
    max_body_bytes: int = 10 * 1024 * 1024
    key_rules_off: tuple[str, ...] = ()  # names of assets.url.key.KeyRule
    tracking_parameters: tuple[str, ...] = ()  # besides the built-in list; a final * matches any rest
    batch_max_bytes: int = 512 * 1024 * 1024
    batch_max_s: float = 300.0
    max_error_share: float = 0.5  # of the pages of a depth that may end with the same kind of error without a warning
    max_robots_share: float = 0.5  # of the pages of a crawl that robots.txt may deny without a warning
    max_lost_share: float = 0.3  # fewer pages than in the last crawl without an alarm
    max_fetch_p90_ms: float = 5000.0  # within which nine of ten answers come without a warning
    near_similarity: float = 0.8  # from here on, up to 1, two texts are near-duplicates: Jaccard of five words in a row
    max_vanished_share: float = 0.5  # of the documents in the index that may vanish at once without somebody's consent
    requests_per_day: float | None = None  # what recrawls may use; None: a share of the global budget
    freshness_target_days: float | None = None  # expected age at which a page of weight 1 is asked again
    hub_every_hours: float = 24.0
    crawl_every_days: float | None = None  # a full crawl from the seeds, so often; None: when somebody asks for it
    min_recrawl_hours: float = 1.0  # no page is asked again sooner
    max_recrawl_days: float = 365.0  # no page is left alone for longer
    section_weights: tuple[tuple[str, float], ...] = ()  # path prefix, importance; the longest prefix counts
    page_weights: tuple[tuple[str, float], ...] = ()  # URL or RE2 pattern, importance; the first that fits counts
    weights_file: str = ""  # more page weights, a line each; already among page_weights
    map_limits: tuple[tuple[str, float], ...] = ()  # those of MapLimits that are not as they are by default
    text_limits: tuple[tuple[str, float], ...] = ()  # those of TextLimits that are not
    check_severity: tuple[tuple[str, Literal["warn", "error"]], ...] = ()  # of asset checks, where it is another

    def __post_init__(self) -> None:
        if not 0 <= self.max_depth <= MAX_DEPTH_LIMIT:
            raise ValueError(f"max_depth must be in 0..{MAX_DEPTH_LIMIT}, got {self.max_depth}")
        if self.max_pages < 1:
            raise ValueError(f"max_pages must be at least 1, got {self.max_pages}")
        if not 0 <= self.min_delay_s <= self.max_delay_s:
            raise ValueError(f"need 0 <= min_delay_s <= max_delay_s, got {self.min_delay_s}, {self.max_delay_s}")
        if self.max_body_bytes < 1 or self.batch_max_bytes < 1 or self.batch_max_s <= 0:
            raise ValueError("max_body_bytes, batch_max_bytes and batch_max_s must be positive")
        for name in ("max_error_share", "max_robots_share", "max_lost_share", "max_vanished_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in 0..1, got {getattr(self, name)}")
        if self.max_fetch_p90_ms <= 0:
            raise ValueError(f"max_fetch_p90_ms must be more than 0, got {self.max_fetch_p90_ms}")
        if not 0.8 <= self.near_similarity <= 1:
            raise ValueError(f"near_similarity must be in 0.8..1, got {self.near_similarity}")
        self._check_recrawl()

    def _check_recrawl(self) -> None:
        if self.requests_per_day is not None and self.requests_per_day < 0:
            raise ValueError(f"requests_per_day must be at least 0, got {self.requests_per_day}")
        for name in ("freshness_target_days", "hub_every_hours", "crawl_every_days", "min_recrawl_hours"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be more than 0, got {value}")
        if self.max_recrawl_days * 24 < self.min_recrawl_hours:
            raise ValueError(
                "need min_recrawl_hours within max_recrawl_days, "
                f"got {self.min_recrawl_hours} h, {self.max_recrawl_days} d"
            )
        for pattern, weight in self.section_weights + self.page_weights:
            if weight <= 0:
                raise ValueError(f"the weight of {pattern!r} must be more than 0, got {weight}")


@runtime_checkable
class SiteCatalog(Protocol):
    """Knows the settings of sites."""

    def settings(self, site: str) -> SiteSettings:
        """Give a site's settings: its entry over the catalog's defaults; defaults alone when it is not listed.

        Raises:
            BadSettings: the catalog cannot be read; the message says where and what to do.
        """
        ...

    def listed(self) -> Sequence[str]:
        """Give the sites that have an entry, in the catalog's order."""
        ...

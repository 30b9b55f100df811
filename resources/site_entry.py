"""One entry of ``sites.yaml``: its settings, and what the value of each must be."""

import re
from dataclasses import fields
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import re2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from resources.ports.catalog import CHECKS, MAX_DEPTH_LIMIT, MapLimits, SiteSettings, TextLimits

WEB_ADDRESSES: Final = "a list of absolute http(s) URLs such as [https://docs.example.org/]"
BUILT_IN: Final = SiteSettings(site="")
MAP_LIMITS: Final = ", ".join(limit.name for limit in fields(MapLimits))
TEXT_LIMITS: Final = ", ".join(limit.name for limit in fields(TextLimits))
QUIET_RE2: Final = re2.Options()
QUIET_RE2.log_errors = False


def _web_address(url: str) -> str:
    parts = urlsplit(url)
    good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    if not good or re.search(r"[\s\x00-\x1f]", url):
        raise ValueError("not an absolute http or https URL")
    return url


def _re2_pattern(pattern: str) -> str:
    try:
        re2.compile(pattern, QUIET_RE2)
    except re2.error as error:
        reason = error.args[0] if error.args else ""  # bytes, in this library
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"not an RE2 pattern: {text}") from error
    return pattern


def _suffix(suffix: str) -> str:
    if not re.fullmatch(r"\.[A-Za-z0-9]+", suffix):
        raise ValueError("not a dot followed by letters and digits")
    return suffix


def _path_prefix(prefix: str) -> str:
    if not prefix.startswith("/"):
        raise ValueError("not a path that starts with /")
    return prefix


def _map_limit(name: str) -> str:
    if name not in MAP_LIMITS.split(", "):
        raise ValueError("no such limit")
    return name


def _text_limit(name: str) -> str:
    if name not in TEXT_LIMITS.split(", "):
        raise ValueError("no such limit")
    return name


def _check(name: str) -> str:
    if name not in CHECKS:
        raise ValueError("no such check")
    return name


def page_or_pattern(text: str) -> str:
    """Check what stands for pages: an absolute URL, or an RE2 pattern.

    Raises:
        ValueError: it is neither.
    """
    return _web_address(text) if text.startswith(("http://", "https://")) else _re2_pattern(text)


WebAddress = Annotated[str, AfterValidator(_web_address)]
Pattern = Annotated[str, AfterValidator(_re2_pattern)]
Suffix = Annotated[str, AfterValidator(_suffix)]
WholeNumber = Annotated[int, Field(ge=1)]
PathPrefix = Annotated[str, AfterValidator(_path_prefix)]
PageOrPattern = Annotated[str, AfterValidator(page_or_pattern)]
Weight = Annotated[float, Field(gt=0)]
MapLimit = Annotated[str, AfterValidator(_map_limit)]
TextLimit = Annotated[str, AfterValidator(_text_limit)]
Check = Annotated[str, AfterValidator(_check)]
WEIGHT: Final = "a weight of more than 0"


class SettingsEntry(BaseModel):
    """The settings of one site as they stand in the file; each description says what a value must be."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    seeds: list[WebAddress] = Field([], description=WEB_ADDRESSES)
    hubs: list[WebAddress] = Field([], description=WEB_ADDRESSES)
    max_depth: int = Field(
        BUILT_IN.max_depth, ge=0, le=MAX_DEPTH_LIMIT, description=f"a whole number from 0 to {MAX_DEPTH_LIMIT}"
    )
    max_pages: WholeNumber = Field(BUILT_IN.max_pages, description="a whole number of pages, at least 1")
    include: list[Pattern] = Field([], description="a list of RE2 patterns such as ['/docs/']")
    exclude: list[Pattern] = Field([], description="a list of RE2 patterns such as ['/print/']")
    document_types: list[Literal["text", "pdf"]] = Field([], description="a list of text and pdf")
    document_suffixes: list[Suffix] = Field([], description="a list of suffixes such as ['.pdf', '.js']")
    min_delay_s: float = Field(BUILT_IN.min_delay_s, ge=0, description="a number of seconds, at least 0")
    max_delay_s: float = Field(BUILT_IN.max_delay_s, ge=0, description="a number of seconds, at least min_delay_s")
    allow_private_networks: bool = Field(BUILT_IN.allow_private_networks, description="true or false")
    robots_unreachable: Literal["disallow", "allow"] = Field(
        BUILT_IN.robots_unreachable, description="disallow or allow"
    )
    max_body_bytes: WholeNumber = Field(BUILT_IN.max_body_bytes, description="a whole number of bytes, at least 1")
    key_rules_off: list[str] = Field([], description="a list of rule names")
    tracking_parameters: list[str] = Field([], description="a list of parameter names such as ['ref', 'mc_*']")
    batch_max_bytes: WholeNumber = Field(BUILT_IN.batch_max_bytes, description="a whole number of bytes, at least 1")
    batch_max_s: float = Field(BUILT_IN.batch_max_s, gt=0, description="a number of seconds, more than 0")
    max_error_share: float = Field(BUILT_IN.max_error_share, ge=0, le=1, description="a number from 0 to 1")
    max_robots_share: float = Field(BUILT_IN.max_robots_share, ge=0, le=1, description="a number from 0 to 1")
    max_lost_share: float = Field(BUILT_IN.max_lost_share, ge=0, le=1, description="a number from 0 to 1")
    max_fetch_p90_ms: float = Field(
        BUILT_IN.max_fetch_p90_ms, gt=0, description="a number of milliseconds, more than 0"
    )
    near_similarity: float = Field(BUILT_IN.near_similarity, ge=0.8, le=1, description="a number from 0.8 to 1")
    max_vanished_share: float = Field(BUILT_IN.max_vanished_share, ge=0, le=1, description="a number from 0 to 1")
    requests_per_day: float | None = Field(None, ge=0, description="a number of requests, at least 0")
    freshness_target_days: float | None = Field(None, gt=0, description="a number of days, more than 0")
    hub_every_hours: float = Field(BUILT_IN.hub_every_hours, gt=0, description="a number of hours, more than 0")
    crawl_every_days: float | None = Field(None, gt=0, description="a number of days, more than 0")
    min_recrawl_hours: float = Field(BUILT_IN.min_recrawl_hours, gt=0, description="a number of hours, more than 0")
    max_recrawl_days: float = Field(BUILT_IN.max_recrawl_days, gt=0, description="a number of days, more than 0")
    section_weights: dict[PathPrefix, Weight] = Field({}, description=f"path prefixes with {WEIGHT}, as {{/docs/: 3}}")
    page_weights: dict[PageOrPattern, Weight] = Field({}, description=f"URLs or RE2 patterns with {WEIGHT}")
    weights_file: str = Field("", description="the name of a file beside this one")
    map_limits: dict[MapLimit, Annotated[float, Field(ge=0)]] = Field({}, description=f"limits by name: {MAP_LIMITS}")
    text_limits: dict[TextLimit, Annotated[float, Field(ge=0, le=1)]] = Field(
        {}, description=f"shares from 0 to 1 by name: {TEXT_LIMITS}"
    )
    check_severity: dict[Check, Literal["warn", "error"]] = Field(
        {}, description="warn or error by the name of an asset check, as {no_new_dead_links: error}"
    )

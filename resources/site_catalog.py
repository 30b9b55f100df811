"""The YAML site catalog: what a person wrote in ``sites.yaml``, checked and turned into ``SiteSettings``.

What the settings do does not belong here. Everything wrong in the file is one ``BadSettings`` of one sentence.
"""

import difflib
import re
import threading
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import re2
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from resources.errors import BadSettings
from resources.ports.catalog import MAX_DEPTH_LIMIT, MapLimits, SiteSettings
from resources.weight_files import WeightFiles

# Site names are partition keys and parts of storage paths.
SITE_NAME: Final = re.compile(r"\w[\w.:@+-]*")
WEB_ADDRESSES: Final = "a list of absolute http(s) URLs such as [https://docs.example.org/]"
BUILT_IN: Final = SiteSettings(site="")
MAP_LIMITS: Final = ", ".join(limit.name for limit in fields(MapLimits))
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


def _page_or_pattern(text: str) -> str:
    return _web_address(text) if text.startswith(("http://", "https://")) else _re2_pattern(text)


WebAddress = Annotated[str, AfterValidator(_web_address)]
Pattern = Annotated[str, AfterValidator(_re2_pattern)]
Suffix = Annotated[str, AfterValidator(_suffix)]
WholeNumber = Annotated[int, Field(ge=1)]
PathPrefix = Annotated[str, AfterValidator(_path_prefix)]
PageOrPattern = Annotated[str, AfterValidator(_page_or_pattern)]
Weight = Annotated[float, Field(gt=0)]
MapLimit = Annotated[str, AfterValidator(_map_limit)]
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


KNOWN_KEYS: Final = tuple(SettingsEntry.model_fields)


@dataclass(frozen=True, slots=True)
class _Catalog:
    """A file as it was read: settings by site, and what holds for all others."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    sites: Mapping[str, SiteSettings] = field(default_factory=dict)


class YamlCatalog:
    """A catalog in a YAML file, as the ``SiteCatalog`` port; a changed file is read again when it is asked.

    No file lists no sites: every site then has the defaults.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._signature: tuple[int, int] | None = None
        self._catalog = _Catalog()
        self._weights = WeightFiles(_page_or_pattern)

    def settings(self, site: str) -> SiteSettings:
        """Give a site's settings: its entry over the file's defaults; defaults alone when it is not listed.

        Raises:
            BadSettings: the file cannot be read; the message says where and what to do.
        """
        catalog = self._read()
        settings = catalog.sites.get(site) or SiteSettings(site=site, **catalog.defaults)
        if not settings.weights_file or self._path is None:
            return settings
        weights = self._weights.read(self._path.parent / settings.weights_file)
        return replace(settings, page_weights=settings.page_weights + weights)

    def listed(self) -> tuple[str, ...]:
        """Give the sites that have an entry, in the file's order.

        Raises:
            BadSettings: as for ``settings``.
        """
        return tuple(self._read().sites)

    def _read(self) -> _Catalog:
        if self._path is None:
            return _Catalog()
        with self._lock:
            try:
                state = self._path.stat()
                signature = (state.st_mtime_ns, state.st_size)
                if signature != self._signature:
                    self._catalog = _parse(self._path.read_bytes(), str(self._path))
                    self._signature = signature
            except FileNotFoundError:
                self._signature, self._catalog = None, _Catalog()
            except OSError as error:
                raise BadSettings(
                    f"{self._path}: cannot be read ({error.strerror}); make it a readable file"
                ) from error
            return self._catalog


class _DuplicateKey(Exception):
    """A mapping names a key twice; YAML would keep the last one silently."""

    def __init__(self, key: Hashable, first_line: int, second_line: int) -> None:
        super().__init__(key)
        self.key, self.first_line, self.second_line = key, first_line, second_line


class _StrictLoader(yaml.SafeLoader):
    """YAML's safe loader, without its silence about duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        first_lines: dict[Hashable, int] = {}
        for key_node, _ in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            line = key_node.start_mark.line + 1
            if key is not None and key in first_lines:
                raise _DuplicateKey(key, first_lines[key], line)
            first_lines[key] = line
        return super().construct_mapping(node, deep)


def _parse(text: bytes, name: str) -> _Catalog:
    """Turn the bytes of a catalog file into settings.

    Raises:
        BadSettings: with one sentence that says where and what to do.
    """
    try:
        tree = yaml.load(text, Loader=_StrictLoader)
    except _DuplicateKey as error:
        raise BadSettings(
            f"{name}: {error.key!r} stands twice in one mapping, in lines {error.first_line} and {error.second_line}; "
            "keep one of them"
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadSettings(f"{name}: not readable as YAML{_place(error)}; correct it there") from error
    top = _mapping(tree, f"{name}: the file")
    for key in top:
        if key not in ("defaults", "sites"):
            raise BadSettings(f"{name}: unknown key {key!r}{_suggestion(key, ('defaults', 'sites'))}")
    defaults = _entry(top.get("defaults"), f"{name}: defaults")
    _settings("any site", defaults, f"{name}: defaults")
    sites = {}
    for site, entry in _mapping(top.get("sites"), f"{name}: sites").items():
        where = f"{name}: site {site!r}"
        if not isinstance(site, str) or not SITE_NAME.fullmatch(site) or "..." in site:
            raise BadSettings(
                f"{where}: not a site name; use a text of letters, digits and . _ - : @ + such as 'docs.example.org'"
            )
        sites[site] = _settings(site, {**defaults, **_entry(entry, where)}, where)
    return _Catalog(defaults, sites)


def _mapping(tree: object, where: str) -> Mapping[Any, Any]:
    if tree is None:
        return {}
    if not isinstance(tree, Mapping):
        raise BadSettings(
            f"{where} must hold keys and values, but holds {_shown(tree)}; write it as 'key: value' lines"
        )
    return tree


def _entry(tree: object, where: str) -> dict[str, Any]:
    """Check one mapping of settings and give those that it sets, lists as tuples."""
    settings = _mapping(tree, where)
    for key in settings:
        if key not in KNOWN_KEYS:
            raise BadSettings(f"{where}: unknown key {key!r}{_suggestion(key, KNOWN_KEYS)}")
    try:
        entry = SettingsEntry.model_validate(settings)
    except ValidationError as error:
        fault = error.errors()[0]
        key, *index = fault["loc"]
        place = str(key) + "".join(f"[{number}]" for number in index)
        wanted = SettingsEntry.model_fields[str(key)].description
        reason = f" ({fault['ctx']['error']})" if fault["type"] == "value_error" else ""
        message = f"{where}: {place} is {_shown(fault['input'])}{reason}; {key} must be {wanted}"
        raise BadSettings(message) from error
    values = entry.model_dump(exclude_unset=True)
    return {key: _frozen(value) for key, value in values.items()}


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value


def _settings(site: str, values: Mapping[str, Any], where: str) -> SiteSettings:
    try:
        return SiteSettings(site=site, **values)
    except ValueError as error:
        raise BadSettings(f"{where}: {error}; change one of them (settings in defaults count too)") from error


def _suggestion(key: object, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(key), list(known), n=1)
    guess = f"; did you mean {close[0]!r}?" if close else "."
    return f"{guess} Known keys: {', '.join(known)}"


def _place(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f", line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    if isinstance(error, RecursionError):
        return ": nested too deeply"
    return f": {' '.join(str(error).split())}"


def _shown(value: object, limit_characters: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit_characters else text[:limit_characters] + "..."

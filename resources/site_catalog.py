"""The YAML site catalog: what a person wrote in ``sites.yaml``, checked and turned into ``SiteSettings``.

What the settings do does not belong here. Everything wrong in the file is one ``BadSettings`` of one sentence.
"""

import difflib
import re
import threading
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from resources.errors import BadSettings
from resources.ports.catalog import SiteSettings
from resources.site_entry import SettingsEntry, page_or_pattern
from resources.weight_files import WeightFiles

# Site names are partition keys and parts of storage paths.
SITE_NAME: Final = re.compile(r"\w[\w.:@+-]*")


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
        self._weights = WeightFiles(page_or_pattern)

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

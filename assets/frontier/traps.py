"""Traps: addresses that a site can go on making for ever. Each rule has a name, a limit and lawful look-alikes.

Rules of one address are ``trap``; rules that count over a crawl are ``TrapBudgets``. The page budget is not here.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from assets.frontier.session_paths import session_segments
from assets.url.key import url_key
from assets.url.scope import Refusal, RejectReason

MAX_URL_CHARACTERS: Final = 2_000
MAX_PATH_SEGMENTS: Final = 20
MAX_SEGMENT_RUN: Final = 3  # /img/img/img/ is seen on lawful sites
MAX_CYCLE_RUN: Final = 2  # /a/b/a/b/ too; with one more it is a relative link that lacks its scheme or slash
MAX_EQUAL_PARAMETERS: Final = 3
MAX_EQUAL_NAMES: Final = 10  # id[]=1&id[]=2&... is how lists are sent
CALENDAR_BUDGET: Final = 120  # dates for one pattern: ten years of monthly archives
FACET_BUDGET: Final = 100  # addresses of one path with two parameters or more, before facets are suspected
FACET_COMBINATIONS: Final = 10  # addresses for each value of the parameter that has most of them
# Addresses under one path that differ from one before only in a segment like a session id. A path that is new is always
# let in, so that each page behind the ids is had once.
SESSION_BUDGET: Final = 10  # when the segment calls itself a session id
TOKEN_BUDGET: Final = 300  # when it only looks random: /commit/<sha>/files is had for hundreds of commits

_DATE: Final = (
    r"(?:19|20)\d\d-\d{1,2}(?:-\d{1,2})?|(?:19|20)\d\d-?w\d\d|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
)
_DATE_VALUE: Final = re.compile(rf"(?:{_DATE})(?:t[\d:.%a-z+-]*)?", re.IGNORECASE)
_DATE_SEGMENTS: Final = re.compile(
    rf"/(?:{_DATE}|(?:19|20)\d\d/(?:0?[1-9]|1[0-2])(?:/\d{{1,2}})?)(?=/|$)", re.IGNORECASE
)
_DATE_NAME: Final = re.compile(r"(?:.*_)?(?:year|yr|month|mon|week|day|date)", re.IGNORECASE)


def trap(url: str) -> Refusal | None:
    """Say which trap an address is by itself; None when it is none.

    Args:
        url: absolute, serialised.
    """
    if len(url) > MAX_URL_CHARACTERS:
        return Refusal(RejectReason.URL_TOO_LONG, f"more than {MAX_URL_CHARACTERS} characters")
    path, query = _path_and_query(url)
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > MAX_PATH_SEGMENTS:
        return Refusal(RejectReason.PATH_TOO_DEEP, f"more than {MAX_PATH_SEGMENTS} path segments")
    repeated = _repeated_cycle(segments)
    if repeated:
        return Refusal(RejectReason.PATH_REPEAT, repeated)
    parameters = [parameter for parameter in query.split("&") if parameter]
    if len(parameters) > MAX_EQUAL_PARAMETERS:
        parameter, times = Counter(parameters).most_common(1)[0]
        if times > MAX_EQUAL_PARAMETERS:
            return Refusal(RejectReason.PARAM_REPEAT, f"{parameter} more than {MAX_EQUAL_PARAMETERS} times")
        name, times = Counter(parameter.partition("=")[0] for parameter in parameters).most_common(1)[0]
        if times > MAX_EQUAL_NAMES:
            return Refusal(RejectReason.PARAM_REPEAT, f"{name} more than {MAX_EQUAL_NAMES} times")
    return None


@dataclass(slots=True)
class TrapBudgets:
    """Counts per path pattern over one crawl. Give it every address that is accepted, in order; it can be pickled."""

    _dates: dict[str, int] = field(default_factory=dict)  # by calendar pattern
    _facets: dict[str, int] = field(default_factory=dict)  # by path: addresses with two parameters or more
    _values: dict[str, dict[str, set[str]]] = field(default_factory=dict)  # by path, by parameter
    _behind: dict[tuple[str, bool], set[str]] = field(default_factory=dict)  # what follows session ids, by their place
    _repeats: dict[tuple[str, bool], int] = field(default_factory=dict)  # of what follows, by the same
    accepted: int = 0  # addresses, all told

    def refusal(self, url: str) -> Refusal | None:
        """Say whether the budget of an address's pattern is spent; changes nothing."""
        key = url_key(url)
        pattern = _calendar_pattern(key)
        if pattern and self._dates.get(pattern, 0) >= CALENDAR_BUDGET:
            return Refusal(RejectReason.CALENDAR, f"{pattern} more than {CALENDAR_BUDGET} times")
        return self._session_refusal(key) or self._facet_refusal(key)

    def _session_refusal(self, key: str) -> Refusal | None:
        for segment in session_segments(key):
            budget = SESSION_BUDGET if segment.named else TOKEN_BUDGET
            known = segment.after in self._behind.get(segment.place, ())
            if known and self._repeats.get(segment.place, 0) >= budget:
                return Refusal(
                    RejectReason.SESSION_PATH, f"{segment.before}<id>: more than {budget} known paths under another id"
                )
        return None

    def _facet_refusal(self, key: str) -> Refusal | None:
        path, pairs = _facets(key)
        count = self._facets.get(path, 0)
        if len(pairs) < 2 or count < FACET_BUDGET:
            return None
        values = self._values[path]
        # Threads of a forum, articles of a portal: one parameter has a value of its own for nearly every page. Facets
        # combine few values without end.
        if any(value not in values.get(name, ()) for name, value in pairs):
            return None
        if count <= FACET_COMBINATIONS * max(len(known) for known in values.values()):
            return None
        return Refusal(RejectReason.FACETS, f"{path}: more than {FACET_BUDGET} combinations of known parameters")

    def accept(self, url: str) -> None:
        """Count an address that is or was accepted. Each address once: the frontier knows what it has seen."""
        self.accepted += 1
        key = url_key(url)
        pattern = _calendar_pattern(key)
        if pattern:
            self._dates[pattern] = self._dates.get(pattern, 0) + 1
        for segment in session_segments(key):
            behind = self._behind.setdefault(segment.place, set())
            if segment.after in behind:
                self._repeats[segment.place] = self._repeats.get(segment.place, 0) + 1
            behind.add(segment.after)
        path, pairs = _facets(key)
        if len(pairs) >= 2:
            self._facets[path] = self._facets.get(path, 0) + 1
            values = self._values.setdefault(path, {})
            for name, value in pairs:
                values.setdefault(name, set()).add(value)


def _path_and_query(url: str) -> tuple[str, str]:
    before, _, query = url.partition("#")[0].partition("?")
    return "/" + before.partition("://")[2].partition("/")[2], query


def _repeated_cycle(segments: list[str]) -> str:
    """Give the shortest run of segments that comes too often in a row, and how often is too often; else empty."""
    if len(segments) == len(set(segments)):
        return ""
    for size in range(1, len(segments) // (MAX_CYCLE_RUN + 1) + 1):
        limit = MAX_SEGMENT_RUN if size == 1 else MAX_CYCLE_RUN
        equal = 0  # segments in a row that equal the one a cycle before
        for place in range(size, len(segments)):
            equal = equal + 1 if segments[place] == segments[place - size] else 0
            if equal >= size * limit:
                cycle = "/".join(segments[place - size + 1 : place + 1])
                return f"/{cycle} more than {limit} times in a row"
    return ""


def _calendar_pattern(key: str) -> str:
    """Give an address with its dates taken out; empty when it has none.

    What stands beside the date stays, so that /2024/05/my-post is a pattern of its own, and no part of a calendar.
    """
    before, mark, query = key.partition("?")
    pattern = _DATE_SEGMENTS.sub("/<date>", before)
    parameters = []
    for parameter in query.split("&"):
        name, equals, value = parameter.partition("=")
        dated = _DATE_VALUE.fullmatch(value) or (_DATE_NAME.fullmatch(name) and value.isdigit())
        parameters.append(f"{name}=<date>" if equals and dated else parameter)
    pattern = f"{pattern}{mark}{'&'.join(parameters)}"
    return pattern if pattern != key else ""


def _facets(key: str) -> tuple[str, list[tuple[str, str]]]:
    path, _, query = key.partition("?")
    pairs = []
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        pairs.append((name, value))
    return path, pairs

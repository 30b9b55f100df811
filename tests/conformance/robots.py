"""Conformance of robots.txt: test suites of other parsers, and real files with the verdicts of Google's own parser."""

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from assets.fetch.robots import RobotsRules, read_robots
from assets.url.parse import resolve
from tests.conformance.score import Score

UNDISPUTED_FLOOR: Final = 791  # of 791
CONSENSUS_FLOOR: Final = 18_333  # of 18,333
# The other 12 of 18,601 are addresses that Google alone allows, and we and two other parsers do not.
REAL_FLOOR: Final = 18_589
# The suites differ with us on delays before any group, in HTML, and for a token within an agent's header.
CRAWL_DELAY_FLOOR: Final = 19  # of 23
# One suite takes an address alone in its line for a Sitemap line.
SITEMAP_FLOOR: Final = 10  # of 11


def robots_numbers(data: Path) -> list[Score]:
    """Count what passes of the facts in ``robots``."""
    cases = [json.loads(line) for line in (data / "cases.jsonl").read_text("utf-8").splitlines()]
    undisputed = [_is_decided_alike(case) for case in cases if case.get("agrees_with_google")]
    real = list(_real_verdicts(data))
    return [
        _score("robots: undisputed cases", undisputed, UNDISPUTED_FLOOR),
        _score("robots: real files, parsers agree", (same for same, agreed in real if agreed), CONSENSUS_FLOOR),
        _score("robots: real files", (same for same, _ in real), REAL_FLOOR),
        _score("robots: crawl delays", map(_has_delay, _of_kind(cases, "crawl_delay")), CRAWL_DELAY_FLOOR),
        _score(
            "robots: Sitemap lines",
            map(_has_sitemaps, _of_kind(cases, "sitemaps", "sitemap", "sitemap_count")),
            SITEMAP_FLOOR,
        ),
    ]


def real_files(data: Path) -> dict[str, bytes]:
    """Give the real robots.txt files by host."""
    return {row["host"]: _body(row) for row in _gzip_lines(data / "real-robots.jsonl.gz")}


def _score(name: str, passed: Iterable[bool], floor: int) -> Score:
    verdicts = list(passed)
    return Score(name, sum(verdicts), len(verdicts), floor)


def _of_kind(cases: Iterable[Mapping[str, Any]], *kinds: str) -> Iterator[Mapping[str, Any]]:
    return (case for case in cases if case["kind"] in kinds)


def _is_decided_alike(case: Mapping[str, Any]) -> bool:
    return _rules(case).allows(case["url"], case["agent"]) is case["allowed"]


def _has_delay(case: Mapping[str, Any]) -> bool:
    delay_s = _rules(case).crawl_delay_s
    expected_ms: int | None = case["crawl_delay_ms"]
    return (None if delay_s is None else round(delay_s * 1000)) == expected_ms


def _has_sitemaps(case: Mapping[str, Any]) -> bool:
    found = list(_rules(case).sitemaps)
    if "sitemap" in case:
        return found[int(case["index"])] == resolve(case["sitemap"], "http://e.test/")
    expected: list[str] | None = case.get("sitemaps")
    return len(found) == int(case["count"]) if expected is None else found == expected


def _rules(case: Mapping[str, Any]) -> RobotsRules:
    agent = case.get("agent", "*")
    agent = agent if isinstance(agent, str) else next(iter(agent), "*")
    return read_robots(200, _body(case), "http://foo.bar/robots.txt", agent)


def _real_verdicts(data: Path) -> Iterator[tuple[bool, bool]]:
    """Give for each real address whether we say what Google's parser says, and whether all other parsers do."""
    files = real_files(data)

    @cache
    def rules(host: str) -> RobotsRules:
        return read_robots(200, files[host], f"http://{host}/robots.txt", "*")

    for row in _gzip_lines(data / "real-verdicts.jsonl.gz"):
        yield rules(row["host"]).allows(row["url"], row["agent"]) == row["allowed"], row["consensus"]


def _body(row: Mapping[str, Any]) -> bytes:
    return base64.b64decode(row["robots_txt_b64"]) if "robots_txt_b64" in row else str(row["robots_txt"]).encode()


def _gzip_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)

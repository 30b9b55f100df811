"""Conformance of addresses: WHATWG parsing, url_key, the public suffix list."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assets.url.host import host_name, public_registrable_domain, registrable_domain
from assets.url.key import url_key
from assets.url.parse import parse, resolve
from tests.conformance.score import Score
from tests.conformance.url_differences import CRAWLER_COMMONS, DISPUTED


@dataclass(frozen=True, slots=True)
class AddressSet:
    """One set of facts about addresses: which of its cases pass, by what names a case, and how many must."""

    name: str
    verdicts: Callable[[Path], Mapping[str, bool]]
    floor: int

    def score(self, folder: Path) -> Score:
        """Count what passes."""
        verdicts = self.verdicts(folder)
        return Score(self.name, sum(verdicts.values()), len(verdicts), self.floor)


def url_numbers(folder: Path) -> list[Score]:
    """Count what passes of the facts in ``url``."""
    return [chosen.score(folder) for chosen in URL_SETS]


def psl_numbers(folder: Path) -> list[Score]:
    """Count what passes of the facts in ``psl``."""
    return [PSL_SET.score(folder)]


def _whatwg_addresses(folder: Path) -> Mapping[str, bool]:
    return {str(case): _parses(case) for case in _whatwg(folder) if not case.get("failure")}


def _whatwg_failures(folder: Path) -> Mapping[str, bool]:
    return {str(case): _parses(case) for case in _whatwg(folder) if case.get("failure")}


def _idempotent(folder: Path) -> Mapping[str, bool]:
    return {url: url_key(key) == key for url in _all_inputs(folder) for key in (url_key(url),)}


def _same_keys(folder: Path) -> Mapping[str, bool]:
    cases = (case for case in _lines(folder / "pairs.jsonl") if case["profile"] == "crawler-commons.basic")
    return {case["id"]: _same_key(case["input"], case["expected"]) for case in cases}


def _same_or_listed(folder: Path) -> Mapping[str, bool]:
    """Pass what is the same and not listed, and what differs and is."""
    return {case: same is not (case in CRAWLER_COMMONS) for case, same in _same_keys(folder).items()}


def _decided(folder: Path) -> Mapping[str, bool]:
    inputs = [case["input"] for case in _lines(folder / "conflicts.jsonl")]
    return {url: url_key(url) == DISPUTED.get(url) for url in inputs}


def _domains(folder: Path) -> Mapping[str, bool]:
    return {str(vector): _registers(vector) for vector in _json(folder / "test_psl.json")}


WHATWG_ADDRESSES: Final = AddressSet("WHATWG addresses", _whatwg_addresses, 624)
WHATWG_FAILURES: Final = AddressSet("WHATWG failures", _whatwg_failures, 267)
IDEMPOTENT: Final = AddressSet("url_key of a url_key is itself", _idempotent, 31_780)
SAME_KEY: Final = AddressSet("crawler-commons.basic: the same key", _same_keys, 116)
SAME_OR_LISTED: Final = AddressSet("crawler-commons.basic: the same key or a listed reason", _same_or_listed, 137)
DECIDED: Final = AddressSet("disputed addresses: as decided", _decided, 13)
URL_SETS: Final = (WHATWG_ADDRESSES, WHATWG_FAILURES, IDEMPOTENT, SAME_KEY, SAME_OR_LISTED, DECIDED)
PSL_SET: Final = AddressSet("public suffix vectors", _domains, 78)


def _whatwg(folder: Path) -> list[dict[str, Any]]:
    return [case for case in _json(folder / "wpt/urltestdata.json") if isinstance(case, dict)]


def _parses(case: Mapping[str, Any]) -> bool:
    base = case.get("base")
    found = parse(case["input"]) if base is None else resolve(case["input"], base)
    # Our addresses have no fragment.
    return found == (None if case.get("failure") else case["href"].partition("#")[0])


def _same_key(url: str, expected: str | None) -> bool:
    return parse(url) is None if expected is None else url_key(url) == expected


def _registers(vector: Mapping[str, Any]) -> bool:
    host = host_name(f"http://{vector['domain'] or ''}/")
    wanted = host_name(f"http://{vector['registrable']}/") if vector["registrable"] else None
    if public_registrable_domain(host) != wanted:
        return False
    # The unit of scope is the same domain where the list knows the suffix, and else the host itself.
    scope = host if vector["section"] == "Unlisted TLD." else wanted or host
    return registrable_domain(host) == scope


def _all_inputs(folder: Path) -> Iterator[str]:
    values = [_json(path) for path in sorted((folder / "wpt").glob("*.json"))]
    values += [line for path in sorted(folder.glob("*.jsonl")) for line in _lines(path)]
    for text in dict.fromkeys(_strings(values)):
        yield from (text, f"http://{text}/", f"http://e.test/{text}", f"http://e.test/?{text}")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

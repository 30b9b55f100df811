"""The quality gate: ``make gate`` measures what extraction reads out of pages, and compares it with pinned floors.

Floors hold for one corpus, which a digest names. ``--raise`` writes those that rose; to lower the floors of a set, or
to pin another corpus, it must be named: ``--lower extraction``.
"""

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from tests.conformance.charset import charset_numbers
from tests.conformance.extraction import extraction_numbers
from tests.conformance.markdown import markdown_numbers
from tests.conformance.quality import Quality
from tests.conformance.sets import DATA

FLOORS: Final = Path(__file__).with_name("quality_floors.json")
Sets = Mapping[str, Callable[[Path], list[Quality]]]
QUALITY_SETS: Final[Sets] = {
    "extraction": extraction_numbers,
    "markdown": markdown_numbers,
    "charset": charset_numbers,
}
_PLACES: Final = 4  # decimals of a floor


@dataclass(frozen=True, slots=True)
class Pinned:
    """The floors of a set, and the corpus that they hold for."""

    corpus: str  # SHA-256 of its files
    floors: Mapping[str, float]


def main(arguments: Sequence[str], *, data: Path = DATA, floors_file: Path = FLOORS, sets: Sets = QUALITY_SETS) -> int:
    """Measure the sets that are here, print a table, write floors where asked to; 1 when a floor does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.gate", description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"{', '.join(sets)}; all when none is named")
    parser.add_argument("--raise", dest="raises", action="store_true", help="write the floors that rose")
    parser.add_argument("--lower", action="append", default=[], choices=sets, help="pin this set as it is now")
    asked = parser.parse_args(arguments)
    unknown = set(asked.sets) - set(sets)
    if unknown:
        parser.error(f"no such set: {', '.join(sorted(unknown))}")
    pinned = read_floors(floors_file)
    after = dict(pinned)
    table = Table(title="Quality of extraction", title_justify="left")
    for heading in ("what", "share", "floor", ""):
        table.add_column(heading, justify="left" if heading in ("what", "") else "right")
    holds = True
    for name in asked.sets or sets:
        if not (data / name).is_dir():
            table.add_row(name, "", "", f"skipped: {data.name}/{name} of the reference data is not here")
            continue
        measured = sets[name](data / name)
        corpus = corpus_digest(data / name)
        if name in asked.lower:
            after[name] = Pinned(corpus, {one.name: _rounded(one.share) for one in measured})
        elif asked.raises and (name not in pinned or corpus == pinned[name].corpus):
            before = pinned[name].floors if name in pinned else {}
            after[name] = Pinned(
                corpus, {one.name: max(_rounded(one.share), before.get(one.name, 0)) for one in measured}
            )
        for one in measured:
            floor, verdict = _verdict(one, corpus, after.get(name))
            holds = holds and not verdict
            table.add_row(one.name, f"{_rounded(one.share):.{_PLACES}f}", floor, verdict)
    if after != pinned:
        write_floors(floors_file, after)
    Console().print(table)
    return 0 if holds else 1


def _verdict(measured: Quality, corpus: str, pinned: Pinned | None) -> tuple[str, str]:
    """Give the floor to show, and what is wrong; empty when it holds."""
    floor = pinned.floors.get(measured.name) if pinned else None
    if pinned is None or floor is None:
        return "", "no floor yet: pin it with --raise"
    if corpus != pinned.corpus:
        return f"{floor:.{_PLACES}f}", "another corpus than the floor's"
    return f"{floor:.{_PLACES}f}", "" if _rounded(measured.share) >= floor else "below its floor"


def corpus_digest(folder: Path) -> str:
    """Give the SHA-256 of the names and bytes of a folder's files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "SOURCE.md"):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def read_floors(path: Path) -> dict[str, Pinned]:
    """Read the floors by set; none when there is no file."""
    if not path.exists():
        return {}
    return {name: Pinned(**values) for name, values in json.loads(path.read_text("utf-8")).items()}


def write_floors(path: Path, floors: Mapping[str, Pinned]) -> None:
    """Write the floors by set."""
    path.write_text(json.dumps({name: asdict(one) for name, one in sorted(floors.items())}, indent=2) + "\n", "utf-8")


def _rounded(share: float) -> float:
    return math.floor(share * 10**_PLACES) / 10**_PLACES


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The speed of resolving a link and making its url_key, beside other canonicalisers that are installed.

Run ``python -m bench.url_speed FOLDER`` with a folder of HTML files. It ends with 1 when ours is over its limit.
Others (w3lib, courlan) are given links that are resolved already; they are no dependencies and may be absent.
"""

import argparse
import importlib
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from assets.markup.charset import decode_text
from assets.markup.tree import base_url, parse_html
from assets.url.key import resolve_with_key, url_key
from assets.url.parse import resolve

LIMIT_US: Final = 5.0
_ROUNDS: Final = 5
_OURS: Final = "isobath: resolve and url_key"
_OTHERS: Final = (("w3lib", "w3lib.url", "canonicalize_url"), ("courlan", "courlan", "normalize_url"))

Link = tuple[str, str]  # as it stands in the page, and what it is resolved against


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table, and say by the exit code whether ours is within its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench.url_speed", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a folder of HTML files, read with its subfolders")
    links = links_of(parser.parse_args(arguments).folder)
    if not links:
        parser.error("no links found in the HTML files of that folder")
    medians_us = measured(links)
    print(f"{len(links):,} links, Python {platform.python_version()}, median of a link in microseconds")
    print(f"{'':42}{'median':>8}{'ratio':>8}")
    for name, median_us in medians_us.items():
        print(f"{name:42}{median_us:8.2f}{median_us / medians_us[_OURS]:8.2f}")
    if medians_us[_OURS] > LIMIT_US:
        print(f"over the limit of {LIMIT_US} microseconds")
        return 1
    return 0


def links_of(folder: Path) -> list[Link]:
    """Give the links of all pages of a folder, in order, repeated as they are."""
    links = []
    for path in sorted(folder.rglob("*.htm*")):
        tree = parse_html(decode_text(path.read_bytes(), "text/html").text)
        if tree is not None:
            base = base_url(tree, f"http://bench.test/{path.relative_to(folder).as_posix()}")
            links += [(href, base) for element in tree.iter("a") if (href := element.get("href")) is not None]
    return links


def measured(links: Sequence[Link]) -> dict[str, float]:
    """Give the median time of a link in microseconds, by the name of what was measured: the best of some rounds."""
    absolute = [(url, "") for href, base in links if (url := resolve(href, base)) and url.startswith("http")]
    tasks: list[tuple[str, Callable[[str, str], object], Sequence[Link]]] = [
        (_OURS, resolve_with_key, links),
        ("isobath: url_key, resolved", _alone(url_key), absolute),
    ]
    for package, module, function in _OTHERS:
        try:
            theirs: Any = getattr(importlib.import_module(module), function)
        except ImportError:
            continue
        tasks.append((f"{package} {version(package)}: {function}, resolved", _alone(theirs), absolute))
    best: dict[str, float] = {}
    # All in turn, so that a busy moment of the machine hits all alike.
    for _ in range(_ROUNDS):
        for name, task, inputs in tasks:
            best[name] = min(best.get(name, float("inf")), _median_us(task, inputs))
    return best


def _alone(canonical: Callable[[str], object]) -> Callable[[str, str], object]:
    return lambda url, _: canonical(url)


def _median_us(task: Callable[[str, str], object], links: Sequence[Link]) -> float:
    clock = time.perf_counter_ns
    times_ns = []
    for href, base in links:
        start_ns = clock()
        task(href, base)
        times_ns.append(clock() - start_ns)
    return statistics.median(times_ns) / 1_000


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
